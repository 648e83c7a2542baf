#!/usr/bin/env python3
"""Writes images.cpp, which carries the compiled kernels: engine/hip/images.h.

    images.py OUTPUT [STEM VENDOR FILE]...     VENDOR: amd or nvidia
"""
import json
import os
import sys

HEAD = """// Compiled kernels. Written by kernels/images.py.
#include "engine/hip/images.h"

"""
# Read-only and page-aligned, as code objects want it; visible in this library alone. The NUL ends PTX.
BLOB = """asm(R"(
.pushsection .rodata.{symbol},"a",%progbits
.balign 4096
.globl {symbol}, {symbol}_end
.hidden {symbol}, {symbol}_end
.type {symbol}, %object
{symbol}:
.incbin {file}
{symbol}_end:
.size {symbol}, . - {symbol}
.byte 0
.popsection
)");
extern "C" [[gnu::visibility("hidden")]] const char {symbol}[], {symbol}_end[];

"""


def main():
    if len(sys.argv) < 2 or (len(sys.argv) - 2) % 3:
        sys.exit(__doc__)
    images = {}
    for at in range(2, len(sys.argv), 3):
        stem, vendor, file = sys.argv[at : at + 3]
        images.setdefault(stem, {})[vendor] = file
    text, rows = HEAD, []
    for stem, files in images.items():
        row = [f'"{stem}"']
        for vendor in ("amd", "nvidia"):
            if vendor in files:
                symbol = f"vmafhip_{stem}_{vendor}"
                text += BLOB.format(symbol=symbol, file=json.dumps(os.path.abspath(files[vendor])))
                row += [symbol, f"size_t({symbol}_end - {symbol})"]
            else:
                row += ["nullptr", "0"]
        rows.append("      {" + ", ".join(row) + "},\n")
    text += "namespace vmafhip::hip {\n\nstd::span<const Image> images() {\n"
    if rows:
        text += "  static const Image images[] = {\n" + "".join(rows) + "  };\n  return images;\n"
    else:
        text += "  return {};\n"
    text += "}\n\n}  // namespace vmafhip::hip\n"
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
