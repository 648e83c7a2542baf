#!/bin/bash
# How much processor time a frame costs vmafhip and another program, on the same clip, in one go.
#
#   compare_speed.sh [--build FOLDER] [--frames N] [--size WxH] COMMAND [ARGUMENT]...
#
# COMMAND computes VMAF of two raw 4:2:0 files; {ref}, {dist}, {width}, {height} and {frames} in its arguments are
# replaced:
#
#   compare_speed.sh vmaf -r {ref} -d {dist} -w {width} -h {height} -p 420 -b 8 --threads 1 -m version=vmaf_v0.6.1 -o /dev/null
#
# Both run on one thread, and processor time is compared, so that a busy machine does not matter much. COMMAND runs over
# N and over 2 N frames and the difference counts: starting and reading a model are no part of it, reading files is.
# vmafhip-bench runs over the first N frames, from memory. With VMAFHIP_ISA set it uses that instruction set.
set -euo pipefail

build=build frames=3 width=1920 height=1080
usage() {
  sed -n '4p' "$0" | sed 's/^# */usage: /' >&2
  exit 2
}
while [[ ${1:-} == --* ]]; do
  (($# >= 2)) || usage
  case $1 in
    --build) build=$2 ;;
    --frames) frames=$2 ;;
    --size) width=${2%x*} height=${2#*x} ;;
    *) usage ;;
  esac
  shift 2
done
(($# >= 1)) || usage
for number in "$frames" "$width" "$height"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || usage
done
clipgen=$build/tests/clipgen bench=$build/tools/vmafhip-bench
for program in "$clipgen" "$bench"; do
  if [[ ! -x $program ]]; then
    echo "$program is not there: --build names the folder of a build with tests" >&2
    exit 1
  fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make_clip() { # frames, prefix; clips of any length begin alike
  local role
  for role in ref dis; do
    "$clipgen" --clip natural-blur --role "$role" --width "$width" --height "$height" --frames "$1" --out "$work/$2-$role.yuv"
  done
}

# Seconds of processor time that the other program takes for the clip.
seconds_of() { # frames, prefix, command
  local count=$1 prefix=$2 argument
  shift 2
  local command=()
  for argument in "$@"; do
    argument=${argument//'{ref}'/$work/$prefix-ref.yuv}
    argument=${argument//'{dist}'/$work/$prefix-dis.yuv}
    argument=${argument//'{width}'/$width}
    argument=${argument//'{height}'/$height}
    command+=("${argument//'{frames}'/$count}")
  done
  local TIMEFORMAT='%U %S'
  { time "${command[@]}" >"$work/printed" 2>&1 || echo failed >"$work/failed"; } 2>"$work/time"
  if [[ -e $work/failed ]]; then
    echo "the command failed: ${command[*]}" >&2
    cat "$work/printed" >&2
    exit 1
  fi
  awk '{ print $1 + $2 }' "$work/time"
}

make_clip "$frames" short
make_clip "$((2 * frames))" long
short=$(seconds_of "$frames" short "$@")
long=$(seconds_of "$((2 * frames))" long "$@")
"$bench" --size "${width}x$height" --threads 1 --frames 60 --ref "$work/short-ref.yuv" --dist "$work/short-dis.yuv" \
  >"$work/bench.json"
python3 - "$work/bench.json" "$short" "$long" "$frames" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    bench = json.load(file)
short, long, frames = map(float, sys.argv[2:])
ours, theirs = bench["cpu_ms_per_frame"], (long - short) * 1000 / frames
print(f"{bench['size']}, {bench['depth']} bits, {bench['model']}: processor time per frame, one thread")
print(f"  vmafhip ({bench['isa']}) {ours:.2f} ms")
print(f"  the other program {theirs:.2f} ms")
print(f"  ratio {theirs / ours:.1f}")
END
