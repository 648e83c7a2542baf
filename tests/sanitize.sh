#!/bin/bash
# Builds with GCC's sanitizers and runs the tests that make sense under them.
#
#   sanitize.sh [address|thread]...     both if none is named
#
#   address  memory errors, leaks and undefined behaviour, in build/asan: all unit tests, those of the simulated GPU that
#            are not about kernels, most of the element's, and the monitor's where it is built
#   thread   data races and deadlocks, in build/tsan: what has threads or is used by several
#
# Exit status: 0 nothing was found, 1 a test failed or a sanitizer spoke, 2 the build failed.
set -uo pipefail
cd "$(dirname "$0")/.."

# The golden figures and large random samples test arithmetic, for minutes; the tests of each metric read the same code.
too_long='golden_models_test golden_test surface_test'
threaded='accelerator_test aligner_property_test aligner_test dmabuf_test hip_device_test hip_open_test inbox_test inbox_wait_test inbox_wake_test results_test scheduler_test session_format_test session_scale_test session_strips_test session_subsample_test session_test'

# On the simulated GPU: its own tests, and of the engine what has threads.
simulated='hip_accelerator_test hip_direct_test hip_external_test hip_lanes_test hip_motion_test hip_runtime_test hip_session_test hip_stress_test hip_unpack_test
  hip_upload_memory_test hipsim_streams_test hipsim_test'

# The element's; golden figures and starvation take minutes. Memory of a process means little under a sanitizer.
elements='element_content_test element_crop_meta_test element_crop_test element_cycle_test element_dmabuf_test element_dropin_test
  element_dynamic_test element_fence_test element_formats_test element_hostile_test element_life_test element_likeness_test element_live_test
  element_messages_test element_overload_test element_report_test element_results_test element_scale_test element_seek_test
  element_subsample_test element_watch_test'
export GTEST_FILTER=-Memory.*:Cycles.HundredTimes*:*.ARequestsBodyDoesNotStayInMemory

# Names of the unit tests, as the build knows them.
unit_tests() { sed -n '/^unit_tests = {/,/^}/s/^  .\([a-z0-9_]*_test\).*/\1/p' tests/meson.build; }
monitor_tests() { sed -n '/^monitor_tests = {/,/^}/s/^  .\(monitor_[a-z0-9_]*_test\).*/monitor\/\1/p' tests/monitor/meson.build; }

run() { # build folder, value of b_sanitize, names of tests
  local build=$1 sanitizers=$2 failed=0 name
  shift 2
  if [[ ! -f $build/build.ninja ]]; then
    # Optimised, since the metrics take long otherwise. A plugin with sanitizers has open symbols.
    meson setup "$build" -Dbuildtype=debugoptimized -Dtests=true -Db_sanitize="$sanitizers" -Db_lundef=false \
      -Dhip=disabled -Dnvidia=disabled >"$build.log" 2>&1 || { cat "$build.log"; return 2; }
  fi
  if ! grep -q 'build tests/monitor/monitor_' "$build/build.ninja"; then
    echo "The monitor's tests are not run: what they are built from is not here."
    for name; do
      shift
      if [[ $name != monitor/* ]]; then set -- "$@" "$name"; fi
    done
  fi
  ninja -C "$build" gst/vmafhip/libgstvmafhip.so tests/hipsim/libhipsim.so tests/hipsim_process "${@/#/tests/}" >"$build.log" 2>&1 || { cat "$build.log"; return 2; }
  local here=$PWD/$build
  # GLib allocates in a constructor for the life of the process.
  echo 'leak:call_init' >"$build/leaks.supp"
  local asan=allocator_may_return_null=1:detect_stack_use_after_return=1
  for name in "$@"; do
    echo "$name"
    # Leaks in GLib are told from others by their callers, which it does not make easy to find.
    local unwind=1 leaks=1
    case $name in inbox_*test | output_test | pad_test | picture_watch_test) unwind=0 ;; esac
    # Plugins of GStreamer keep what they have.
    case $name in element_* | monitor/monitor_error_text_test | monitor/monitor_thumbnails_test) leaks=0 ;; esac
    (
      cd "$build/tests" || exit 1
      if [[ " $simulated " == *" $name "* ]]; then
        export VMAFHIP_HIP_LIBRARY=$here/tests/hipsim/libhipsim.so HIPSIM_LEAKS=fatal
      fi
      # The plugin is looked at in this process: another one would lack the sanitizer's library.
      if [[ $name == element_* || $name == monitor/* ]]; then
        export GST_PLUGIN_PATH=$here/gst/vmafhip GST_REGISTRY=$here/registry.bin GST_REGISTRY_FORK=no
      fi
      ASAN_OPTIONS=$asan:fast_unwind_on_malloc=$unwind:detect_leaks=$leaks LSAN_OPTIONS=suppressions=../leaks.supp:print_suppressions=0 \
        UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
        "./$name" --gtest_brief=1
    ) || { echo "$name failed under $sanitizers"; failed=1; }
  done
  return "$failed"
}

mkdir -p build
status=0
for kind in "${@:-address thread}"; do
  for one in $kind; do
    case $one in
      address)
        mapfile -t tests < <(unit_tests | grep -vxF "$(tr ' ' '\n' <<<"$too_long")" && monitor_tests)
        # shellcheck disable=SC2086  # words
        run build/asan address,undefined "${tests[@]}" $simulated $elements
        ;;
      thread)
        # shellcheck disable=SC2086  # words
        run build/tsan thread $threaded $simulated
        ;;
      *)
        sed -n '2,/^set/{s/^# \?//p}' "$0" >&2
        exit 2
        ;;
    esac
    code=$?
    if ((code > status)); then status=$code; fi
  done
done
if ((status == 0)); then echo "no sanitizer found anything"; fi
exit "$status"
