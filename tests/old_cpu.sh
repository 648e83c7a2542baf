#!/bin/bash
# On processors without AVX-512, or without AVX at all, the engine starts, chooses what is there and gives the same bits:
# nothing compiled for a wider instruction set runs before the choice.
#
#   old_cpu.sh vmafhip-bench
set -euo pipefail

bench=${1:?usage: old_cpu.sh vmafhip-bench}
if [[ $(uname -m) != x86_64 ]]; then
  echo "only for x86-64"
  exit 77
fi
if ! command -v qemu-x86_64 >/dev/null; then
  echo "qemu-x86_64 is not here (package qemu-user)"
  exit 77
fi

field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
run() { "$@" "$bench" --size 70x50 --depth 10 --model vmaf_v0.6.1 --threads 2 --frames 3 --warmup 0; }

here=$(run env VMAFHIP_ISA=scalar)
wanted=$(field checksum <<<"$here")
[[ -n $wanted ]]
status=0
for machine in Nehalem:scalar Haswell:avx2; do
  there=$(run qemu-x86_64 -cpu "${machine%:*}" 2>/dev/null) || {
    echo "fails on ${machine%:*}"
    status=1
    continue
  }
  isa=$(field isa <<<"$there") checksum=$(field checksum <<<"$there")
  if [[ $isa != "${machine#*:}" || $checksum != "$wanted" ]]; then
    echo "${machine%:*}: instruction set $isa, should be ${machine#*:}; checksum $checksum, should be $wanted"
    status=1
  else
    echo "${machine%:*}: $isa, same bits"
  fi
done
exit "$status"
