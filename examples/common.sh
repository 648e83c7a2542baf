# What the shell examples share: source it. Looks after the element, the videos' durations, and runs a pipeline with its
# scores and progress shown.
# shellcheck shell=bash disable=SC2034,SC2154

examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$examples")

# What programs print is read here: in English, with decimal points.
export LC_ALL=C.UTF-8
unset LANGUAGE

die() { # status, message
  printf '%s\n' "$2" >&2
  exit "$1"
}

# Reads a command line: `--NAME VALUE` sets the variable NAME, -h prints usage(), all else becomes `arguments`.
parse() { # names that there are, in one word, the command line...
  local known=" $1 " name
  shift
  arguments=()
  while (($#)); do
    case $1 in
      -h | --help)
        usage
        exit 0
        ;;
      --)
        shift
        arguments+=("$@")
        break
        ;;
      -*)
        name=${1#--}
        if [[ $known != *" $name "* ]]; then die 2 "unknown option $1; see --help"; fi
        if (($# < 2)); then die 2 "$1 needs a value; see --help"; fi
        printf -v "$name" '%s' "$2"
        shift
        ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
}

# Ends the script unless GStreamer finds the element, here or where the quickstart builds it, and these further ones.
need_elements() { # names...
  if ! command -v gst-launch-1.0 >/dev/null; then die 2 "gst-launch-1.0 is missing: install gstreamer1.0-tools"; fi
  local name folder=$root/build/gst/vmafhip
  if ! gst-inspect-1.0 vmafhip >/dev/null 2>&1; then
    if [[ ! -f $folder/libgstvmafhip.so ]]; then
      die 2 "GStreamer does not find the element vmafhip: build it with ./examples/quickstart.sh, or set GST_PLUGIN_PATH"
    fi
    export GST_PLUGIN_PATH=$folder${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  fi
  for name; do
    if gst-inspect-1.0 --exists "$name"; then continue; fi
    # shellcheck source=examples/packages.sh
    . "$examples/packages.sh"
    die 2 "GStreamer lacks the element $name here; Debian has what the examples use in ${run_packages[*]}"
  done
}

# Ends the script unless the variable is a whole number, of at least 1 if nothing else is said.
need_number() { # name of the variable and its option, the least
  local least=${2:-1}
  if [[ ! ${!1} =~ ^[0-9]{1,9}$ ]] || ((10#${!1} < least)); then die 2 "--$1 needs a whole number, $least or more; see --help"; fi
}

# Sets `encoder_words` to those of `encoder`, or ends the script if GStreamer lacks one of its elements.
split_encoder() {
  local word before=!
  read -rd '' -a encoder_words <<<"$encoder" || true
  if ((${#encoder_words[@]} == 0)); then die 2 "--encoder needs an element; see --help"; fi
  for word in "${encoder_words[@]}"; do
    if [[ $before == ! && $word =~ ^[a-z][a-z0-9_]*$ ]]; then need_elements "$word"; fi
    before=$word
  done
}

need_file() {
  if [[ ! -f $1 || ! -r $1 ]]; then die 3 "There is no file $1 that can be read"; fi
}

# Sets `duration` (seconds, empty if unknown) of a video that can be decoded, or ends the script.
inspect() { # file
  local file=$1 report
  need_file "$file"
  if [[ $file == -* ]]; then file=./$file; fi # no option
  report=$(gst-discoverer-1.0 "$file" 2>&1 </dev/null || true)
  if ! grep -q '^ *video #' <<<"$report"; then
    if grep -qiE 'missing plugin|^ *unknown #' <<<"$report"; then
      die 3 "$file: GStreamer lacks a decoder for it here:"$'\n'"$(grep -iE -A3 'missing plugin|unknown #' <<<"$report")"
    fi
    die 3 "$file: there is no video in it that GStreamer can read$(grep -A1 'An error' <<<"$report" | tail -n 1 | sed 's/^ */: /')"
  fi
  duration=$(sed -nE 's/^ *Duration: ([0-9]+):([0-9]+):([0-9.]+)$/\1 \2 \3/p' <<<"$report" | head -n 1 |
    awk '$1 < 99 { printf "%.3f", $1 * 3600 + $2 * 60 + $3 }')
}

# Four seconds of moving rings, for those who have no video at hand.
make_test_video() { # file, kbit/s
  gst-launch-1.0 -q videotestsrc pattern=zone-plate kx2=20 ky2=20 kt=1 num-buffers=100 ! \
    video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! x264enc speed-preset=veryfast bitrate="$2" ! h264parse ! mp4mux ! \
    filesink location="$1" </dev/null >&2
}

# A folder that goes when the script ends.
make_scratch() {
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
}

# Checks that `arguments` are videos, as many as the script wants, or none: then it makes them, in a falling quality.
# Sets `duration` to the first one's.
take_videos() { # number wanted, what they are called in an error
  local rates=(4000 100) n
  if ((${#arguments[@]} == 0)); then
    need_elements x264enc h264parse mp4mux
    make_scratch
    for ((n = 0; n < $1; n++)); do
      arguments+=("$scratch/video-${rates[n]}k.mp4")
      make_test_video "${arguments[n]}" "${rates[n]}"
    done
  elif ((${#arguments[@]} != $1)); then
    die 2 "Give $2, or nothing; see --help"
  fi
  for ((n = $1 - 1; n >= 0; n--)); do inspect "${arguments[n]}"; done
}

# A value as gst-launch-1.0 takes it: quoted if it is not plain.
quote() {
  local value=$1
  if [[ ! $value =~ ^[A-Za-z0-9_./=:+,@%-]+$ ]]; then
    value=${value//\\/\\\\}
    value="\"${value//\"/\\\"}\""
  fi
  printf '%s' "$value"
}

# Becomes gst-launch-1.0, which gets SIGINT after `seconds` if that is set, and SIGKILL if it then does not end. Not by
# `timeout gst-launch-1.0`: that passes Ctrl-C on to a process that has had it from the terminal, and the second one ends it at once.
launch() { # arguments of gst-launch-1.0...
  if [[ ${seconds:-} ]]; then
    local gst=$BASHPID
    (
      trap '' INT
      # Ends with the process it waits for.
      await() { timeout "$1" tail --pid="$gst" -f /dev/null || [[ $? != 124 ]]; }
      await "$seconds" || { kill -INT "$gst" && await 30; } || kill -KILL "$gst"
    ) </dev/null >/dev/null 2>&1 &
  fi
  exec gst-launch-1.0 "$@"
}

# Prints `pipeline`, whose branches begin with $'\n', as it would be typed, and runs it, for `seconds` if that is set.
# Ends the script if it fails or at Ctrl-C, after the scores of what was compared.
run_pipeline() { # options of scores.py...
  local command=() line=' ' word
  echo "GST_PLUGIN_PATH=$(printf '%q' "${GST_PLUGIN_PATH:-}") gst-launch-1.0 -m -e \\"
  for word in "${pipeline[@]}"; do
    if [[ $word == $'\n' ]]; then
      printf '%s \\\n' "$line"
      line='   '
    else
      command+=("$word")
      line+=" $([[ $word == ! ]] && echo ! || printf '%q' "$word")"
    fi
  done
  printf '%s\n\n' "$line"

  local interrupted=false status=0
  trap 'interrupted=true' INT
  # -e: Ctrl-C, or the end of the time, lets the element finish what it has.
  launch -m -e "${command[@]}" </dev/null | python3 "$examples/scores.py" "$@" || status=$?
  trap - INT
  if $interrupted; then exit 130; fi
  if ((status != 0)); then die 1 "The comparison failed"; fi
}
