#!/bin/bash
# What is to be shown on a machine with an NVIDIA GPU; run by hand, and recorded in NEWS.md. See --help.
set -uo pipefail

usage() {
  cat <<'END'
usage: tests/gpu.sh [OPTION VALUE]... BUILD_FOLDER

With hip_parity and gpu_dmabuf in BUILD_FOLDER/tests and BUILD_FOLDER/tools/vmafhip-bench, which need nothing but the
driver and tests/golden, and may have been built on another machine:

  meson setup -Dhip=disabled -Dnvidia=enabled -Dnvidia-archs=90 build-gpu
  ninja -C build-gpu tests/hip_parity tests/gpu_dmabuf tools/vmafhip-bench

The steps:

  parity      all golden cases and 200 random ones, bit for bit against the scalar CPU code; its record of each
              extractor is LOGS/record.txt, to become tests/parity/h200.txt if the GPU is one
  two         forty random cases on two GPUs at the same time, in one process; left out where there is one GPU
  dmabuf      pictures that the GPU reads where others have put them, at 2160p: memory that CUDA exports as file
              descriptors, and memfds that are pinned; against pageable and pinned memory
  extractors  frames/s of each extractor alone at 1080p, 8 bits, pictures in GPU memory; and of vmaf_v1.0.16_3d0h
  kernels     what each kernel takes at 1080p, its floors and what limits it, by Nsight Compute's counters; only if it
              is asked for: tests/tools/kernel_floors.py
  speed       vmaf_v0.6.1 at 576x324, 1080p and 2160p, 8 and 10 bits: pictures in GPU memory, and uploaded
  memcheck    six cases under CUDA's compute-sanitizer
  racecheck   two small ones
  initcheck   two small ones

Every step has a time limit, and those after a failed one are done all the same. A summary comes last.

  --seconds N     for all steps together (480)
  --steps A,B     only these
  --logs FOLDER   what the steps print in full (BUILD_FOLDER/gpu-logs)
  --random N      so many random cases (200)
  --seed S        of these (1)
  --device N      the GPU (-1: any)

Exit status: 0 all good, 1 a step failed or could not be done, 2 wrong usage.
END
}

seconds=480 steps=parity,two,dmabuf,extractors,speed,memcheck,racecheck,initcheck logs='' random=200 seed=1 device=-1 build=''
while (($#)); do
  case $1 in
    --seconds | --steps | --logs | --random | --seed | --device)
      printf -v "${1#--}" '%s' "${2:?$1 needs a value}"
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) build=$1 ;;
  esac
  shift
done
parity=$build/tests/hip_parity dmabuf=$build/tests/gpu_dmabuf bench=$build/tools/vmafhip-bench
for program in "$parity" "$dmabuf" "$bench"; do
  if [[ ! -x $program ]]; then
    echo "There is no $program; see --help" >&2
    exit 2
  fi
done
golden=$(cd "$(dirname "$0")" && pwd)/golden
logs=${logs:-$build/gpu-logs}
mkdir -p "$logs"
deadline=$((SECONDS + seconds))
summary=()
failed=false

# Runs a command for at most so many seconds, and as long as there is time at all. Its output goes to a file; its last
# line, or the first that tells of a failure, to the summary.
step() { # name, seconds, command...
  local name=$1 limit=$2 left=$((deadline - SECONDS)) status=0 begin=$SECONDS line
  shift 2
  if ((left < 5)); then
    summary+=("$name: not done, out of time")
    failed=true
    return 1
  fi
  if ((limit > left)); then limit=$left; fi
  timeout --kill-after=5 "$limit" "$@" >"$logs/$name.txt" 2>&1 || status=$?
  line=$(grep -m1 -E '^FAIL |ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9]|not supported|hip_parity: |gpu_dmabuf: FAIL' "$logs/$name.txt" ||
    grep -E 'cases|SUMMARY' "$logs/$name.txt" | tail -n 1 || true)
  case $status in
    0) summary+=("$name: good, $((SECONDS - begin)) s: $line") ;;
    124 | 137) summary+=("$name: STOPPED after $limit s: $line") ;;
    *) summary+=("$name: FAILED, status $status: $line") ;;
  esac
  echo "${summary[-1]}"
  if ((status)); then failed=true; fi
  return "$status"
}

wanted() { [[ ,$steps, == *,$1,* ]]; }

# ---- parity ---------------------------------------------------------------------------------------------

if wanted parity; then
  # It ends by itself in time to say what it has seen.
  limit=$((seconds < 150 ? seconds : 150))
  step parity "$limit" "$parity" --golden "$golden" --device "$device" --random "$random" --seed "$seed" \
    --seconds $((limit > 30 ? limit - 15 : limit / 2 + 1)) --record "$logs/record.txt"
fi

if wanted two; then
  # A number that no GPU has: the error says how many there are.
  gpus=$("$parity" --device 1000 --cases none 2>&1 | sed -n 's/.* has \([0-9]*\) devices, 0 to.*/\1/p')
  if ((${gpus:-1} < 2)); then
    summary+=("two: left out, there is one GPU")
  else
    step two 60 "$parity" --golden "$golden" --device 0,1 --seed "$seed" --seconds 45 \
      --cases "$(seq -s , -f random-%g 0 39)"
  fi
fi

dmabuf_rows=()
if wanted dmabuf; then
  step dmabuf 100 "$dmabuf" --device "$device"
  mapfile -t dmabuf_rows < <(grep -E '^(FAIL|pageable|pinned|imported|registered) ' "$logs/dmabuf.txt")
fi

# ---- speed ----------------------------------------------------------------------------------------------

# The value of a key in a line of JSON.
value() { sed -n "s/.*\"$1\":\"\\{0,1\\}\\([^,}\"]*\\).*/\\1/p" <<<"$2"; }

rows=() extractor_rows=()
measure() { # size, depth, frames, memory, batch
  local size=$1 depth=$2 frames=$3 memory=$4 batch=$5 left=$((deadline - SECONDS)) json status=0 equal
  if ((left < 10)); then
    rows+=("$(printf '%-10s %2s  %-8s %5s  not done, out of time' "$size" "$depth" "$memory" "$batch")")
    failed=true
    return
  fi
  json=$(timeout --kill-after=5 20 "$bench" --backend hip --device "$device" --size "$size" --depth "$depth" \
    --frames "$frames" --warmup $((frames / 10)) "--$memory" --batch "$batch" 2>>"$logs/speed.txt") || status=$?
  echo "$json" >>"$logs/speed.txt"
  if ((status)); then
    rows+=("$(printf '%-10s %2s  %-8s %5s  FAILED, status %d: %s' "$size" "$depth" "$memory" "$batch" "$status" \
      "$(tail -n 2 "$logs/speed.txt" | head -n 1)")")
    failed=true
    return
  fi
  equal=$(value equals_cpu "$json")
  if [[ $equal != true ]]; then failed=true; fi
  rows+=("$(printf '%-10s %2s  %-8s %5s %9.0f  %7.3f %7.3f  %9.4f  %6d  %s' "$size" "$depth" "$memory" "$batch" \
    "$(value fps "$json")" "$(sed -n 's/.*"p50":\([0-9.e-]*\).*/\1/p' <<<"$json")" \
    "$(sed -n 's/.*"p99":\([0-9.e-]*\).*/\1/p' <<<"$json")" "$(value cpu_ms_per_frame "$json")" \
    $(($(value device_kib "$json") / 1024)) "$equal")")
  echo "${rows[-1]}"
}

if wanted speed; then
  : >"$logs/speed.txt"
  # Size, depth, frames for about half a second, batches.
  while read -r size depth frames batches; do
    for memory in resident upload; do
      for batch in $batches; do measure "$size" "$depth" "$frames" "$memory" "$batch"; done
    done
  done <<'END'
576x324 8 30000 0 1 8 32
1920x1080 8 6000 0 1 4 16
1920x1080 10 4000 0 1 4
3840x2160 8 1600 0 1 4
3840x2160 10 1200 0 1 4
END
fi

if wanted extractors; then
  : >"$logs/extractors.txt"
  each=()
  for name in $("$parity" --extractors); do
    each+=("--features $name")
  done
  each+=("--model vmaf_v1.0.16_3d0h")
  for what in "${each[@]}"; do
    left=$((deadline - SECONDS)) status=0
    if ((left < 10)); then
      summary+=("extractors: ${what#* } not done, out of time")
      failed=true
      continue
    fi
    # shellcheck disable=SC2086 # an option and its value
    json=$(timeout --kill-after=5 20 "$bench" --model "" $what --backend hip --device "$device" --resident \
      --size 1920x1080 --depth 8 --frames 100000 --warmup 10 --pictures 3 --seconds 1 2>"$logs/extractor.txt") || status=$?
    cat - "$logs/extractor.txt" <<<"$what: $json" >>"$logs/extractors.txt"
    if ((status)); then
      extractor_rows+=("$(printf '%-18s FAILED, status %d: %s' "${what#* }" "$status" "$(tail -n 1 "$logs/extractor.txt")")")
      failed=true
    else
      equal=$(value equals_cpu "$json")
      if [[ $equal != true ]]; then failed=true; fi
      extractor_rows+=("$(printf '%-18s %9.0f  %7.3f  %9.4f  %6d  %s' "${what#* }" "$(value fps "$json")" \
        "$(sed -n 's/.*"p50":\([0-9.e-]*\).*/\1/p' <<<"$json")" "$(value cpu_ms_per_frame "$json")" \
        $(($(value device_kib "$json") / 1024)) "$equal")")
    fi
    echo "${extractor_rows[-1]}"
  done
fi

if wanted kernels; then
  whats=(vif vif@10 adm adm@10 motion motion@10 'model=vmaf_v0.6.1|vmaf_v0.6.1neg:name=neg')
  for name in $("$parity" --extractors); do
    if [[ $name != vif && $name != adm && $name != motion ]]; then whats+=("$name"); fi
  done
  step kernels 150 python3 "$(dirname "$0")/tools/kernel_floors.py" --seconds 140 --device $((device < 0 ? 0 : device)) \
    "$bench" "$logs/kernels" "${whats[@]}"
  cat "$logs/kernels.txt"
fi

# ---- compute-sanitizer ----------------------------------------------------------------------------------

sanitizer=$(PATH=$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer command -v compute-sanitizer || true)
check() { # tool, seconds, cases, arguments of the tool...
  local tool=$1 limit=$2 cases=$3
  shift 3
  if ! wanted "$tool"; then return; fi
  if [[ -z $sanitizer ]]; then
    summary+=("$tool: not done, there is no compute-sanitizer")
    failed=true
    return
  fi
  step "$tool" "$limit" "$sanitizer" --tool "$tool" --error-exitcode 9 "$@" \
    "$parity" --golden "$golden" --device "$device" --seed "$seed" --frames 2 --cases "$cases"
}
check memcheck 80 tiny64-blur-8,tiny-odd-block-8,odd-freeze-10,cif-blur-16,grain-444-8,noise-422-10
check racecheck 60 tiny64-blur-8,odd-freeze-10
check initcheck 60 tiny64-blur-8,odd-freeze-10

# ---- all of it ------------------------------------------------------------------------------------------

echo
echo "== $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1 || true), $SECONDS s in all"
if ((${#rows[@]})); then
  printf '%-10s %2s  %-8s %5s %9s  %7s %7s  %9s  %6s  %s\n' size '' pictures batch frames/s p50/ms p99/ms CPU-ms MiB 'bits as CPU'
  printf '%s\n' "${rows[@]}"
fi
if ((${#extractor_rows[@]})); then
  printf '%-18s %9s  %7s  %9s  %6s  %s\n' 'alone, 1080p' frames/s p50/ms CPU-ms MiB 'bits as CPU'
  printf '%s\n' "${extractor_rows[@]}"
fi
if ((${#dmabuf_rows[@]})); then printf '%s\n' "${dmabuf_rows[@]}"; fi
if ((${#summary[@]})); then printf '%s\n' "${summary[@]}"; fi
if $failed; then
  echo "NOT all good; $logs has the rest"
  exit 1
fi
echo "all good"
