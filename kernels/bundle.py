#!/usr/bin/env python3
"""Bundles code objects for AMD GPUs as clang-offload-bundler does, from which HIP's hipModuleLoadData() takes the one
that fits the device.

    bundle.py BUNDLE ARCH=FILE...
"""
import pathlib
import struct
import sys

ALIGNMENT = 4096  # code objects are mapped as they stand


def bundle(objects):
    """`objects`: (arch, bytes) each."""
    # The runtime expects a part for the host, which is empty.
    parts = [("host-x86_64-unknown-linux--", b"")]
    parts += [(f"hipv4-amdgcn-amd-amdhsa--{arch}", data) for arch, data in objects]
    header_size = 24 + 8 + sum(24 + len(name) for name, _ in parts)
    header = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(parts))
    body = bytearray()
    start = -(-header_size // ALIGNMENT) * ALIGNMENT
    for name, data in parts:
        if data:
            body += bytes(-len(body) % ALIGNMENT)
        header += struct.pack("<QQQ", start + len(body), len(data), len(name)) + name.encode()
        body += data
    return header.ljust(start, b"\0") + body


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    objects = [argument.split("=", 1) for argument in sys.argv[2:]]
    pathlib.Path(sys.argv[1]).write_bytes(bundle([(arch, pathlib.Path(file).read_bytes()) for arch, file in objects]))


if __name__ == "__main__":
    main()
