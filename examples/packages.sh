# For scripts of this repository that need Debian packages: source it, then
#
#   need_packages NAME...
#
# Installs those that are missing, by apt-get as root or through sudo where it asks no password. Where neither is
# possible it prints the command that would do it and ends the script with status 2. Touches nothing, and needs
# no network, when nothing is missing. On a system without dpkg it trusts that the tools are there.
# shellcheck shell=bash disable=SC2034

# What it takes to build the element.
build_packages=(
  g++ meson ninja-build pkgconf python3
  nlohmann-json3-dev libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev
)
# What it takes to compile the GPU kernels for AMD; 110 MB to fetch, 350 MB installed.
hip_packages=(clang-19 lld-19 rocm-device-libs libamdhip64-dev)
# Tools, demuxers, decoders and the encoder that the examples use.
run_packages=(
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-base-apps gstreamer1.0-plugins-good
  gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav
)
# What vmafhip-monitor takes beyond both; 17 MB to fetch.
monitor_packages=(libsoup-3.0-dev prometheus-cpp-dev zlib1g-dev libjs-chart.js)

need_packages() {
  command -v dpkg-query >/dev/null || return 0
  local package missing=() as_root=()
  for package; do
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
      missing+=("$package")
    fi
  done
  if ((${#missing[@]} == 0)); then return 0; fi

  if ((EUID != 0)); then
    if ! sudo -n true 2>/dev/null; then
      echo "These packages are missing; install them and start again:"
      echo "  sudo apt-get install --no-install-recommends ${missing[*]}"
      exit 2
    fi >&2
    as_root=(sudo -n)
  fi
  echo "Installing ${missing[*]}" >&2
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  if ! "${apt[@]}" update </dev/null >&2 ||
    ! "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >&2; then
    echo "apt-get could not install ${missing[*]}" >&2
    exit 2
  fi
}
