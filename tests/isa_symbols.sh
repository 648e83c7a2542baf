#!/bin/bash
# Code that is compiled for one instruction set must not be picked by the linker, nor run, for another: its objects
# define functions of their own namespace only, nothing weak, and nothing that runs before main().
#
#   isa_symbols.sh libvmafhip_cpu_<isa>[_in_order].a...
set -euo pipefail

failed=false
for library; do
  isa=$(basename "$library" .a)
  isa=${isa#libvmafhip_cpu_}
  isa=${isa%_in_order}
  symbols=$(nm --defined-only --demangle --format=posix "$library" 2>/dev/null)
  if unwanted=$(grep -E '.* [VWvwu]( |$)' <<<"$symbols"); then
    echo "$library defines weak symbols:"
    echo "$unwanted"
    failed=true
  fi
  if unwanted=$(grep -E ' [TDBR]( |$)' <<<"$symbols" | grep -v "^vmafhip::$isa::"); then
    echo "$library defines symbols outside vmafhip::$isa:"
    echo "$unwanted"
    failed=true
  fi
  if readelf --sections --wide "$library" 2>/dev/null | grep -qE '\.(init_array|ctors)'; then
    echo "$library runs code before main()"
    failed=true
  fi
done
if $failed; then exit 1; fi
echo "$# libraries define nothing that another instruction set could meet"
