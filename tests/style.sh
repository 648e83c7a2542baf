#!/bin/bash
# How the files of this repository are written: C++ as .clang-format says, and no file names a place of the machine
# that it was written on, nor the host of a package registry.
#
#   style.sh [--fix] [SOURCE_ROOT]     --fix formats the C++ files in place
#
# Exit status: 0 good, 1 something to correct, 77 (skipped) without the clang-format that the format is defined by.
set -euo pipefail

fix=false
if [[ ${1:-} == --fix ]]; then
  fix=true
  shift
fi
cd "${1:-$(dirname "$0")/..}"

# Tracked files and new ones that are not ignored; without git, all but the builds'.
list_files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
      if [[ -f $file ]]; then printf '%s\0' "$file"; fi
    done
  else
    find . -name .git -prune -o -path './build*' -prune -o -path ./.cache -prune -o -type f -printf '%P\0'
  fi
}

failed=false

# The brackets keep this file from finding itself.
places='(^|-[IL]|[^[:alnum:]_.$}~-])/(wor[k]|tm[p]|roo[t]|hom[e])(/|[^[:alnum:]_-]|$)'
hosts='(deb|security|ftp|snapshot)[.]debian[.]or[g]|npmjs[.]or[g]|pypi[.]or[g]|pythonhosted[.]or[g]|crates[.]i[o]|golang[.]or[g]|maven[.]or[g]'
if found=$(list_files | xargs -0 grep -nIE -e "$places" -e "$hosts" --); then
  echo "These lines name a place of one machine or a package registry's host:"
  echo "$found"
  failed=true
fi

if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
  if $failed; then exit 1; fi
  echo "clang-format 14 is not here: the format of C++ files was not checked"
  exit 77
fi
# Fitted coefficients are written by a tool, one row a line.
mapfile -d '' -t sources < <(list_files | grep -zE '\.(h|cpp|hip|inc)$' | grep -zv '/surface_data_')
if $fix; then
  clang-format -i -- "${sources[@]}"
elif ! report=$(clang-format --dry-run --Werror -- "${sources[@]}" 2>&1); then
  echo "Not as .clang-format says (tests/style.sh --fix formats them):"
  grep -oE '^[^: ]+:[0-9]+' <<<"$report" | cut -d: -f1 | sort | uniq -c
  failed=true
fi

if $failed; then exit 1; fi
echo "${#sources[@]} C++ files formatted; no file names a machine's places or a registry's host"
