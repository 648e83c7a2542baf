#!/bin/bash
# VMAF of one RTSP stream against another, live.
set -euo pipefail
# shellcheck source=examples/common.sh
. "$(dirname "$0")/../common.sh"

usage() {
  cat <<'END'
usage: examples/gst-launch/rtsp.sh [OPTION]... [REFERENCE_URL DISTORTED_URL]

Compares two RTSP streams, and prints how it stands every second. Time stamps of two servers do not tell which frames belong
together: the element finds that in the pictures (sync=content), before it scores. Without addresses it takes two streams of
rtsp-server.py on this machine.

  --model MODELS    as the element's property "model" (vmaf_v0.6.1)
  --seconds N       end after so many seconds (20)
  --latency MS      what is buffered against jitter (200)
END
}
model=vmaf_v0.6.1 seconds=20 latency=200
parse 'model seconds latency' "$@"
need_elements rtspsrc
need_number seconds
need_number latency 0
case ${#arguments[@]} in
  0)
    need_elements x264enc rtph264pay
    # The server ends with its standard input, which the write end of a pipe keeps open; Ctrl-C is not for it, as the last
    # pictures are still wanted.
    coproc server {
      trap '' INT
      exec "$examples/gst-launch/rtsp-server.py"
    }
    if ! read -r address <&"${server[0]}"; then die 2 "There is no RTSP server here: give two addresses"; fi
    arguments=("$address/ref" "$address/dist")
    ;;
  2) ;;
  *) die 2 "Give two addresses, the reference's and the distorted stream's, or none; see --help" ;;
esac

echo "Compares ${arguments[1]} with ${arguments[0]}, for $seconds s:"
pipeline=(
  vmafhip name=v sync=content "model=$(quote "$model")" window=1000000000 ! fakesink
  $'\n' rtspsrc "location=$(quote "${arguments[0]}")" "latency=$latency" ! "application/x-rtp,media=video"
  ! decodebin ! videoconvert ! v.ref_sink
  $'\n' rtspsrc "location=$(quote "${arguments[1]}")" "latency=$latency" ! "application/x-rtp,media=video"
  ! decodebin ! videoconvert ! v.dist_sink
)
run_pipeline --progress --duration "$seconds"
