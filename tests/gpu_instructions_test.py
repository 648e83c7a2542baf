#!/usr/bin/env python3
"""tests/tools/instructions.py: on code that is known, from an llvm-objdump that is a small script here and from a cubin made
here; and on what the build made of three files, if it made kernels.

    gpu_instructions_test.py SOURCE_ROOT [OBJECT...]
"""
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
OBJECTS = [path for path in sys.argv[2:] if re.match(r"(adm|ciede|motion)(-gfx\w+)?\.", pathlib.Path(path).name)]
sys.path.insert(0, str(ROOT / "tests/tools"))
sys.dont_write_bytecode = True
import instructions  # noqa: E402
from expectations import expect, finish  # noqa: E402


def run(*words):
    done = subprocess.run([sys.executable, ROOT / "tests/tools/instructions.py", *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


# A loop of seven behind two, of which three are an arm that loads bytes; then what ends it and what pads it.
AMD = """
t.co:	file format elf64-amdgpu

Disassembly of section .text:

0000000000001000 <adm_scale0_8>:
	s_mov_b32 s0, 0                                            // 000000001000: BE800080
	v_mov_b32_e32 v0, 0                                        // 000000001004: 7E000280
	v_add_u32_e32 v0, 1, v0                                    // 000000001008: 68000081
	s_cbranch_execz 3                                          // 00000000100C: BF880003 <adm_scale0_8+0x20>
	global_load_ubyte v1, v0, s[0:1]                           // 000000001010: DC408000
	global_load_ubyte v1, v0, s[0:1]                           // 000000001018: DC408000
	ds_write_b32 v0, v1                                        // 00000000101E: D81A0000
	s_add_i32 s0, s0, 1                                        // 000000001020: 81008100
	s_cbranch_scc1 65529                                       // 000000001024: BF85FFF9 <adm_scale0_8+0x8>
	global_store_dword v0, v1, s[0:1]                          // 000000001028: DC708000
	s_endpgm                                                   // 000000001030: BF810000
	s_code_end                                                 // 000000001034: BF9F0000
	s_code_end                                                 // 000000001038: BF9F0000

0000000000001100 <_helper>:
	s_setpc_b64 s[30:31]                                       // 000000001100: BE801D1E
"""


def word(op, always=True, target=None, at=0, bits=0):
    value = op | (7 if always else 0) << 12 | bits
    if target is not None:
        offset = (target - at - 16) // 4 & (1 << 56) - 1
        value |= (offset & 255) << 16 | offset >> 8 << 34
    return struct.pack("<QQ", value & (1 << 64) - 1, value >> 64)


def cubin(sm=90, kernel="adm_scale0_8"):
    """The same for NVIDIA, of which the loop has six: no masks are kept there."""
    load = word(0x981)  # of a byte
    code = [word(0x202), word(0x210), word(0x947, False, 6 * 16, 2 * 16), load, load, word(0x988), word(0x810),
            word(0x947, False, 1 * 16, 7 * 16), word(0x986, bits=4 << 73), word(0x94D), word(0x947, True, 160, 160),
            word(0x918)]  # fmt: skip
    code = b"".join(code)
    names = b"\0.shstrtab\0.text." + kernel.encode() + b"\0"
    size = 64
    header = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x41, 8, 2, 190, 1, 0, 0, 64 + len(code) + len(names),
                         sm << 8, 64, 0, 0, size, 3, 1)  # fmt: skip
    sections = [(0, 0, 0, 0), (1, 3, 64 + len(code), len(names)), (11, 1, 64, len(code))]
    table = [struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, length, 0, 0, 1, 0) for name, kind, at, length in sections]
    return header + code + names + b"".join(table)


# The first table counts, and of two rows in it the last.
NEWS = """
| of | kernel | us | bytes | issue | reached % | a pixel | busiest |
|---|---|---|---|---|---|---|---|
| all | `adm_scale0_8` | 10.15 | 1.30 | 5.88 | 58 | 91.0 | issue 58 %, warps 22 % |
| all | all | 10.15 | | | | | 100 pairs/s |
| adm | `adm_scale0_8` | 10.15 | 1.30 | 5.88 | 58 | 90.0 | issue 58 %, warps 22 % |
| adm | all | 10.15 | | | | | 100 pairs/s |
| vif | `vif_scale2` | 2.19 | 0.14 | 1.10 | 50 | 17.5 | multiplier 53 %, warps 31 % |

Before:

| of | kernel | us | bytes | issue | reached % | a pixel | busiest |
|---|---|---|---|---|---|---|---|
| adm | `adm_scale0_8` | 20.15 | 1.30 | 5.88 | 29 | 180.0 | issue 29 %, warps 22 % |
"""


def check_known(folder):
    objdump, amd, nvidia = folder / "objdump", folder / "t-gfx1030.co", folder / "t.fatbin"
    objdump.write_text(f"#!/bin/sh\ncat <<'END'\n{AMD}END\n")
    objdump.chmod(0o755)
    amd.write_text("")
    nvidia.write_bytes(b"a fatbin" + cubin(80) + cubin(90))
    status, text, error = run("--objdump", str(objdump), str(amd), str(nvidia))
    rows = [line.split() for line in text.splitlines()[1:]]
    # All of it; of the loop but the arm: all, vector, scalar, memory, shared.
    expect(status == 0 and rows == [["adm_scale0_8", "gfx1030", "11", "4", "1", "3", "0", "0"],
                                    ["adm_scale0_8", "sm_90", "10", "4", "2", "2", "0", "0"]], f"rows: {text}{error}")  # fmt: skip
    (folder / "NEWS.md").write_text(NEWS)
    table = ["--objdump", str(objdump), "--executed", str(folder / "NEWS.md")]
    status, text, error = run(*table, str(amd), str(nvidia))
    expect(status == 0 and "| `adm_scale0_8` | 90.0 | 4 | 4 (1, 3, 0, 0), 90.0 |" in text, f"a table: {text}{error}")
    expect("vif_scale2" not in text, f"a kernel that is not in what was given: {text}")
    wide = folder / "t-gfx90a.co"
    wide.write_text("")
    status, text, _ = run(*table, str(wide), str(nvidia))
    # 60 columns of 32 threads there, 124 of 64 here.
    expect(f"), {90 * (60 / 32) / (124 / 64):.1f} |" in text, f"more columns a wave: {text}")
    # All ten are counted of this one, and how often its blocks go through them is known.
    nvidia.write_bytes(cubin(kernel="vif_scale2"))
    _, text, error = run("--executed", str(folder / "NEWS.md"), str(nvidia))
    passes = 2 * 34 * 256 / (1920 * 1080)
    expect(f"| `vif_scale2` | 17.5 | 10 ({10 * passes:.1f}) |" in text, f"counted a pixel: {text}{error}")
    status, text, _ = run("--sm", "75", str(nvidia))
    expect(len(text.splitlines()) == 1, f"code for other GPUs: {text}")
    broken = bytearray(cubin())
    broken[64 + 2 * 16 + 4 : 64 + 2 * 16 + 6] = b"\xfc\x01"
    nvidia.write_bytes(broken)
    expect("branches to where it has no instruction" in run(str(nvidia))[2], "a branch to nowhere")


def check_built():
    if any(path.endswith(".co") for path in OBJECTS) and not any(map(shutil.which, instructions.OBJDUMPS)):
        return print("There is no llvm-objdump: what was built is not looked at")
    status, text, error = run(*OBJECTS)
    rows = [line.split() for line in text.splitlines()[1:]]
    expect(status == 0 and len(rows) > 15, f"status {status}, {len(rows)} rows: {error}")
    for row in rows:
        expect(0 < int(row[3]) <= int(row[2]) and sum(map(int, row[4:])) == int(row[3]), f"a row: {row}")


with tempfile.TemporaryDirectory() as name:
    check_known(pathlib.Path(name))
if OBJECTS:
    check_built()
finish()
