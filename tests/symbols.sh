#!/bin/bash
# The plugin exports what GStreamer looks up, gst_plugin_*, and nothing else: another plugin's symbols in the same
# process can then neither be overridden by ours nor override them.
#
#   symbols.sh libgstvmafhip.so
set -euo pipefail

plugin=${1:?usage: symbols.sh libgstvmafhip.so}
exported=$(nm --dynamic --defined-only --format=posix "$plugin" | cut -d' ' -f1 | sort)

if ! grep -q '^gst_plugin_vmafhip_get_desc$' <<<"$exported"; then
  echo "$plugin does not export gst_plugin_vmafhip_get_desc: GStreamer could not load it"
  exit 1
fi
if unwanted=$(grep -v '^gst_plugin_' <<<"$exported"); then
  echo "$plugin exports symbols of ours:"
  c++filt <<<"$unwanted"
  exit 1
fi
echo "$(wc -l <<<"$exported") symbols exported, all gst_plugin_*"
