#!/usr/bin/env python3
"""Copies of sources with one fault each, to see that the tests' ways of looking catch it (check.cpp).

    faults.py --list                              a line a fault: name, kind, source, features, what catches it, separated by tabs
    faults.py --check SOURCE_ROOT                 exit status 1 if a text to be replaced is not there, or is there more than once
    faults.py NAME SOURCE_ROOT OUTPUT DEPFILE     writes the copy; without the fault, which a test will miss, if --check fails

Faults of kernels are seeded in a copy of tests/hipsim/<stem>_kernels.cpp and of all of kernels/ that it includes, in one
file, for a simulated runtime of its own. Faults of the host's code are seeded in a copy of one file of engine/hip.
"""
import pathlib
import re
import sys

VIF = "vif=vif_enhn_gain_limit=1.2"
# Kernels that the check does not launch, or can do without: with empty bodies, as compiling them takes long.
VIF_UNUSED = r"vif_scale0_16|vif_\w+_several|vif_halve_\w+"

# name: (source, file with the fault, features that the check compares, what catches it, text, replacement)
# What catches it: "differs", scores other than the CPU's, or else a part of what the simulated runtime reports.
FAULTS = {
    "host_pointer": (
        "engine/hip/vif.cpp", "engine/hip/vif.cpp", VIF, "a host pointer?",
        "args.log_table = address_cast<const uint16_t>(log_table_.address());",
        "args.log_table = {reinterpret_cast<uint64_t>(&args)};"),
    "tap_off_by_one": (
        "tests/hipsim/motion_kernels.cpp", "kernels/motion.hip", "motion", "differs",
        "motion_filter(v[k], v[k + 1], v[k + 2], v[k + 3], v[k + 4], 16)",
        "motion_filter(v[k], v[k + 1], v[k + 2], v[k + 3], v[k + 3], 16)"),
    "missing_barrier": (
        "tests/hipsim/motion_kernels.cpp", "kernels/motion.hip", "motion", "differs",
        "  }\n  gpu_sync();\n\n  // 16 pixels",
        "  }\n\n  // 16 pixels"),
    "transposed_arguments": (
        "engine/hip/motion.cpp", "engine/hip/motion.cpp", "motion", "kernel motion_8, block (",
        "args.width = format_.width;\n    args.height = format_.height;",
        "args.width = format_.height;\n    args.height = format_.width;"),
    "float_for_double": (
        "tests/hipsim/vif_kernels.cpp", "kernels/vif_statistics.h", VIF, "differs",
        "  double gain = cross / (ref + kVifEpsilon);",
        "  double gain = static_cast<float>(cross / (ref + kVifEpsilon));"),
    "no_decimation": (
        "tests/hipsim/vif_kernels.cpp", "kernels/vif_filter.h", VIF, "differs",
        "  if constexpr (kScale < 3) vif_halve<kScale, kReference>(args, pair, tile, x0, y0);\n",
        ""),
    "wrong_border": (
        "tests/hipsim/motion_kernels.cpp", "kernels/tile.h", "motion", "differs",
        "at = at >= size ? 2 * (size - 1) - at : at;",
        "at = at >= size ? 2 * size - 1 - at : at;"),
    "chroma_not_copied": (
        "engine/hip/ring.cpp", "engine/hip/ring.cpp", "vif=enable_chroma=true", "differs",
        "if (!from.data || is_read_there(from, here)) continue;",
        "if (!from.data || n > 0 || is_read_there(from, here)) continue;"),
    "wrong_stride": (
        "engine/hip/vif.cpp", "engine/hip/vif.cpp", VIF, "differs",
        "static_cast<int64_t>(stride(sizes_[p].width >> scale)) * int64_t{sizeof(uint16_t)}};",
        "static_cast<int64_t>(stride(sizes_[p].width >> scale))};"),
    "uninitialised_accumulator": (
        "tests/hipsim/motion_kernels.cpp", "kernels/motion.hip", "motion", "differs",
        "if (gpu_lane() == 0) warp_sums[thread / gpu_warp_size()] = warp_sum;",
        "if (gpu_lane() == 0) warp_sums[thread / gpu_warp_size()] += warp_sum;"),
    "missing_wait": (
        "engine/hip/accelerator.cpp", "engine/hip/accelerator.cpp", "motion", "differs",
        "  ring_->wait(main, lane.uploaded);\n",
        ""),
}

INCLUDE = re.compile(r'^#include "((?:kernels|tests/hipsim)/[^"]+\.(?:h|hip))"\n', re.MULTILINE)


class Seeding:
    def __init__(self, name, root):
        self.source, self.faulty, _, _, self.old, self.new = FAULTS[name]
        self.root = root
        self.read_files = []
        self.problems = []
        self.text = self.read(self.source)
        if self.source.startswith("tests/"):
            self.text = self.expand(self.text)
        if self.faulty not in self.read_files:
            self.problems.append(f"{self.source} does not include {self.faulty}")
        if self.source == "tests/hipsim/vif_kernels.cpp":
            self.text, count = re.subn(rf"^VIF_KERNEL(?:_OF_SEVERAL)?\(({VIF_UNUSED}), .*\)$", r"GPU_KERNEL void \1(VifArgs) {}",
                                       self.text, flags=re.MULTILINE)
            if count < 2:
                self.problems.append(f"{self.source}: no kernels of the names {VIF_UNUSED}")
            for call in ("vif_matrix<__VA_ARGS__>(args);", "vif_matrix_amd<__VA_ARGS__>(args);"):
                self.text = self.replace(self.text, call, "(void)args;", self.source)

    def replace(self, text, old, new, file):
        if text.count(old) == 1:
            return text.replace(old, new)
        self.problems.append(f"{file}: this is there {text.count(old)} times, not once: {old}")
        return text

    def read(self, file):
        self.read_files.append(file)
        text = (self.root / file).read_text(encoding="utf-8")
        return self.replace(text, self.old, self.new, file) if file == self.faulty else text

    # In place of each include of kernels/, the file, once.
    def expand(self, text):
        def include(match):
            file = match.group(1)
            if not file.startswith("kernels/"):
                return match.group(0)
            if file in self.read_files:
                return ""
            return self.expand(self.read(file).replace("#pragma once\n", ""))
        return INCLUDE.sub(include, text)


def main():
    if sys.argv[1:] == ["--list"]:
        for name, (source, _, features, catches, _, _) in FAULTS.items():
            kind = "kernel" if source.startswith("tests/") else "host"
            print(name, kind, source, features, catches, sep="\t")
    elif len(sys.argv) == 3 and sys.argv[1] == "--check":
        found = False
        for name in FAULTS:
            for problem in Seeding(name, pathlib.Path(sys.argv[2])).problems:
                print(f"The fault {name} can no longer be seeded; tests/faults/faults.py has to follow. {problem}")
                found = True
        sys.exit(1 if found else 0)
    elif len(sys.argv) == 5 and sys.argv[1] in FAULTS:
        root, output, depfile = (pathlib.Path(path) for path in sys.argv[2:])
        seeding = Seeding(sys.argv[1], root)
        for problem in seeding.problems:
            print(problem, file=sys.stderr)
        output.write_text(seeding.text, encoding="utf-8")
        files = " ".join(str(root / file).replace(" ", "\\ ") for file in seeding.read_files)
        depfile.write_text(f"{output}: {files}\n", encoding="utf-8")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
