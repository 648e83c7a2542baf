#!/bin/bash
# From a fresh checkout to the VMAF of real video. See --help.
set -euo pipefail

usage() {
  cat <<'END'
usage: examples/quickstart.sh [OPTION]... [REFERENCE DISTORTED]
       examples/quickstart.sh --monitor [OPTION]... [VIDEO]

Builds the element, compares two videos and prints VMAF: a line for every frame as it is scored, and a table at the
end. Without files it takes a phone's video from the Debian package forensics-samples-files (30 MB, kept in .cache/,
nothing gets installed) and compares it with what x264 makes of it at 600 kbit/s, encoded in the same
pipeline. Missing Debian packages are installed if that needs no password.

  --model MODELS    as the element's property "model" (default vmaf_v0.6.1)
  --raw FOLDER      also write what was compared there, as raw planar video: ref.yuv and dist.yuv
  --plugin FOLDER   take libgstvmafhip.so from there instead of building it
  --monitor         watch it live instead: builds vmafhip-monitor and lets it encode the phone's video (or VIDEO), over and
                    over, with a bit rate that falls halfway; prints the address of the page that shows it. Ctrl-C ends it
  --gpu             also build the kernels for this machine's GPUs, which are then used. For AMD the compiler is
                    installed if it is missing (350 MB); for NVIDIA nvcc must be there
  -h, --help        this text

Ctrl-C ends the comparison; the table then covers the frames scored so far.

Exit status: 0 compared; 1 the comparison failed; 2 wrong usage, a package is missing or the build failed;
3 a file is missing or has no video that GStreamer can decode here; 130 ended by Ctrl-C.
END
}

# shellcheck source=examples/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=examples/packages.sh
. "$examples/packages.sh"

model=vmaf_v0.6.1
raw=
plugin=
gpu=false
monitor=false
files=()
while (($#)); do
  case $1 in
    --model | --raw | --plugin)
      if (($# < 2)); then die 2 "$1 needs a value; see --help"; fi
      printf -v "${1#--}" '%s' "$2"
      shift
      ;;
    --gpu) gpu=true ;;
    --monitor) monitor=true ;;
    -h | --help)
      usage
      exit 0
      ;;
    --)
      shift
      files+=("$@")
      break
      ;;
    -*) die 2 "unknown option $1; see --help" ;;
    *) files+=("$1") ;;
  esac
  shift
done
if $monitor; then
  if ((${#files[@]} > 1)) || [[ $raw ]]; then die 2 "With --monitor give one video, or none, and no --raw; see --help"; fi
elif ((${#files[@]} != 0 && ${#files[@]} != 2)); then
  die 2 "Give two files, the reference and the distorted video, or none; see --help"
fi
for file in "${files[@]}"; do need_file "$file"; done

# Adds to `options` what builds the kernels for the GPUs that this machine has.
find_gpus() {
  local node version targets=() found=false
  for node in /sys/class/kfd/kfd/topology/nodes/*/properties; do
    if [[ ! -r $node ]]; then continue; fi
    version=$(sed -n 's/^gfx_target_version //p' "$node") # 90010 is gfx90a, 110001 gfx1101; processors have 0
    if ((${version:-0} > 0)); then
      targets+=("$(printf 'gfx%d%x%x' $((version / 10000)) $((version / 100 % 100)) $((version % 100)))")
    fi
  done
  if ((${#targets[@]})); then
    need_packages "${hip_packages[@]}"
    options+=(-Dhip=enabled "-Dhip-archs=$(printf '%s\n' "${targets[@]}" | sort -u | paste -sd,)")
    found=true
  fi
  local capabilities
  capabilities=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -u | paste -sd,) || true
  if [[ -n $capabilities ]]; then
    options+=(-Dnvidia=enabled "-Dnvidia-archs=$capabilities")
    found=true
  fi
  if ! $found; then die 2 "--gpu: neither AMD's nor NVIDIA's driver shows a GPU on this machine"; fi
}

# Runs ninja with its output in a file, and says on standard error how far it is and how long the rest takes at the speed so
# far: on a terminal in a line that is rewritten, else every ten seconds.
build_shown() { # file, arguments of ninja...
  local log=$1 line percent spent left status=0 told=0 every=10 form='%3d %%  %d:%02d:%02d left\n' clear=
  shift
  if [[ -t 2 ]]; then every=0 form='\r\033[K%3d %%  %d:%02d:%02d left' clear=$'\r\033[K'; fi
  NINJA_STATUS='%p %e ' ninja "$@" 2>&1 </dev/null | while IFS= read -r line; do
    printf '%s\n' "$line"
    if [[ ! $line =~ ^\ *([0-9]+)%\ ([0-9]+)\. ]]; then continue; fi
    percent=${BASH_REMATCH[1]} spent=${BASH_REMATCH[2]}
    if ((percent == 0 || spent < told + every)); then continue; fi
    told=$spent left=$((spent * (100 - percent) / percent))
    # shellcheck disable=SC2059
    printf "$form" "$percent" $((left / 3600)) $((left / 60 % 60)) $((left % 60)) >&2
  done >"$log" || status=$?
  printf '%s' "$clear" >&2
  return "$status"
}

# ---- the element -------------------------------------------------------------------------------------

need_packages "${run_packages[@]}" python3
if [[ -z $plugin ]]; then
  need_packages "${build_packages[@]}"
  targets=(gst/vmafhip/libgstvmafhip.so)
  if $monitor; then
    need_packages "${monitor_packages[@]}"
    targets+=(examples/monitor/vmafhip-monitor)
  fi
  build=$root/build
  log=$build/quickstart.log
  mkdir -p "$build"
  options=(-Dtests=false -Dhip=disabled -Dnvidia=disabled)
  if $gpu; then find_gpus; fi
  # What an existing build is changed to.
  changes=()
  if $gpu; then changes=("${options[@]:1}"); fi
  if $monitor; then
    options+=(-Dmonitor=enabled)
    changes+=(-Dmonitor=enabled)
  fi
  if [[ ! -f $build/build.ninja ]]; then
    echo "Configuring $build" >&2
    meson setup "$build" "$root" "${options[@]}" >"$log" 2>&1 </dev/null ||
      die 2 "$(tail -n 20 "$log")"$'\n'"meson failed; all of it is in $log"
  elif ((${#changes[@]})); then
    echo "Configuring $build anew" >&2
    meson setup --reconfigure "$build" "$root" "${changes[@]}" >"$log" 2>&1 </dev/null ||
      die 2 "$(tail -n 20 "$log")"$'\n'"meson failed; all of it is in $log"
  fi
  echo "Building ${targets[*]##*/}" >&2
  build_shown "$log" -C "$build" "${targets[@]}" ||
    die 2 "$(tail -n 20 "$log")"$'\n'"The build failed; all of it is in $log"
  plugin=$build/gst/vmafhip
elif [[ ! -f $plugin/libgstvmafhip.so ]]; then
  die 2 "There is no $plugin/libgstvmafhip.so"
fi
program=$plugin/../../examples/monitor/vmafhip-monitor
if $monitor && [[ ! -x $program ]]; then die 2 "There is no $program"; fi
GST_PLUGIN_PATH=$(cd "$plugin" && pwd)${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
export GST_PLUGIN_PATH

# ---- the videos ---------------------------------------------------------------------------------------

# Debian's package of sample files holds a video as a phone recorded it: 1920x1080, 1.4 s, H.264.
# Copyright 2019 Joao Eriberto Mota Filho, CC-BY-SA-4.0.
fetch_phone_video() { # target file
  local target=$1 cache folder apt
  cache=$(dirname "$target")
  mkdir -p "$cache"
  folder=$(mktemp -d "$cache/download.XXXXXX")
  apt=(apt-get)
  if [[ ! -t 2 ]]; then apt+=(-q); fi
  if ((EUID == 0)); then apt+=(-o APT::Sandbox::User=root); fi
  echo "Fetching the package forensics-samples-files" >&2
  download() { "${apt[@]}" download forensics-samples-files </dev/null; }
  (
    cd "$folder"
    # apt-get shows its progress on a terminal.
    if [[ -t 2 ]]; then exec 3>&2; else exec 3>>log; fi
    if ! download >&3 2>>log; then
      # On a fresh machine apt does not know yet what there is.
      if ((EUID == 0)); then
        apt-get -q update >log 2>&1 </dev/null
        download >&3 2>>log
      else
        false
      fi
    fi
    dpkg-deb -x forensics-samples-files_*.deb files
    mv files/usr/share/forensics-samples/original-files/movie1/VID_20191220_170832.mp4 "$target"
  ) || {
    cat "$folder/log" >&2
    rm -rf "$folder"
    die 2 "The sample video could not be fetched. As root, try 'apt-get update'; or give two videos of your own"
  }
  rm -rf "$folder"
}

if ((${#files[@]} == 0)); then
  reference=$root/.cache/VID_20191220_170832.mp4
  if [[ ! -f $reference ]]; then fetch_phone_video "$reference"; fi
  files=("$reference")
elif ((${#files[@]} == 2)); then
  inspect "${files[1]}"
fi
inspect "${files[0]}"

# ---- live ---------------------------------------------------------------------------------------------

if $monitor; then
  video=${files[0]}
  if [[ $video == "$root/.cache/"* ]]; then
    # Half a minute of it, twenty times the recording, in a size that two cores encode and score as fast as it plays.
    video=$root/.cache/phone-720p-20-times.mkv
    if [[ ! -f $video ]]; then
      echo "Making $video" >&2
      make_scratch
      gst-launch-1.0 -q filesrc "location=$(quote "${files[0]}")" ! qtdemux ! h264parse ! avdec_h264 ! videoscale ! \
        video/x-raw,width=1280,height=720 ! x264enc speed-preset=ultrafast pass=quant quantizer=16 ! h264parse ! matroskamux ! \
        filesink "location=$scratch/once.mkv" </dev/null >&2
      copies=()
      # The queues take their pads of `concat` at once; demuxers, which link when they see a stream, race for them.
      for ((n = 0; n < 20; n++)); do copies+=(filesrc "location=$scratch/once.mkv" ! matroskademux ! queue ! c.); done
      gst-launch-1.0 -q concat name=c ! h264parse ! matroskamux ! filesink "location=$scratch/video.mkv" "${copies[@]}" </dev/null >&2
      mv "$scratch/video.mkv" "$video"
      rm -rf "$scratch"
    fi
    inspect "$video"
  fi
  half=$(awk -v duration="${duration:-20}" 'BEGIN { printf "%.1f", duration / 2 }')
  command=("$program" --ref "$video" --channel quickstart --realtime --loop --model "$model"
    --encode 'x264enc speed-preset=veryfast bitrate=4000' --change "$half bitrate=300" --name x264
    --window 2 --alert-threshold 80 --alert-clear 85 --alert-duration 1 --listen 127.0.0.1:0)
  echo "GST_PLUGIN_PATH=$(printf '%q' "$GST_PLUGIN_PATH") $(printf '%q ' "${command[@]}")"
  echo
  exec "${command[@]}" </dev/null
fi

# ---- the comparison -----------------------------------------------------------------------------------

# With --raw, each stream also goes to a file on its way to the element. Such a sink takes one picture and then waits
# until all sinks have theirs, which the encoder gives away late: its queue has no limit.
ref_tap=(!)
dist_tap=(!)
if [[ -n $raw ]]; then
  mkdir -p "$raw"
  all=(queue max-size-buffers=0 max-size-bytes=0 max-size-time=0)
  ref_tap=(! tee name=r r. ! "${all[@]}" ! filesink "location=$(quote "$raw/ref.yuv")" r. ! queue !)
  dist_tap=(! tee name=d d. ! "${all[@]}" ! filesink "location=$(quote "$raw/dist.yuv")" d. ! queue !)
fi

if ((${#files[@]} == 1)); then
  pipeline=(
    filesrc "location=$(quote "${files[0]}")" ! qtdemux ! h264parse ! avdec_h264 ! tee name=t
    $'\n' t. ! queue "${ref_tap[@]}" v.ref_sink
    $'\n' t. ! queue ! x264enc speed-preset=veryfast bitrate=600 ! h264parse ! avdec_h264 "${dist_tap[@]}" v.dist_sink
  )
else
  pipeline=(
    filesrc "location=$(quote "${files[0]}")" ! decodebin ! videoconvert "${ref_tap[@]}" v.ref_sink
    $'\n' filesrc "location=$(quote "${files[1]}")" ! decodebin ! videoconvert "${dist_tap[@]}" v.dist_sink
  )
fi
pipeline+=($'\n' vmafhip name=v "model=$(quote "$model")")
pipeline+=(! fakesink)
run_pipeline ${duration:+--duration "$duration"}
