#!/bin/bash
# Makes Debian's prometheus and promtool ready for tests, without installing them: their package starts a service that listens
# to the whole network. Prints the folder that they are in.
#
# Downloads the package (19 MB, by apt-get download) and keeps the two (98 MB) in vmafhip/prometheus of the user's cache folder.
# Does nothing if they are installed or there already. Exit status: 0 they are ready, 1 they are not; the last line says why.
set -euo pipefail
# shellcheck source=tests/download.sh
. "$(dirname "$0")/../download.sh"

if installed=$(command -v prometheus) && command -v promtool >/dev/null; then
  dirname "$installed"
  exit
fi
cache=${XDG_CACHE_HOME:-~/.cache}/vmafhip/prometheus
if [[ -x $cache/prometheus && -x $cache/promtool ]]; then
  echo "$cache"
  exit
fi

fail() {
  echo "Prometheus cannot be had: $*" >&2
  exit 1
}
for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || fail "there is no $tool"
done
mkdir -p "$cache" || fail "there can be no folder $cache"
work=$(mktemp -d "$cache/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
if ! download_packages echo prometheus; then
  cat "$work/log" >&2
  fail "apt-get does not download its package"
fi
dpkg-deb --fsys-tarfile "$work"/prometheus_*.deb | tar -x -C "$work" ./usr/bin/prometheus ./usr/bin/promtool
mv "$work"/usr/bin/{prometheus,promtool} "$cache/"
echo "$cache"
