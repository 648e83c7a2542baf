#!/bin/bash
# Builds vmafhip and runs its tests. See --help.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/run.sh [--full] [--build FOLDER]

Builds into build/ (or FOLDER) of the source tree and runs all tests; installs the Debian packages that they need
if any is missing. The last line says how many tests passed, failed and were skipped; each GoogleTest case counts.
Tests that need libvmaf's model files (not part of this repository) are skipped unless VMAFHIP_TEST_MODELS names
their folder. Those that need devices of the kernel run in a VM, whose kernel is downloaded once (70 MB, kept in the
user's cache folder), and are skipped where none can be started. The monitor's page is looked at by Debian's chromium
and its metrics are read by Debian's prometheus (140 MB to fetch in all); without them those tests are skipped. Prometheus
is kept in the user's cache folder, too, and not installed: its package would start a service. GPU
kernels are compiled for the targets that tests look at: gfx90a, gfx1030 and gfx1100, and where there is nvcc sm_90. To
use the element on other GPUs, build in a folder of your own.

  --full          also the tests that take minutes or fetch a video (suite "full")
  --build FOLDER  build there instead

Exit status: 0 all passed, 1 a test failed, 2 a package is missing or the build failed.
END
}

full=false
build=build
while (($#)); do
  case $1 in
    --full) full=true ;;
    --build)
      build=${2:?--build needs a folder}
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
  shift
done

exec </dev/null
caller=$PWD
cd "$(dirname "$0")/.."
if [[ $build != build && $build != /* ]]; then build=$caller/$build; fi
# shellcheck source=examples/packages.sh
. examples/packages.sh
need_packages "${build_packages[@]}" "${run_packages[@]}" "${hip_packages[@]}" "${monitor_packages[@]}" libgtest-dev binutils clang-format git locales qemu-user valgrind \
  gir1.2-gst-rtsp-server-1.0 gir1.2-gstreamer-1.0 python3-gi python3-prometheus-client
if $full; then need_packages ffmpeg python3-numpy; fi
if ! (need_packages kmod qemu-system-x86 xz-utils) || ! tests/vm/prepare.sh; then
  echo "Tests that need a VM will be skipped." >&2
fi

if ! (need_packages chromium chromium-driver python3-selenium); then
  echo "Tests of the monitor's page in a browser will be skipped." >&2
fi
if prometheus=$(tests/monitor/prepare_prometheus.sh); then
  PATH=$PATH:$prometheus
else
  echo "Tests of the monitor's metrics in Prometheus will be skipped." >&2
fi

# Whoever reads only the last line must not take a broken build for a success.
fail_build() {
  echo "$1" >&2
  echo "0 passed, 1 failed"
  exit 2
}
options=(-Dtests=true -Dhip=auto "-Dhip-archs=gfx90a,gfx1030,gfx1100" -Dnvidia=auto -Dnvidia-archs=90)
# Where packages were looked after, the compiler is there, and a build without it would test too little.
if command -v dpkg-query >/dev/null; then options+=(-Dhip=enabled -Dmonitor=enabled); fi
if [[ -f $build/build.ninja ]]; then
  meson setup --reconfigure "$build" "${options[@]}" || meson setup --wipe "$build" "${options[@]}" ||
    fail_build "meson could not configure $build"
else
  meson setup "$build" "${options[@]}" || fail_build "meson could not configure $build"
fi
ninja -C "$build" || fail_build "the build failed"

# Results of an earlier run must not be counted for a test that crashes in this one.
find "$build/tests" -maxdepth 1 -name '*.xml' -delete
rm -f "$build"/meson-logs/tests.json "$build"/meson-logs/tests-full.json
logs=("$build/meson-logs/tests.json")
status=0
run() { # name of the log, arguments of meson test
  meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 3 \
    --num-processes "$(nproc)" --logbase "$@" || status=1
}
run tests --no-suite full
if $full; then
  logs+=("$build/meson-logs/tests-full.json")
  run tests-full --suite full
fi
python3 tests/tools/count_tests.py "$build/tests" "${logs[@]}" || status=1
exit "$status"
