#!/usr/bin/env python3
"""What compiled kernels are made of: instructions by kind, and how many a pixel takes on AMD's GPUs beside NVIDIA's.

    instructions.py OBJECT...                    a row for each kernel and target: its main loop, and all of it
    instructions.py --executed FILE OBJECT...    a table for NEWS.md, which is FILE: of the first table of kernel_floors.py
                                                 in it, the column "a pixel" has what Nsight Compute counted on NVIDIA's GPU

OBJECT: <stem>-<arch>.co of the build for AMD, which llvm-objdump takes apart (--objdump, or the first of OBJDUMPS on the
PATH; 77 if there is none); <stem>.fatbin or a cubin for NVIDIA, of whose machine code for --sm only the opcodes are read.

Nobody can count what AMD's GPUs execute without one. A kernel's instructions stand in its code, and loops and blocks are
the same on all targets, so that
    executed a pixel on AMD = executed a pixel on NVIDIA * counted in AMD's code / counted in NVIDIA's * threads / threads,
where what is counted is the part that COUNTED names, without what pixels seldom take: SELDOM. Threads differ where those of
one target have more columns. It is as good as the assumption that of what both compilers made, the same share is executed;
kernels whose loops they unroll differently are left out.
"""
import argparse
import collections
import pathlib
import re
import shutil
import struct
import subprocess
import sys

OBJDUMPS = ["llvm-objdump-19", "llvm-objdump-20", "llvm-objdump-18", "llvm-objdump-17", "llvm-objdump-16", "llvm-objdump-15",
            "/opt/rocm/llvm/bin/llvm-objdump", "llvm-objdump"]  # fmt: skip
PIXELS = 1920 * 1080
KINDS = ("vector", "scalar", "memory", "shared")

# Kernels and what is counted: all of the code, or loops that are in no other, the longest or all of at least 100 instructions.
COUNTED = [
    (r"vif_scale\d.*", "all"),
    (r"adm_scale\d.*", "longest"),
    (r"motion_(8|16)|ciede_pixels_\d+|cambi_halve_plane|adm_float_low_\d+|vif_float_half_.*|ssimulacra2_colours_\d+", "all"),
    (r"adm_float_(8|16|32)|vif_float_\d+_\d+|motion_float_\d_\d+|psnr_hvs_terms_\d+|ssim_half_\d+", "longest"),
    (r"ssim_integer_terms_\d+|ssimulacra2_(rows|columns)", "loops"),
]
# What marks a way that few pixels take: doubles where others do with integers, samples read one by one at borders, and
# sums too large for those of a warp, which the compiler for AMD adds up lane by lane.
SELDOM = [
    (r"adm_scale\d.*", {"double", "narrow", "lanes"}),
    (r"motion_(8|16)", {"narrow"}),
]
# How often NVIDIA's threads go through what is counted, a pixel of 1920x1080, where grids tell: the check of the method.
PASSES = [
    (r"motion_(8|16)", 8 * 68 * 256),  # blocks of 248 x 16 pixels: kernels/motion_args.h
    (r"vif_scale1(_limits)?", 4 * 68 * 256),  # of 248 x 8: kernels/vif_args.h
    (r"vif_scale2(_limits)?", 2 * 34 * 256),
    (r"ciede_pixels_\d+", 1920 * 1080),
]


# Columns that a thread gives results of, on average, by the lanes of a wave: kernels/adm_args.h.
def columns(kernel, lanes):
    if not kernel.startswith("adm_scale"):
        return 1.0
    each = 1 if lanes == 64 and (kernel[9] != "0" or kernel.endswith("_limits")) else 2
    return each - 4 / lanes


class Instruction:
    """One of either maker. `ends`: nothing comes after it; `jumps`: whether it may go to `target`."""

    def __init__(self, at, kind, marks=(), target=None, ends=False):
        self.at, self.kind, self.marks, self.target, self.ends = at, kind, marks, target, ends


# ---- AMD -------------------------------------------------------------------------------------------------------------


def amd_kind(name):
    if name.startswith("ds_"):
        return "shared"
    if re.match(r"(global|flat|buffer|scratch|image|tbuffer|s_load|s_buffer|s_store|s_dcache|s_memtime)", name):
        return "memory"
    return "vector" if name.startswith("v_") else "scalar"


def amd_marks(name):
    if "f64" in name:
        yield "double"
    if re.match(r"s_(ff1|ctz)_i32", name):
        yield "lanes"
    if re.match(r"(global|flat)_load_(u|s|d16_u|d16_)?(byte|short|i8|u8|i16|u16|b16)|(global|flat)_load_short", name):
        yield "narrow"


def amd_kernels(path, objdump):
    done = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{objdump} {path}: {done.stderr.strip()}")
    arch = re.search(r"-(gfx\w+)\.co$", str(path))
    arch = arch[1] if arch else "gfx?"
    lanes = 64 if arch.startswith("gfx9") else 32
    name, found = None, {}
    for line in done.stdout.splitlines():
        begin = re.match(r"([0-9a-f]+) <(\w+)>:", line)
        if begin:
            name, base = begin[2], int(begin[1], 16)
            found[name] = []
            continue
        one = re.match(r"\t(\S+).*// ([0-9A-Fa-f]+):[0-9A-Fa-f ]*(?:<(\w+)\+0x([0-9a-fA-F]+)>)?", line)
        if not one or name is None:
            continue
        op, target = one[1], None
        if op.startswith(("s_branch", "s_cbranch")):
            target = base + int(one[4], 16) if one[3] == name else None
        found[name].append(Instruction(int(one[2], 16), amd_kind(op), tuple(amd_marks(op)), target,
                                       op.startswith(("s_branch", "s_endpgm", "s_setpc"))))  # fmt: skip
        if op == "s_code_end" or (op == "s_nop" and len(found[name]) > 1 and found[name][-2].ends):  # what pads it
            found[name].pop()
    for kernel, code in found.items():
        if not kernel.startswith("_"):  # functions that kernels call
            yield arch, lanes, kernel, code


# ---- NVIDIA: 128 bits each, of compute capability 7.0 and later. Public disassemblers show the words. ------------------

BRANCH, EXIT, NOP, RETURN = 0x947, 0x94D, 0x918, 0x950
# The low nine bits of opcodes; the rest says where operands are.
NVIDIA_MEMORY = {0x181, 0x186, 0x182, 0x183, 0x187, 0x18E, 0x1A8, 0x1A9, 0x180, 0x185, 0x18A, 0x1A2, 0x1A3}
NVIDIA_SHARED = {0x184, 0x188, 0x18C, 0x18D, 0x189, 0x03B}
NVIDIA_UNIFORM = {0x082, 0x083, 0x086, 0x087, 0x08C, 0x08F, 0x090, 0x091, 0x092, 0x093, 0x094, 0x095, 0x096, 0x097, 0x098,
                  0x099, 0x09A, 0x09B, 0x09C, 0x0A4, 0x0A5, 0x0B9, 0x0BB, 0x0BD, 0x0C2, 0x0C3, 0x141, 0x145, 0x147, 0x148,
                  0x14D, 0x144, 0x150, 0x11D, 0x118, 0x11A}  # fmt: skip
NVIDIA_DOUBLES = {0x028, 0x029, 0x02A, 0x02B}
LOAD = 0x181


def nvidia_code(words):
    for at in range(0, len(words) - 15, 16):
        low, high = struct.unpack_from("<QQ", words, at)
        word = low | high << 64
        op, always = word & 0xFFF, word >> 12 & 15 == 7
        if op == NOP:
            continue
        # Relative to the next instruction, in words of four bytes: the low eight bits apart from the others.
        offset = (word >> 34 & (1 << 48) - 1) << 8 | word >> 16 & 255
        offset -= (offset >> 55) << 56
        short = op & 0x1FF
        kind = ("memory" if short in NVIDIA_MEMORY else "shared" if short in NVIDIA_SHARED
                else "scalar" if short in NVIDIA_UNIFORM else "vector")  # fmt: skip
        marks = []
        if short in NVIDIA_DOUBLES:
            marks.append("double")
        if short == LOAD and word >> 73 & 7 < 4:  # 8 and 16 bits, with sign or without
            marks.append("narrow")
        yield Instruction(at, kind, tuple(marks), at + 16 + 4 * offset if op == BRANCH else None,
                          op in (BRANCH, EXIT) and always or op == RETURN)  # fmt: skip


def nvidia_kernels(path, sm):
    """Kernels of a cubin, or of the cubins in a fatbin that are for compute capability sm / 10."""
    data = pathlib.Path(path).read_bytes()
    at = data.find(b"\x7fELF\x02\x01")
    while at >= 0:
        (machine,) = struct.unpack_from("<H", data, at + 18)
        (table,) = struct.unpack_from("<Q", data, at + 0x28)
        (flags,) = struct.unpack_from("<I", data, at + 0x30)
        size, count, names = struct.unpack_from("<HHH", data, at + 0x3A)
        if machine == 190 and (flags >> 8 & 0xFF if data[at + 7] == 0x41 else flags & 0xFF) == sm:
            sections = [struct.unpack_from("<IIQQQQ", data, at + table + size * i) for i in range(count)]
            for section in sections:
                begin = at + sections[names][4] + section[0]
                name = data[begin : data.index(b"\0", begin)].decode()
                if not name.startswith(".text.") or name[6] == "_":
                    continue
                code = list(nvidia_code(data[at + section[4] : at + section[4] + section[5]]))
                while code and code[-1].target == code[-1].at:  # a branch to itself comes last
                    code.pop()
                places = {one.at for one in code}
                if any(one.target is not None and one.target not in places for one in code):
                    raise ValueError(f"{path}: {name[6:]} branches to where it has no instruction")
                yield f"sm_{sm}", 32, name[6:], code
        at = data.find(b"\x7fELF\x02\x01", at + 1)


# ---- Blocks and loops ------------------------------------------------------------------------------------------------


class Flow:
    def __init__(self, code):
        begins = {code[0].at} | {one.target for one in code if one.target is not None}
        begins |= {after.at for one, after in zip(code, code[1:]) if one.target is not None or one.ends}
        self.blocks = []
        for one in code:
            if one.at in begins:
                self.blocks.append([])
            self.blocks[-1].append(one)
        number = {block[0].at: i for i, block in enumerate(self.blocks)}
        self.after = [[] for _ in self.blocks]
        self.before = [[] for _ in self.blocks]
        for i, block in enumerate(self.blocks):
            last = block[-1]
            to = [number[last.target]] if last.target in number else []
            if not last.ends and i + 1 < len(self.blocks):
                to.append(i + 1)
            for j in to:
                self.after[i].append(j)
                self.before[j].append(i)
        self.leaders = self._leaders()

    def _leaders(self):
        """Of each block, the blocks that all ways to it pass, as bits; of what is never reached, none."""
        everything = (1 << len(self.blocks)) - 1
        leaders, changed = [1] + [everything] * (len(self.blocks) - 1), True
        while changed:
            changed = False
            for i in range(1, len(self.blocks)):
                passed = everything
                for j in self.before[i]:
                    passed &= leaders[j]
                passed |= 1 << i
                changed |= passed != leaders[i]
                leaders[i] = passed
        reached, to_do = set(), [0]
        while to_do:
            i = to_do.pop()
            if i not in reached:
                reached.add(i)
                to_do += self.after[i]
        return [bits if i in reached else 0 for i, bits in enumerate(leaders)]

    def leads(self, i, j):
        return self.leaders[j] >> i & 1

    def loops(self):
        """Blocks of each loop, by its first."""
        loops = {}
        for i, to in enumerate(self.after):
            for head in to:
                if self.leaders[i] and self.leads(head, i):
                    body, to_do = loops.setdefault(head, {head}), [i]
                    while to_do:
                        j = to_do.pop()
                        if j not in body:
                            body.add(j)
                            to_do += self.before[j]
        return loops

    def arms(self, marks):
        """Blocks that are marked, by one in twenty of their instructions, with the nearest arms of branches around them."""
        if not marks:
            return set()
        found = set()
        for i, block in enumerate(self.blocks):
            if not self.leaders[i] or 20 * sum(bool(marks & set(one.marks)) for one in block) < len(block):
                continue
            # The block itself or the nearest leader, whichever a branch may leave out.
            chain = [j for j in range(len(self.blocks)) if self.leads(j, i)]
            chain.sort(key=lambda j: self.leaders[j].bit_count(), reverse=True)
            arm = next((j for j in chain if len(self.before[j]) == 1 and len(self.after[self.before[j][0]]) == 2), None)
            of_arm = set()
            if arm is not None:
                of_arm = {j for j in range(len(self.blocks)) if self.leads(arm, j)}
            # Where two ways meet at the block there is no such arm but one around half of the kernel.
            found |= of_arm if self.size(of_arm) <= 3 * len(block) else {i}
        return found

    def size(self, blocks):
        return sum(len(self.blocks[i]) for i in blocks)

    def count(self, blocks):
        return collections.Counter(one.kind for i in blocks for one in self.blocks[i])


def spec(kernel, table):
    return next((what for pattern, what in table if re.fullmatch(pattern, kernel)), None)


def counted(kernel, flow):
    """The blocks that COUNTED names, and loops in them that work lane by lane or bit by bit once."""
    return part(spec(kernel, COUNTED) or "longest", flow) - flow.arms(spec(kernel, SELDOM) or set())


def part(what, flow):
    loops = flow.loops()
    outermost = [
        body for head, body in loops.items() if not any(head in other and other is not body for other in loops.values())
    ]
    if what == "all" or not outermost:
        return {i for i in range(len(flow.blocks)) if flow.leaders[i]}
    longest = max(outermost, key=flow.size)
    if what == "longest":
        return longest
    return set().union(*(body for body in outermost if flow.size(body) >= 100)) or longest


# ---- Tables ----------------------------------------------------------------------------------------------------------


def executed(path):
    """What the first table with a column for it, the newest, says that kernels execute a pixel; of two rows the last."""
    found = {}
    for line in pathlib.Path(path).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 8 and re.fullmatch(r"`\w+`", cells[1]) and re.fullmatch(r"[\d.]+", cells[6]):
            found[cells[1].strip("`")] = float(cells[6])
        elif found and not line.startswith("|"):
            break
    return found


def show(rows):
    print(f"{'kernel':34} {'target':8} {'all':>6} {'counted':>8}" + "".join(f"{kind:>8}" for kind in KINDS))
    for (kernel, arch), row in sorted(rows.items()):
        print(f"{kernel:34} {arch:8} {row['all']:6} {sum(row['counted'].values()):8}" +
              "".join(f"{row['counted'][kind]:8}" for kind in KINDS))  # fmt: skip


def compare(rows, measured, sm):
    archs = sorted({arch for _, arch in rows if arch.startswith("gfx")}, key=lambda arch: (arch[3] != "9", arch))
    head = ["kernel", f"sm_{sm}: executed a pixel", "counted (a pixel)"]
    head += [f"{arch}: counted (vector, scalar, memory, shared), a pixel" for arch in archs]
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    done = 0
    for kernel, each in measured.items():
        base = rows.get((kernel, f"sm_{sm}"))
        if not spec(kernel, COUNTED) or not base or not all((kernel, arch) in rows for arch in archs):
            continue
        of_base = sum(base["counted"].values())
        cells = []
        for arch in archs:
            row = rows[kernel, arch]
            count = sum(row["counted"].values())
            pixel = each * count / of_base * columns(kernel, base["lanes"]) / columns(kernel, row["lanes"])
            cells.append(f"{count:,} ({', '.join(str(row['counted'][kind]) for kind in KINDS)}), {pixel:.1f}")
        passes = spec(kernel, PASSES)
        there = f"{of_base:,}" + (f" ({of_base * passes / PIXELS:.1f})" if passes else "")
        print(f"| `{kernel}` | {each:.1f} | {there} | " + " | ".join(cells) + " |")
        done += 1
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objdump")
    parser.add_argument("--sm", type=int, default=90)
    parser.add_argument("--executed", metavar="FILE")
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args()
    objdump = options.objdump or next((path for path in map(shutil.which, OBJDUMPS) if path), None)
    rows = {}
    for path in options.objects:
        if path.endswith(".co"):
            if not objdump:
                print("There is no llvm-objdump")
                sys.exit(77)
            found = amd_kernels(path, objdump)
        else:
            found = nvidia_kernels(path, options.sm)
        for arch, lanes, kernel, code in found:
            if code:
                flow = Flow(code)
                rows[kernel, arch] = {"lanes": lanes, "all": len(code), "counted": flow.count(counted(kernel, flow))}
    if options.executed:
        if not compare(rows, executed(options.executed), options.sm):
            print("No kernel of the table is in what was given")
            sys.exit(1)
    else:
        show(rows)


if __name__ == "__main__":
    main()
