#!/bin/bash
# The element on a machine with a GPU that has neither GStreamer nor a network; run by hand, and recorded in NEWS.md.
# See --help.
set -uo pipefail

usage() {
  cat <<'END'
usage: tests/gpu_element.sh pack BUILD_FOLDER FOLDER
       FOLDER/gpu_element.sh run [--seconds N]
       FOLDER/gpu_element.sh exec COMMAND...

pack  puts all that the element needs to run into FOLDER: the plugin and its programs of BUILD_FOLDER, gst-launch-1.0,
      gst-inspect-1.0, GStreamer's plugins, the libraries of all of them, and this script; below 60 MiB.
exec  runs a command there, such as gst-launch-1.0, with that GStreamer.
run   the steps:
        inspect   the element and its pads; what this machine has of cudaupload and nvh264dec
        bits      scores of pictures from system memory and from CUDA memory, of all formats: those of the CPU in every
                  bit; CUDA memory is read where it is, be it of the context that the element offers or of another
        launch    gst-launch-1.0 pipelines: a coded clip has the CPU's scores by openh264dec, cudaupload and nvh264dec
        speed     1080p, 1 and 32 pipelines, from system memory and from CUDA memory, beside vmafhip-bench --pageable

Before: meson setup -Dhip=disabled -Dnvidia=enabled -Dnvidia-archs=90 build-gpu
        ninja -C build-gpu gst/vmafhip/libgstvmafhip.so tests/element_bench tools/vmafhip-bench
Exit status: 0 all good, 1 a step failed, 2 wrong usage.
END
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# ---- pack ------------------------------------------------------------------------------------------------

plugins=(app coreelements nvcodec openh264 videoconvertscale videoparsersbad videorate videotestsrc x264)

pack() { # build folder, folder
  local build=$1 to=$2 from libraries name file
  libraries=$(pkg-config --variable=pluginsdir gstreamer-1.0)
  rm -rf "$to"
  mkdir -p "$to"/{bin,lib,plugins}
  for name in gst-launch-1.0 gst-inspect-1.0; do cp -L "$(command -v "$name")" "$to/bin/"; done
  cp -L "$(pkg-config --variable=pluginscannerdir gstreamer-1.0)/gst-plugin-scanner" "$to/bin/"
  for name in "${plugins[@]}"; do
    from=$libraries/libgst$name.so
    if [[ -e $from ]]; then cp -L "$from" "$to/plugins/"; else echo "left out: there is no $from" >&2; fi
  done
  cp -L "$build/gst/vmafhip/libgstvmafhip.so" "$to/plugins/" || return 1
  cp -L "$build/tests/element_bench" "$build/tools/vmafhip-bench" "$to/bin/" || return 1
  # What they are linked with, but for the C library: that of the other machine is as new, and its driver's.
  while read -r name file; do
    case $name in
      libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) ;;
      *) cp -Ln "$file" "$to/lib/$name" ;;
    esac
  done < <(for file in "$to"/bin/* "$to"/plugins/* $(ldconfig -p | awk '/libgstcuda-1.0.so.0/ {print $NF; exit}'); do
    [[ $file == */libgstcuda* ]] && echo "libgstcuda-1.0.so.0 $file"
    ldd "$file"
  done | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3} $1 ~ /^libgstcuda/ && $2 ~ /^\// {print $1, $2}' | sort -u)
  strip --strip-unneeded "$to"/bin/* "$to"/lib/* "$to"/plugins/*
  cp "$here/gpu_element.sh" "$to/"
  echo "$to: $(du -sm "$to" | cut -f1) MiB"
}

# ---- run -------------------------------------------------------------------------------------------------

environment() {
  export PATH=$here/bin:$PATH
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export GST_PLUGIN_SYSTEM_PATH='' GST_PLUGIN_PATH=$here/plugins GST_PLUGIN_SCANNER=$here/bin/gst-plugin-scanner
  export GST_REGISTRY=${TMPDIR:-/tmp}/vmafhip-gpu-element.registry GST_REGISTRY_FORK=no
}

seconds=480 summary=() failed=false
say() {
  summary+=("$1")
  echo "$1"
}
bad() {
  failed=true
  say "FAILED: $1"
}

# The value of a key in a line of JSON.
value() { sed -n "s/.*\"$1\":\"\\{0,1\\}\\([^,}\"]*\\).*/\\1/p" <<<"$2"; }

# A line of JSON, or what went wrong.
measured() { # seconds, options of element_bench...
  local limit=$1 left=$((seconds - SECONDS)) line
  shift
  if ((left < 5)); then
    echo "out of time"
    return 1
  fi
  line=$(timeout --kill-after=5 $((limit < left ? limit : left)) element_bench "$@" 2>&1) || {
    echo "element_bench $*: status $?: $line"
    return 1
  }
  tail -n 1 <<<"$line"
}

inspect() {
  gst-inspect-1.0 vmafhip >/dev/null || bad "gst-inspect-1.0 vmafhip"
  local name
  for name in cudaupload cudadownload nvh264dec x264enc openh264dec; do
    if gst-inspect-1.0 --exists "$name"; then say "there is $name"; else say "there is no $name"; fi
  done
}

# Scores of each format by all ways. There are two pictures a frame.
bits() {
  local format frames=48 cpu other memory way
  for format in I420 NV12 P010_10LE Y444 I420_10LE; do
    cpu=$(measured 60 --backend cpu --size 640x360 --format "$format" --frames "$frames") || {
      bad "$cpu"
      continue
    }
    for memory in system cuda foreign; do
      other=$(measured 60 --backend hip --size 640x360 --format "$format" --frames "$frames" --memory "$memory") || {
        bad "$format, $memory: $other"
        continue
      }
      way="imported $(value imported "$other"), copied $(value copied "$other")"
      if [[ $(value scores "$other") != "$(value scores "$cpu")" ]]; then
        bad "$format, $memory memory: scores differ, e.g. $(value score "$other") for $(value score "$cpu"); $way"
      else
        if [[ $memory != system && $way != "imported $((2 * frames)), copied 0" ]]; then
          bad "$format, $memory memory: $way"
        fi
        say "$format, $memory memory: the CPU's bits, last score $(value score "$other"); $way"
      fi
    done
  done
}

# The scores of a pipeline's frames, as gst-launch-1.0 prints them, in every digit.
launched=''
launch() { # what, imported (-: whatever it is), pipeline...
  local what=$1 imported=$2 text status=0 pooled got
  shift 2
  launched=''
  text=$(timeout --kill-after=5 60 gst-launch-1.0 -m vmafhip name=v sync=order "$@" 2>&1) || status=$?
  pooled=$(grep -m 1 'type=(string)pooled' <<<"$text")
  if ((status)) || [[ -z $pooled ]]; then
    bad "$what: status $status: $(grep -m 2 -iE 'error|warning' <<<"$text" | tr '\n' ' ')"
    return 1
  fi
  launched=$(grep 'type=(string)frame' <<<"$text" | grep -o ' score=(double)[0-9.e+-]*')
  got="$(wc -l <<<"$launched") frames, score $(grep -o ' score=(double)[0-9.]*' <<<"$pooled" | head -n 1 | sed 's/.*)//')"
  got+=", imported $(grep -o ' imported=(guint64)[0-9]*' <<<"$pooled" | sed 's/.*)//')"
  if [[ $imported == - || $got == *", imported $imported" ]]; then say "$what: $got"; else bad "$what: $got, not $imported"; fi
}

# A coded clip is the same however it is decoded.
launches() {
  local clip=${TMPDIR:-/tmp}/vmafhip-gpu-element.h264 wanted
  local raw='video/x-raw,format=NV12,width=1280,height=720,framerate=50/1' cuda='video/x-raw(memory:CUDAMemory)'
  local source="videotestsrc num-buffers=120 pattern=smpte75 horizontal-speed=4 ! $raw"
  # shellcheck disable=SC2086 # words of pipelines
  gst-launch-1.0 -q $source ! videoconvert ! x264enc speed-preset=ultrafast bitrate=900 ! \
    video/x-h264,stream-format=byte-stream ! filesink location="$clip" || {
    bad "x264enc"
    return
  }
  local reference="$source ! videoconvert ! video/x-raw,format=I420 ! v.ref_sink"
  local decoded="filesrc location=$clip ! h264parse"
  # shellcheck disable=SC2086
  {
    launch "openh264dec, on the CPU" 0 backend=cpu ! fakesink $reference $decoded ! openh264dec ! v.dist_sink
    wanted=$launched
    launch "openh264dec" 0 backend=hip ! fakesink $reference $decoded ! openh264dec ! v.dist_sink
    [[ $launched == "$wanted" ]] || bad "openh264dec: other scores than the CPU's"
    if gst-inspect-1.0 --exists cudaupload; then
      launch "cudaupload" 240 backend=hip ! fakesink $source ! cudaupload ! "$cuda" ! v.ref_sink \
        $decoded ! openh264dec ! cudaupload ! "$cuda" ! v.dist_sink
      [[ $launched == "$wanted" ]] || bad "cudaupload: other scores than the CPU's"
    fi
    if gst-inspect-1.0 --exists nvh264dec; then
      launch "nvh264dec" 120 backend=hip ! fakesink $reference $decoded ! nvh264dec ! v.dist_sink
      [[ $launched == "$wanted" ]] || bad "nvh264dec: other scores than the CPU's"
      # Which leaves the memory as it is, though its caps say otherwise.
      launch "nvh264dec, cudadownload" - backend=hip ! fakesink $reference $decoded ! nvh264dec ! cudadownload ! \
        video/x-raw ! v.dist_sink
      [[ $launched == "$wanted" ]] || bad "nvh264dec, cudadownload: other scores than the CPU's"
    fi
  }
  rm -f "$clip"
}

speed() {
  local pipelines frames memory line cpu rows=()
  cpu=$(measured 60 --backend cpu --frames 60) || bad "$cpu"
  for pipelines in 1 32; do
    frames=$((pipelines == 1 ? 1500 : 200))
    for memory in system cuda; do
      # The same frames again: their scores are the CPU's, and then as many as tell the speed.
      line=$(measured 60 --backend hip --memory "$memory" --pipelines "$pipelines" --frames 60) || {
        bad "$line"
        continue
      }
      [[ $(value scores "$line") == "$(value scores "$cpu")" && $(value alike "$line") == true ]] ||
        bad "1080p, $memory memory, $pipelines pipelines: scores differ from the CPU's"
      line=$(measured 90 --backend hip --memory "$memory" --pipelines "$pipelines" --frames "$frames") || {
        bad "$line"
        continue
      }
      rows+=("$(printf '%-9s %9d %9.0f   %d / %d' "$memory" "$pipelines" "$(value fps "$line")" "$(value imported "$line")" "$(value copied "$line")")")
    done
  done
  say "1080p, I420   pipelines  frames/s   imported / copied"
  local row
  for row in "${rows[@]}"; do say "  $row"; done
  for memory in pageable resident; do
    line=$(timeout 60 vmafhip-bench --backend hip --size 1920x1080 --frames 1500 --warmup 100 "--$memory" 2>&1 | tail -n 1)
    say "  vmafhip-bench --$memory, one session: $(value fps "$line") frames/s, bits as CPU: $(value equals_cpu "$line")"
  done
}

run() {
  environment
  inspect
  bits
  launches
  speed
  echo
  echo "== $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1 || true), $SECONDS s in all"
  printf '%s\n' "${summary[@]}"
  if $failed; then
    echo "NOT all good"
    return 1
  fi
  echo "all good"
}

case ${1:-} in
  pack)
    if (($# != 3)); then
      usage >&2
      exit 2
    fi
    pack "$2" "$3"
    ;;
  run)
    if [[ ${2:-} == --seconds ]]; then seconds=${3:?}; fi
    run
    ;;
  exec)
    shift
    environment
    exec "$@"
    ;;
  -h | --help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
