#!/bin/bash
# VMAF of what an encoder makes of a camera's pictures, live, which stay in the camera's own buffers.
set -euo pipefail
# shellcheck source=examples/common.sh
. "$(dirname "$0")/../common.sh"

usage() {
  cat <<'END'
usage: examples/gst-launch/camera.sh [OPTION]... [DEVICE]

Compares a camera's pictures with what a live encoder makes of them, and prints how it stands every second. The camera's
buffers are dma-bufs (io-mode=dmabuf): the element and the encoder read them where they are, nothing copies them. "mapped"
in the last line counts those.

  DEVICE                    a V4L2 camera (/dev/video0)
  --caps CAPS               what it should send (video/x-raw,format=NV12). For a camera that sends nothing the element reads,
                            convert it, which copies each picture once: 'video/x-raw,format=YUY2 ! videoconvert',
                            'image/jpeg ! jpegdec'
  --encoder 'ELEMENT …'     (x264enc tune=zerolatency speed-preset=ultrafast)
  --model MODELS            as the element's property "model" (vmaf_v0.6.1)
  --frames N                end after so many (250)
END
}
caps='video/x-raw,format=NV12' encoder='x264enc tune=zerolatency speed-preset=ultrafast' model=vmaf_v0.6.1 frames=250
parse 'caps encoder model frames' "$@"
need_elements v4l2src
need_number frames
split_encoder
if ((${#arguments[@]} > 1)); then die 2 "Give one camera, or none for /dev/video0; see --help"; fi
device=${arguments[0]:-/dev/video0}
if [[ ! -c $device ]]; then
  die 3 "There is no camera $device$(printf '%s\n' /dev/video* | sed -n '/\*/!s/^/\n  there is /p')
Without a camera: 'sudo modprobe vivid' makes a virtual one where the kernel has that module, rtsp.sh compares live streams of
its own, and encoder-in-place.sh shows what an encoder makes of a video."
fi

echo "Compares what $encoder makes of $device with it, for $frames frames:"
read -ra caps_words <<<"$caps"
pipeline=(
  vmafhip name=v "model=$(quote "$model")" window=1000000000 ! fakesink
  $'\n' v4l2src "device=$(quote "$device")" "num-buffers=$frames" io-mode=dmabuf ! "${caps_words[@]}" ! tee name=t
  $'\n' t. ! queue ! v.ref_sink
  $'\n' t. ! queue ! "${encoder_words[@]}" ! decodebin ! videoconvert ! v.dist_sink
)
run_pipeline --progress --frames "$frames"
