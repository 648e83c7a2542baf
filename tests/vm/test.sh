#!/bin/bash
# Runs a GoogleTest program in a VM that has vgem's and vivid's devices.
#
#   test.sh PLUGINS PROGRAM [ARGUMENT...]     PLUGINS: the folder of GStreamer's own
#
# Exit status: as run_in_vm.sh says.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
plugins=${1:?} program=$(realpath "${2:?}")
shift 2

# The folder that the VM can write to.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
results='' arguments=()
for argument; do
  case $argument in
    --gtest_output=xml:*)
      results=$(realpath "${argument#*xml:}")
      arguments+=(--gtest_output=xml:results.xml)
      ;;
    *) arguments+=("$argument") ;;
  esac
done

# To look at all plugins that there are takes half a minute where the processor is emulated.
mkdir "$folder/plugins"
for name in app coreelements libav playback typefindfunctions video4linux2 videoconvertscale videoparsersbad x264; do
  if [[ -e $plugins/libgst$name.so ]]; then ln -s "$plugins/libgst$name.so" "$folder/plugins/"; fi
done
export GST_PLUGIN_SYSTEM_PATH_1_0=$folder/plugins GST_REGISTRY=$folder/registry.bin VMAFHIP_TEST_SLOWNESS=2
if command -v gst-inspect-1.0 >/dev/null; then gst-inspect-1.0 >/dev/null; fi

cd "$folder"
status=0
"$here/run_in_vm.sh" --seconds 600 --module vgem --module 'vivid n_devs=2 node_types=0x1,0x1 input_types=0,0 multiplanar=1,2' \
  "$program" "${arguments[@]}" || status=$?
if [[ $results && -e results.xml ]]; then mv results.xml "$results"; fi
exit "$status"
