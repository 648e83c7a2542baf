#!/bin/bash
# Runs tests of the element under a tool that sees what a test by itself does not.
#
#   watched.sh memcheck|leaks few|all FOLDER
#
#   memcheck  valgrind: no invalid access, no jump on uninitialised values, nothing lost at the end. AVX2, since valgrind
#             knows no AVX-512.
#   leaks     GStreamer's tracer: no object, buffer, event or query is left at the end.
#   few       about a third of the tests, those that allocate, share and end in the most ways
#   all       all but those whose work is arithmetic (golden figures), or a third party's (encoders, under valgrind)
#   FOLDER    where the tests were built
#
# Exit status: 0 clean, 1 something was found or a test failed, 77 (skipped) without the tool.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tool=${1:?} amount=${2:?}
cd "${3:?}" || exit 1

# Name of a test, and the filter of what is run of it.
# shellcheck disable=SC2034  # used by name
few_memcheck=(
  'element_hostile_test *'
  'element_messages_test *'
  'element_seek_test Seek.AfterTheEnd:Seek.FromAHandlerOfItsOwnMessage'
  'element_cycle_test Phases/*:Flushes.SeekWhilePaused'
  'element_dynamic_test Dynamic.SrcUnlinkedWhilePlaying:Several.OneBehindTheOther:Holes.*:Upstream.*'
  'element_complaints_test *.ScoreOfADroppedFrame*:*.ResultsLost*'
  'element_alignment_test Kinds/*'
  'element_report_test Actions.FromTheComparingThread:Actions.AfterTheEnd:Stop.*'
  'element_watch_test Window.EndsWithAReset:Alert.RulesChange*'
)
# shellcheck disable=SC2034
few_leaks=(
  'element_hostile_test *' 'element_messages_test *' 'element_seek_test *' 'element_cycle_test *'
  'element_dynamic_test *' 'element_complaints_test *' 'element_alignment_test *' 'element_codecs_test *'
  'element_report_test *' 'element_watch_test *' 'element_dropin_test *'
)
# shellcheck disable=SC2034
all=()
for program in element_*_test; do
  case $tool-$program in
    *-element_golden_test | *-element_memory_test) continue ;;
    memcheck-element_hip_test | memcheck-element_gpu_memory_test) continue ;;  # the simulated GPU's threads of a kernel share one of the system's
    memcheck-element_codecs_test | memcheck-element_rtp_test) continue ;;
  esac
  all+=("$program *")
done
# Memory of a process, frames that x264enc makes or a time that only an idle machine keeps are not these tools' affair.
no_memcheck='Memory.*:Encoder.*:Cycles.StoppedWhileAnEncoderHoldsFrames:Starvation.*:Cycles.HundredTimes*'

# Lanes beyond the end of a row hold what was in memory until a mask cuts them off, which valgrind does not follow through
# all arithmetic. Pictures of these tests have whole vectors in every row of every scale. Elsewhere scores do not depend on
# what was in memory either, but other tests see to that: Meson fills memory at random, and they compare bits.
whole_vectors=" element_alignment_test element_complaints_test element_cycle_test element_docs_test element_dropin_test
 element_dynamic_test element_hostile_test element_messages_test element_seek_test "

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

memcheck() { # program, filter, log
  local undefined=no
  if [[ $whole_vectors == *" $1 "* ]]; then undefined=yes; fi
  # Blocks of GLib's own pools would hide who lost them; Orc's code at run time is not checked.
  G_SLICE=always-malloc G_DEBUG=gc-friendly ORC_CODE=backup VMAFHIP_ISA=avx2 VMAFHIP_TEST_SLOWNESS=50 \
    valgrind --quiet --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --num-callers=30 \
    --error-exitcode=1 --undef-value-errors="$undefined" --suppressions="$here/valgrind.supp" "${glib_supp[@]}" \
    "./$1" --gtest_brief=1 --gtest_filter="$2-$no_memcheck" >"$3" 2>&1
}
leaks() {
  if [[ $1 == element_hip_test || $1 == element_gpu_memory_test ]]; then export VMAFHIP_HIP_LIBRARY=$PWD/hipsim/libhipsim.so; fi
  GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE="$3.trace" \
    "./$1" --gtest_brief=1 --gtest_filter="$2" >"$3" 2>&1 || return
  # Beside these lines the tracer declares their format.
  ! grep -E 'object-alive, type-name=\(string\)[^%]' "$3.trace" >>"$3"
}

glib_supp=()
case $tool in
  memcheck)
    command -v valgrind >/dev/null || { echo 'valgrind is not here'; exit 77; }
    file=$(pkg-config --variable=prefix glib-2.0 2>/dev/null)/share/glib-2.0/valgrind/glib.supp
    if [[ -f $file ]]; then glib_supp=("--suppressions=$file"); fi
    ;;
  leaks) ;;
  *)
    sed -n '2,/^set/{s/^# \?//p}' "$0" >&2
    exit 1
    ;;
esac
if [[ $amount == all ]]; then declare -n tests=all; else declare -n tests=few_$tool; fi

# As many at once as there are processors: valgrind runs one thread at a time.
for ((i = 0; i < ${#tests[@]}; ++i)); do
  read -r program filter <<<"${tests[i]}"
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
  {
    begin=$SECONDS
    if "$tool" "$program" "$filter" "$logs/$i"; then
      echo "$program: clean, $((SECONDS - begin)) s"
    else
      cat "$logs/$i"
      echo "$program under $tool failed, with the filter $filter"
      touch "$logs/failed"
    fi
  } &
done
wait
if [[ -e $logs/failed ]]; then exit 1; fi
echo "${#tests[@]} tests under $tool: clean"
