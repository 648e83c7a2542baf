#!/bin/bash
# VMAF of what an encoder makes of a video, in one pipeline.
set -euo pipefail
# shellcheck source=examples/common.sh
. "$(dirname "$0")/../common.sh"

usage() {
  cat <<'END'
usage: examples/gst-launch/encoder-in-place.sh [OPTION]... [VIDEO]

Encodes a video and compares what comes out of the encoder with what went in, without a file in between. Without a video
it makes a short one.

  --encoder 'ELEMENT PROPERTY=VALUE…'    and what else stands between the pictures and what decodebin takes, with " ! "
                                         between elements (x264enc speed-preset=veryfast bitrate=300)
  --model MODELS                         as the element's property "model" (vmaf_v0.6.1)
END
}
encoder='x264enc speed-preset=veryfast bitrate=300' model=vmaf_v0.6.1
parse 'encoder model' "$@"
need_elements
split_encoder
take_videos 1 'one video'

echo "Compares what $encoder makes of ${arguments[0]} with it:"
pipeline=(
  vmafhip name=v "model=$(quote "$model")" ! fakesink
  $'\n' filesrc "location=$(quote "${arguments[0]}")" ! decodebin ! videoconvert ! tee name=t
  $'\n' t. ! queue ! v.ref_sink
  $'\n' t. ! queue ! "${encoder_words[@]}" ! decodebin ! videoconvert ! v.dist_sink
)
run_pipeline --progress ${duration:+--duration "$duration"}
