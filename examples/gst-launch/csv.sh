#!/bin/bash
# The scores of every frame as a table for a spreadsheet.
set -euo pipefail
# shellcheck source=examples/common.sh
. "$(dirname "$0")/../common.sh"

usage() {
  cat <<'END'
usage: examples/gst-launch/csv.sh [OPTION]... [REFERENCE DISTORTED]

Compares two video files and writes a CSV file with a line for every frame and a column for every metric, as
spreadsheets open it. Without files it makes a short video of its own and a worse copy of it.

  --out FILE           the table (scores.csv)
  --model MODELS       as the element's property "model" (vmaf_v0.6.1)
  --features FEATURES  as the element's property "features": further columns (psnr|float_ssim)
END
}
out=scores.csv model=vmaf_v0.6.1 features='psnr|float_ssim'
parse 'out model features' "$@"
need_elements
if [[ -z $out ]]; then die 2 "--out needs a file name; see --help"; fi
take_videos 2 'two files, the reference and the distorted video'

echo "Writes the scores of ${arguments[1]} against ${arguments[0]} to $out:"
pipeline=(
  vmafhip name=v "model=$(quote "$model")" "features=$(quote "$features")"
  "results-filename=$(quote "$out")" results-format=csv ! fakesink
  $'\n' filesrc "location=$(quote "${arguments[0]}")" ! decodebin ! videoconvert ! v.ref_sink
  $'\n' filesrc "location=$(quote "${arguments[1]}")" ! decodebin ! videoconvert ! v.dist_sink
)
run_pipeline --progress ${duration:+--duration "$duration"}
echo
echo "$out has $(($(wc -l <"$out") - 1)) frames and these columns:"
head -n 1 "$out" | tr , '\n' | sed '/^$/d; s/^/  /'
