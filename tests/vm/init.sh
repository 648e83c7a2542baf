#!/bin/busybox sh
# shellcheck shell=dash disable=SC2154 # variables named after ports
# The first process of the VM that run_in_vm.sh starts: makes the host's root file system the guest's own, with a
# throw-away layer on top; loads the modules of /modules.wanted; runs /command, whose output goes to the port "output"
# and whose exit status to the port "status"; switches off.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev

fail() {
  echo "init: $*"  # to the console, of which run_in_vm.sh shows the end
  poweroff -f
}

load() { # module, its options...
  module=$1
  shift
  while read -r file; do
    name=${file%.ko}
    if [ -d "/sys/module/$(echo "$name" | tr - _)" ]; then continue; fi
    if [ "$name" = "$module" ]; then insmod "/modules/$file" "$@"; else insmod "/modules/$file"; fi ||
      fail "the module $file does not load"
  done <"/modules/$module.files" || fail "there is no module $module"
}
for module in virtio_pci 9pnet_virtio 9p overlay virtio_console; do load "$module"; done

options=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o "$options,ro,cache=loose" root /lower || fail "the host's root file system is not to be had"
mount -t tmpfs -o size=80% upper /upper
mkdir /upper/files /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work root /new || fail "no overlay"
mkdir -p /new/proc /new/sys /new/dev /new/run /new/tmp
mount -t proc proc /new/proc
mount -t sysfs sysfs /new/sys
mount -t tracefs tracefs /new/sys/kernel/tracing
mount -t devtmpfs dev /new/dev
mkdir -p /new/dev/shm /new/dev/pts
mount -t tmpfs shm /new/dev/shm
mount -t devpts pts /new/dev/pts
mount -t tmpfs run /new/run
ln -s /proc/self/fd /new/dev/fd
ip link set lo up

for port in /sys/class/virtio-ports/vport*; do
  read -r name <"$port/name"
  eval "$name=/dev/${port##*/}"
done

read -r folder </folder.wanted
mkdir -p "/new$folder"
mount -t 9p -o "$options" folder "/new$folder" || fail "$folder is not to be had"
while read -r module; do
  # shellcheck disable=SC2086 # options are words
  load $module
done </modules.wanted

cp /command /new/run/command
echo started >"$status"
chroot /new /bin/bash /run/command >"$output" 2>&1 </dev/null
echo "status $?" >"$status"
sync
poweroff -f
