# To be sourced by scripts that take files out of Debian's packages without installing them.

# Packages are downloaded into the folder $work; what is said of it goes to $work/log. Names are those that a command prints,
# as what apt-get knows of the archive may be too old, or nothing: then it is brought up to date and they are asked for again.
download_packages() {
  try_download "$@" || { update_lists && try_download "$@"; }
}

try_download() {
  local names
  # shellcheck disable=SC2154 # $work, of the script
  names=$("$@") && (cd "$work" && xargs apt-get -q -o APT::Sandbox::User=root download <<<"$names") >>"$work/log" 2>&1
}

update_lists() {
  local as_root=()
  if ((EUID != 0)); then as_root=(sudo -n); fi
  "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 update >>"$work/log" 2>&1
}
