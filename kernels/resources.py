#!/usr/bin/env python3
"""What compiled kernels take of a GPU: a table, or a check that none spills and that enough of them fit.

    resources.py [--nvcc ROOT NVCC ARCH SOURCE,...] OBJECT...
    resources.py --check ARCH,... COMPILER OBJECT...

OBJECT: a code object for AMD (<stem>-<arch>.co of the build), which tells by itself what its kernels take. For NVIDIA
the sources are compiled once more, as only ptxas tells (and counts spills in bytes). --check: exit status 1 if a kernel
for one of these targets spills registers or has scratch memory, or if a SIMD holds fewer than WAVES of its waves, or the
memory of a compute unit fewer than BLOCKS of its blocks, but for what FEWER says; 77 if none of them was built, or not by clang 19, the one
that kernels are tuned with (COMPILER: what it says of itself).
"""
import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys

# As LLVM's AMDGPUBaseInfo.cpp has them: target, size of a wave in which registers are counted, vector registers that a
# SIMD has for all its waves, how many are given out at a time, most waves.
REGISTER_FILES = [
    (r"gfx90a|gfx942", 64, 512, 8, 8),
    (r"gfx9\w\w", 64, 256, 4, 10),
    (r"gfx103\w", 32, 1024, 8, 16),
    (r"gfx1102|gfx1103", 32, 1024, 16, 16),
    (r"gfx11\w\w|gfx12\w\w", 32, 1536, 24, 16),
]
# A wave waits for memory while others work: four do for what is between loads here.
WAVES, BLOCKS = 4, 2
LOCAL, LOCAL_GRANULE = 65536, 512  # memory that blocks of a compute unit share, bytes
# Kernels and targets that have fewer of either, how many, and why; None: enough. Whoever makes one of them better says so here.
_TILE = "rows of floats are summed up from left to right, so that a block walks along a band with its columns in memory"
FEWER = [
    (r"adm_float_(power_)?(8|16|32)|ansnr_rows_\d+|vif_float_(17|any|9|5|3)_\d+", "gfx90a", 1, 1, _TILE),
    (r"adm_float_(power_)?(8|16|32)|ansnr_rows_\d+", "gfx1.*", None, 1, _TILE),
    (r"vif_float_(17|any|9|5|3)_\d+", "gfx1.*", None, 1, _TILE),
    (r"motion_float_[135]_\d+", "gfx90a", 2, 2, _TILE),
    (r"cambi_count_.*", "gfx90a", 1, 2, "a warp counts the codes of its strip in memory of its own"),
    (r"psnr_hvs_terms_8", "gfx90a", 3, 2, "a thread has a block of 8 x 8 and its transform in registers"),
    (r"psnr_hvs_terms_16", "gfx90a", 2, 2, "as of 8 bits"),
    (r"speed_blocks", "gfx90a", 1, 2, "a thread solves a system of 25 equations in memory; there are few of them"),
    (r"speed_blocks", "gfx1.*", 3, 2, "as on gfx90a"),
    (r"speed_covariance", "gfx90a", 2, 2, "a run of samples at all offsets is in memory, in doubles"),
    (r"ssim_windows_.*", "gfx90a", 3, 2, "blocks of five waves: three of them are 3.75 waves a SIMD"),
    (r"ssim_total", "gfx90a", 2, 2, "one thread adds; there are few blocks"),
    (r"ssim_integer_terms_8", "gfx90a", 1, 2, "column sums of a tile and its terms, in doubles, are in memory"),
    (r"ssim_integer_terms_16", "gfx90a", 1, 1, "as of 8 bits"),
    (r"ssim_integer_terms_16", "gfx1.*", 3, 1, "as of 8 bits"),
    (r"ssimulacra2_(rows|columns)", "gfx90a", 2, 2, "recursive filters walk along rows that are brought there in tiles"),
    (r"ssimulacra2_more_rows", "gfx90a", 1, 2, "the same of fewer lines"),
    (r"vif_scale0_16|vif_scale\d(_8|_16)?_limits", "gfx90a", 3, 2, "column sums of two words, or two gain limits"),
]


def unpack(data, at):
    """One value of MessagePack, as far as code objects use it, and where it ends."""

    def text(size, at):
        return data[at : at + size].decode(), at + size

    def array(size, at):
        values = []
        for _ in range(size):
            value, at = unpack(data, at)
            values.append(value)
        return values, at

    def dictionary(size, at):
        values, at = array(2 * size, at)
        return dict(zip(values[::2], values[1::2])), at

    def number(form, at):
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)

    kind, at = data[at], at + 1
    if kind <= 0x7F:
        return kind, at
    if kind <= 0x8F:
        return dictionary(kind & 15, at)
    if kind <= 0x9F:
        return array(kind & 15, at)
    if kind <= 0xBF:
        return text(kind & 31, at)
    if kind >= 0xE0:
        return kind - 256, at
    if kind in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[kind], at
    numbers = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
    if kind in numbers:
        return number(numbers[kind], at)
    sized = {0xD9: (">B", text), 0xDA: (">H", text), 0xDB: (">I", text), 0xDC: (">H", array), 0xDD: (">I", array),
             0xDE: (">H", dictionary), 0xDF: (">I", dictionary)}  # fmt: skip
    if kind not in sized:
        raise ValueError(f"byte {kind:#x} of MessagePack")
    form, read = sized[kind]
    size, at = number(form, at)
    return read(size, at)


def metadata(path):
    """The note of an ELF file in which AMD's compiler describes its kernels."""
    data = pathlib.Path(path).read_bytes()
    if data[:4] != b"\x7fELF" or data[4] != 2:
        raise ValueError(f"{path} is no code object")
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    for section in range(count):
        kind, _, _, at, length = struct.unpack_from("<IQQQQ", data, table + section * size + 4)
        end = at + length
        while kind == 7 and at < end:  # SHT_NOTE
            name_size, size_of, note = struct.unpack_from("<III", data, at)
            at += 12
            name = data[at : at + name_size]
            at += -(-name_size // 4) * 4
            if name == b"AMDGPU\0" and note == 32:
                return unpack(data, at)[0]
            at += -(-size_of // 4) * 4
    raise ValueError(f"{path} describes no kernels")


def waves(arch, kernel):
    """Waves a SIMD can hold of this kernel, or None for a target that is not in the table."""
    for pattern, wave, registers, granule, most in REGISTER_FILES:
        if not re.fullmatch(pattern, arch):
            continue
        # A wave of 64 takes two registers of a file for waves of 32.
        used = max(1, kernel["vector"]) * kernel["wave"] // wave
        by_registers = registers // (-(-used // granule) * granule)
        group = -(-kernel["threads"] // kernel["wave"])
        units = 1 if wave == 64 else 2  # of four SIMDs
        by_local = most if not kernel["local"] else max(1, blocks(kernel, units) * group // 4)
        return min(most, by_registers, by_local)
    return None


def blocks(kernel, units=1):
    """Blocks for which so many compute units have memory."""
    return units * LOCAL // (-(-max(1, kernel["local"]) // LOCAL_GRANULE) * LOCAL_GRANULE)


def shortfalls(row):
    """What a kernel has too few of, in words."""
    least = next(((least_waves, least_blocks) for kernel, arch, least_waves, least_blocks, _ in FEWER
                  if re.fullmatch(kernel, row["name"]) and re.fullmatch(arch, row["arch"])), None)  # fmt: skip
    waves_here, blocks_here = row["waves"], min(BLOCKS, blocks(row))
    least_waves, least_blocks = least or (None, None)
    if waves_here is not None and waves_here < (least_waves or WAVES):
        yield f"{waves_here} waves a SIMD, not {least_waves or WAVES}"
    if blocks_here < (least_blocks or BLOCKS):
        yield f"{row['local']} bytes of shared memory, so that {least_blocks or BLOCKS} blocks do not fit a compute unit"
    if least_waves and waves_here >= WAVES or least_blocks and least_blocks < BLOCKS <= blocks_here:
        yield f"{waves_here} waves a SIMD and {blocks_here} blocks a compute unit, which FEWER need no longer excuse"


def amd_kernels(path):
    about = metadata(path)
    arch = about["amdhsa.target"].split("-")[-1].split(":")[0]
    for kernel in about.get("amdhsa.kernels", []):
        row = {
            "arch": arch,
            "name": kernel[".name"],
            "vector": max(kernel[".vgpr_count"], kernel.get(".agpr_count", 0)),
            "scalar": kernel[".sgpr_count"],
            "spills": kernel.get(".vgpr_spill_count", 0),
            "scalar_spills": kernel.get(".sgpr_spill_count", 0),
            "scratch": kernel[".private_segment_fixed_size"],
            "local": kernel[".group_segment_fixed_size"],
            "arguments": kernel[".kernarg_segment_size"],
            "wave": kernel[".wavefront_size"],
            "threads": kernel[".max_flat_workgroup_size"],
        }
        row["waves"] = waves(arch, row)
        yield row


def nvidia_kernels(nvcc, arch, root, source):
    command = [nvcc, "-x", "cu", "-cubin", f"-arch=sm_{arch}", "-O3", "-std=c++20", "--fmad=false", "--expt-relaxed-constexpr",
               "-Xptxas", "-v", "-I", root, "-o", os.devnull, source]  # fmt: skip
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    text = done.stdout + done.stderr
    for part in re.split(r"Compiling entry function ", text)[1:]:
        name = re.match(r"'(\w+)'", part)[1]
        stack, stores, loads = (int(n) for n in re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part).groups())  # fmt: skip
        used = re.search(r"Used (\d+) registers", part)
        shared = re.search(r"(\d+) bytes smem", part)
        yield {"arch": f"sm_{arch}", "name": name, "vector": int(used[1]), "spills": stores + loads, "scratch": stack,
               "local": int(shared[1]) if shared else 0, "wave": 32}  # fmt: skip


def show(rows):
    columns = {"kernel": "name", "target": "arch", "registers": "vector", "spilled": "spills", "scalar": "scalar",
               "spilled ": "scalar_spills", "scratch": "scratch", "shared": "local", "argument": "arguments", "threads": "threads", "wave": "wave",
               "waves/SIMD": "waves"}  # fmt: skip
    table = [list(columns)]
    table += [["" if row.get(key) is None else str(row[key]) for key in columns.values()] for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
    for line in table:
        print("  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))).rstrip())


def check(rows, archs, compiler):
    archs = archs.split(",")
    found = {row["arch"] for row in rows} & set(archs)
    if not found:
        print(f"No kernels were built for {', '.join(archs)}")
        sys.exit(77)
    if not re.match(r"(?!AMD).*clang version 19\.", compiler):
        print(f"Kernels are checked for spills with clang 19; these are of {compiler}")
        sys.exit(77)
    bad = [row for row in rows if row["arch"] in archs and (row["spills"] or row["scalar_spills"] or row["scratch"])]
    for row in bad:
        print(f"{row['name']} on {row['arch']}: {row['spills']} registers spilled, {row['scalar_spills']} scalar ones, "
              f"{row['scratch']} bytes of scratch memory")  # fmt: skip
    few = [(row, what) for row in rows if row["arch"] in archs for what in shortfalls(row)]
    for row, what in few:
        print(f"{row['name']} on {row['arch']}: {what}")
    checked = sum(row["arch"] in archs for row in rows)
    print(f"{checked} kernels for {', '.join(sorted(found))}: {len(bad)} with spills or scratch memory, {len(few)} of which too few fit")
    for arch in sorted(set(archs) - found):
        print(f"Not built, and not checked: {arch}")
    sys.exit(1 if bad or few else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs=2, metavar=("ARCH,...", "COMPILER"))
    parser.add_argument("--nvcc", nargs=4, metavar=("ROOT", "NVCC", "ARCH", "SOURCE,..."))
    parser.add_argument("objects", nargs="*")
    options = parser.parse_args()
    rows = [row for path in options.objects for row in amd_kernels(path)]
    if options.check:
        check(rows, *options.check)
    if options.nvcc:
        root, nvcc, arch, sources = options.nvcc
        rows += [row for source in sources.split(",") for row in nvidia_kernels(nvcc, arch, root, source)]
    show(sorted(rows, key=lambda row: row["name"]))


if __name__ == "__main__":
    main()
