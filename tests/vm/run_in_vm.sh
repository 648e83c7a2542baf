#!/bin/bash
# Runs a command on a Debian kernel, for tests that need kernel devices which the machine may lack. See --help.
set -uo pipefail

usage() {
  cat <<'END_USAGE'
usage: tests/vm/run_in_vm.sh [--module 'NAME [OPTION=VALUE]...']... [--seconds N] COMMAND [ARGUMENT...]

Runs the command as root in a VM, on what prepare.sh has made ready, with two processors and 1 GiB of memory. There it
finds all files of this machine, the same environment and the same current folder. What it writes to that folder stays;
what it writes elsewhere is gone afterwards. It has no network. Its output appears here when it ends.

  --module   load a module, with options: vgem, vivid
  --seconds  so long may the VM run (300)

Without a processor that this machine virtualises (KVM) it is emulated: the kernel is up after some seconds, and all is ten
times slower or more.

Exit status: the command's; 77, which Meson takes for "skipped", if no VM is to be had here, with the reason as the last
line; 124 if it took too long, 125 if the VM broke down while the command ran.
END_USAGE
}

seconds=300 modules=()
while (($#)); do
  case $1 in
    --module) modules+=("${2:?--module needs a name}") && shift 2 ;;
    --seconds) seconds=${2:?--seconds needs a number} && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
  esac
done
if (($# == 0)); then usage >&2 && exit 2; fi

skip() {
  echo "There is no VM: $*"
  exit 77
}
here=$(cd "$(dirname "$0")" && pwd)
cache=$("$here/prepare.sh" --print)
command -v qemu-system-x86_64 >/dev/null || skip "qemu-system-x86_64 is not installed"
[[ -f $cache/ready ]] || skip "tests/vm/prepare.sh was not run, or could not prepare one"

# What changes from run to run comes as a second archive behind the one that is kept.
files=$(mktemp -d) || exit 125
qemu=
trap 'if [[ $qemu ]]; then kill "$qemu"; fi 2>/dev/null; rm -rf "$files"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$files/root"
cp "$here/init.sh" "$files/root/init"
chmod +x "$files/root/init"
pwd -P >"$files/root/folder.wanted"
: >"$files/root/modules.wanted"
for module in "${modules[@]}"; do echo "$module" >>"$files/root/modules.wanted"; done
{
  export -p
  printf 'cd %q && exec' "$(pwd -P)"
  printf ' %q' "$@"
} >"$files/root/command"
{ cat "$cache/initramfs" && (cd "$files/root" && find . | "$cache/busybox" cpio -o -H newc 2>/dev/null); } >"$files/initramfs"

# Runs QEMU until it ends. False: the command was not started.
boot() { # accelerator, processor
  local status=0 begin=$SECONDS folder
  folder=$(pwd -P)
  : >"$files/status"
  qemu-system-x86_64 -accel "$1" -cpu "$2" -smp 2 -m 1024 -M q35 -nodefaults -no-user-config -display none -no-reboot \
    -serial "file:$files/console" -kernel "$cache/kernel" -initrd "$files/initramfs" \
    -append 'console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check random.trust_cpu=on mitigations=off audit=0' \
    -virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
    -virtfs "local,path=${folder//,/,,},mount_tag=folder,security_model=none,multidevs=remap" \
    -device virtio-serial-pci \
    -chardev "file,id=output,path=$files/output" -device virtserialport,chardev=output,name=output \
    -chardev "file,id=status,path=$files/status" -device virtserialport,chardev=status,name=status \
    </dev/null >"$files/qemu" 2>&1 &
  qemu=$!
  while kill -0 "$qemu" 2>/dev/null; do
    # Some machines have a KVM on which only other kernels run: this one hangs before it says anything.
    if [[ $1 == kvm && ! -s $files/status ]] && ((SECONDS - begin > 10)); then kill "$qemu"; fi
    if ((SECONDS - begin >= seconds)); then kill "$qemu" && status=124; fi
    sleep 0.1
  done 2>/dev/null
  wait "$qemu"
  qemu=
  if ! grep -q started "$files/status"; then return 1; fi
  cat "$files/output"
  if ((status)); then
    echo "The VM was stopped after $seconds s"
  elif ! status=$(sed -n 's/^status //p' "$files/status") || [[ -z $status ]]; then
    tail -n 30 "$files/console"
    echo "The VM broke down"
    status=125
  fi
  exit "$status"
}

if [[ -w /dev/kvm ]]; then boot kvm host; fi
boot tcg,thread=multi max
tail -n 5 "$files/qemu" "$files/console"
skip "QEMU could not start one"
