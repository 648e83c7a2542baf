#!/bin/bash
# Makes ready what run_in_vm.sh boots: a Debian kernel, and the modules of it that give dma-bufs. See --help.
set -euo pipefail
# shellcheck source=tests/download.sh
. "$(dirname "$0")/../download.sh"

usage() {
  cat <<'END_USAGE'
usage: tests/vm/prepare.sh [--print]

Downloads the packages busybox-static and the one that linux-image-amd64 depends on (70 MB, by apt-get download: nothing
is installed) and keeps what a VM needs of them in $VMAFHIP_VM_CACHE, or else in vmafhip/vm of the user's cache folder
(76 MB). Does nothing if that is there already. With --print it only prints the folder's name.

Exit status: 0 it is ready, 1 it is not; the last line says why.
END_USAGE
}

cache=${VMAFHIP_VM_CACHE:-${XDG_CACHE_HOME:-~/.cache}/vmafhip/vm}
case ${1:-} in
  '') ;;
  --print)
    echo "$cache"
    exit
    ;;
  -h | --help)
    usage
    exit
    ;;
  *)
    usage >&2
    exit 1
    ;;
esac

fail() {
  echo "No VM can be prepared: $*" >&2
  exit 1
}

# What the kernel is told before it sees the host's files, and what tests may ask for.
modules=(virtio_pci 9pnet_virtio 9p overlay virtio_console vgem vivid)

mkdir -p "$cache" || fail "there can be no folder $cache"
exec {lock}>"$cache/lock"
flock "$lock"
# Another list of modules, another way to unpack: all is made anew.
version=$(cksum <"$0")
if [[ -f $cache/ready && $(<"$cache/ready") == "$version" ]]; then exit; fi
rm -f "$cache/ready"

PATH=$PATH:/usr/sbin:/sbin
for tool in apt-get dpkg-deb depmod modprobe xz; do
  command -v "$tool" >/dev/null || fail "there is no $tool"
done
work=$(mktemp -d "$cache/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

# ---- the packages -----------------------------------------------------------------------------

packages() {
  local kernel
  kernel=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
  [[ $kernel ]] && echo "$kernel" busybox-static
}
if ! download_packages packages; then
  cat "$work/log" >&2
  fail "apt-get does not download the packages (linux-image-amd64's, busybox-static)"
fi
package=$(echo "$work"/linux-image-*.deb)

# Unpacking all of it would be 400 MB.
mkdir "$work/files"
dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work/files" --wildcards --no-anchored \
  'boot/vmlinuz-*' 'modules.builtin*' 'modules.order' kernel/{fs,lib,crypto} kernel/net/9p \
  kernel/drivers/{char,dma-buf,gpu/drm,i2c,media,video,virtio} 2>>"$work/log" || true
kernel=$(echo "$work"/files/boot/vmlinuz-*)
release=${kernel##*/vmlinuz-}
dpkg-deb --fsys-tarfile "$work"/busybox-static_*.deb | tar -x -C "$work/files" --transform 's|.*/||' --wildcards '*bin/busybox'
busybox=$work/files/busybox
if [[ -d $work/files/usr/lib ]]; then mv "$work/files/usr/lib" "$work/files/lib"; fi
[[ -f $kernel && -d $work/files/lib/modules/$release && -x $busybox ]] || fail "${package##*/} is not laid out as expected"

# ---- the kernel -------------------------------------------------------------------------------

# It unpacks itself from xz, which takes seconds where a processor is emulated. QEMU starts one that is unpacked, too.
cp "$kernel" "$work/kernel"
while IFS=: read -r at _; do
  tail -c +$((at + 1)) "$kernel" | xz -dc --single-stream >"$work/unpacked" 2>/dev/null || true
  if [[ $(head -c 4 "$work/unpacked" | tail -c 3) == ELF ]]; then
    mv "$work/unpacked" "$work/kernel"
    break
  fi
done < <(LC_ALL=C grep -obUaP '\xfd7zXZ\x00' "$kernel")

# ---- the first root file system: busybox and the modules --------------------------------------

depmod -b "$work/files" "$release"
root=$work/root
mkdir -p "$root"/{bin,modules,proc,sys,dev,lower,upper,new}
cp "$busybox" "$root/bin/busybox"
for module in "${modules[@]}"; do
  # Files of a module, those that it depends on first.
  mapfile -t files < <(modprobe -d "$work/files" -S "$release" --show-depends "$module" 2>>"$work/log" |
    sed -n 's/^insmod \([^ ]*\).*/\1/p')
  ((${#files[@]})) || fail "${package##*/} has no module $module"
  for file in "${files[@]}"; do
    name=${file##*/}
    case $name in
      *.xz) name=${name%.xz} && xz -dc "$file" >"$root/modules/$name" ;;
      *) cp "$file" "$root/modules/" ;;
    esac
    echo "$name"
  done >"$root/modules/$module.files"
done
(cd "$root" && find . | "$busybox" cpio -o -H newc) >"$work/initramfs" 2>>"$work/log"

mv "$work/kernel" "$work/initramfs" "$busybox" "$cache/"
echo "$version" >"$cache/ready"
echo "A VM is prepared in $cache: $release"
