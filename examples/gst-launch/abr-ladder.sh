#!/bin/bash
# VMAF of every rung of a ladder of encodings, in one pipeline: the video is decoded once.
set -euo pipefail
# shellcheck source=examples/common.sh
. "$(dirname "$0")/../common.sh"

usage() {
  cat <<'END'
usage: examples/gst-launch/abr-ladder.sh [OPTION]... [VIDEO]

Encodes a video at several sizes and bit rates, as an adaptive stream has them, scales each back to the video's size and
compares it there: a table for each rung, named WIDTHxHEIGHT-KBITSk, and a line for each at the end. Without a video it makes
a short one.

  --rungs 'WIDTHxHEIGHT:KBITS …'    for a video ('1920x1080:4500 1280x720:2500 960x540:1200 640x360:600'), for the short one
                                    ('320x180:300 256x144:150 160x90:80')
  --model MODELS                    as the element's property "model" (vmaf_v0.6.1)
  --features FEATURES               as the element's property "features"
END
}
rungs='' model=vmaf_v0.6.1 features=''
parse 'rungs model features' "$@"
need_elements x264enc h264parse avdec_h264
if [[ -z $rungs ]]; then
  rungs='1920x1080:4500 1280x720:2500 960x540:1200 640x360:600'
  if ((${#arguments[@]} == 0)); then rungs='320x180:300 256x144:150 160x90:80'; fi
fi
take_videos 1 'one video'

pipeline=(filesrc "location=$(quote "${arguments[0]}")" ! decodebin ! videoconvert ! tee name=t)
read -rd '' -a rungs <<<"$rungs" || true
if ((${#rungs[@]} == 0)); then die 2 "--rungs names none; see --help"; fi
names=' '
for rung in "${rungs[@]}"; do
  number='([1-9][0-9]{0,5})'
  if [[ ! $rung =~ ^${number}x${number}:${number}$ ]]; then die 2 "The rung $rung is not WIDTHxHEIGHT:KBITS"; fi
  if ((BASH_REMATCH[1] % 2 || BASH_REMATCH[2] % 2)); then die 2 "The rung $rung has an odd size, which x264enc does not take"; fi
  name=${rung/:/-}k
  if [[ $names == *" $name "* ]]; then die 2 "The rung $rung is there twice"; fi
  names+="$name "
  pipeline+=(
    $'\n' vmafhip "name=$name" "model=$(quote "$model")" "features=$(quote "$features")" ! fakesink
    $'\n' t. ! queue ! "$name.ref_sink"
    $'\n' t. ! queue ! videoscale ! "video/x-raw,width=${BASH_REMATCH[1]},height=${BASH_REMATCH[2]}" !
    x264enc speed-preset=veryfast "bitrate=${BASH_REMATCH[3]}" ! h264parse ! avdec_h264 ! "$name.dist_sink"
  )
done
echo "Compares encodings of ${arguments[0]} with it: ${rungs[*]}"
run_pipeline --progress --order "$names" ${duration:+--duration "$duration"}
