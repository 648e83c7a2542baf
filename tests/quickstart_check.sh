#!/bin/bash
# examples/quickstart.sh against a second opinion: score_yuv reads the very pictures that were compared, from raw
# files, and knows nothing of GStreamer.
#
#   quickstart_check.sh small BUILD_FOLDER    two generated videos given as files; needs no network
#   quickstart_check.sh phone BUILD_FOLDER    no files: the phone's video and its own encoding (fetched if not in .cache/)
set -euo pipefail

mode=${1:?usage: quickstart_check.sh small|phone BUILD_FOLDER}
build=$(cd "${2:?usage: quickstart_check.sh small|phone BUILD_FOLDER}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A video file of `frames` generated pictures at `bitrate`. The name has what shells and parsers trip over.
make_video() { # role, bitrate, file
  "$build/tests/clipgen" --clip natural-blur --role "$1" --width "$width" --height "$height" --frames "$frames" \
    --out "$work/clip.yuv"
  gst-launch-1.0 -q filesrc location="$work/clip.yuv" ! \
    rawvideoparse format=i420 width="$width" height="$height" framerate=25/1 ! \
    x264enc bitrate="$2" ! h264parse ! mp4mux ! filesink location="$work/made.mp4"
  mv "$work/made.mp4" "$3"
}

case $mode in
  small)
    width=320 height=242 frames=24
    files=("$work/the \"reference\", 1.mp4" "$work/it's distorted.mp4")
    make_video ref 4000 "${files[0]}"
    make_video dis 150 "${files[1]}"
    ;;
  phone)
    width=1920 height=1080 frames=41
    files=()
    ;;
  *)
    echo "unknown mode $mode" >&2
    exit 1
    ;;
esac

"$root/examples/quickstart.sh" --plugin "$build/gst/vmafhip" --raw "$work/raw" "${files[@]}" | tee "$work/printed"

"$build/tests/score_yuv" --width "$width" --height "$height" "$work/raw/ref.yuv" "$work/raw/dist.yuv" >"$work/expected"
python3 "$root/tests/tools/compare_scores.py" "$work/printed" "$work/expected" "$frames"
