#!/bin/bash
# VMAF of one video file against another.
set -euo pipefail
# shellcheck source=examples/common.sh
. "$(dirname "$0")/../common.sh"

usage() {
  cat <<'END'
usage: examples/gst-launch/two-files.sh [--model MODELS] [REFERENCE DISTORTED]

Compares two video files of any format that GStreamer decodes here, frame by frame, as fast as it can, and prints the
pooled scores. Without files it makes a short video of its own and a worse copy of it.

  --model MODELS    as the element's property "model" (vmaf_v0.6.1)
END
}
model=vmaf_v0.6.1
parse model "$@"
need_elements
take_videos 2 'two files, the reference and the distorted video'

echo "Compares ${arguments[1]} with ${arguments[0]}:"
pipeline=(
  vmafhip name=v "model=$(quote "$model")" ! fakesink
  $'\n' filesrc "location=$(quote "${arguments[0]}")" ! decodebin ! videoconvert ! v.ref_sink
  $'\n' filesrc "location=$(quote "${arguments[1]}")" ! decodebin ! videoconvert ! v.dist_sink
)
run_pipeline --progress ${duration:+--duration "$duration"}
