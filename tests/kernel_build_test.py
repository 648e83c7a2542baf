#!/usr/bin/env python3
"""How kernels are built, without a GPU compiler: which one is found and what is said of it, bundles, the C++ file that
carries them, and the report of their resources. Compilers are small scripts here that know what they are told to know.

    kernel_build_test.py SOURCE_ROOT
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "kernels"))
sys.dont_write_bytecode = True
import compilers  # noqa: E402
from expectations import expect, finish  # noqa: E402


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def clang(path, knows, needs=""):
    """Compiles for the targets `knows`, if one of its arguments is `needs`."""
    script(
        path,
        f"""case "$*" in *--version*) echo "{path.parent.name} clang version 21.0"; exit 0 ;; esac
case "$*" in *"{needs}"*) ;; *) echo "clang: error: cannot find HIP runtime; provide its path" >&2; exit 1 ;; esac
case "$*" in *-fsyntax-only*) exit 0 ;; esac
for target in {' '.join(knows)}; do case " $* " in *" --offload-arch=$target "*) exit 0 ;; esac; done
echo "clang: error: unsupported HIP gpu architecture; give another" >&2
exit 1
""",
    )


def nvcc(path, knows, fails=""):
    script(
        path,
        f"""case "$*" in
  *--list-gpu-code*) for target in {' '.join(knows)}; do echo "sm_$target"; done ;;
  *--version*) echo "Cuda compilation tools, release 12.4, V12.4.131" ;;
  *) {f'echo "nvcc fatal   : {fails}" >&2; exit 1' if fails else 'exit 0'} ;;
esac
""",
    )


def find(folder, vendor, archs, wanted="", **environment):
    """What compilers.py says, word by word, with nothing on the PATH but folder/bin."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    environment = {"PATH": str(folder / "bin"), "ROCM_PATH": "/nowhere", "CUDA_HOME": "/nowhere", **environment}
    done = subprocess.run([sys.executable, ROOT / "kernels/compilers.py", vendor, folder / "probes", wanted, *archs],
                          capture_output=True, text=True, env=environment)  # fmt: skip
    expect(done.returncode == 0 and not done.stderr, f"compilers.py: status {done.returncode}, {done.stderr}")
    return [line.split("\t") for line in done.stdout.splitlines()]


def check_amd(folder):
    # Its own place first, and nothing is told to a compiler that finds everything itself.
    both = folder / "both"
    clang(both / "rocm/llvm/bin/amdclang++", ["gfx900", "gfx942"])
    clang(both / "bin/clang++-19", ["gfx900", "gfx942"])
    found = find(both, "hip", ["gfx900", "gfx942"], ROCM_PATH=str(both / "rocm"))
    expect(found[0][:2] == ["compiler", str(both / "rocm/llvm/bin/amdclang++")], f"ROCm's compiler: {found}")
    expect(found[2:] == [["target", arch, f"--offload-arch={arch}"] for arch in ("gfx900", "gfx942")], f"ROCm: {found}")
    expect("-ffp-contract=off" in found[1], f"contraction is not off: {found[1]}")
    chosen = find(both, "hip", ["gfx900"], "clang++-19", ROCM_PATH=str(both / "rocm"))
    expect(chosen[0][1] == str(both / "bin/clang++-19"), f"the compiler that was named: {chosen}")

    # ROCm's headers and libraries with another clang, which must be told where they are.
    apart = folder / "apart"
    (apart / "rocm").mkdir(parents=True)
    clang(apart / "bin/clang++-20", ["gfx1100"], f"--rocm-path={apart / 'rocm'}")
    found = find(apart, "hip", ["gfx1100", "gfx9999"], ROCM_PATH=str(apart / "rocm"))
    expect(["target", "gfx1100", "--offload-arch=gfx1100", f"--rocm-path={apart / 'rocm'}"] in found, f"apart: {found}")
    expect(["skipped", "gfx9999", "unsupported HIP gpu architecture"] in found, f"unknown target: {found}")

    # The newest that will do.
    several = folder / "several"
    clang(several / "bin/clang++-20", [], "--never")
    clang(several / "bin/clang++-18", ["gfx900"])
    clang(several / "bin/clang++-17", ["gfx900"])
    found = find(several, "hip", ["gfx900"])
    expect(found[0][1] == str(several / "bin/clang++-18"), f"several: {found}")

    for name, words in (("none", ["clang-19", "rocm-device-libs"]), ("useless", ["cannot find HIP runtime"])):
        if name == "useless":
            clang(folder / name / "bin/clang++", [], "--never")
        found = find(folder / name, "hip", ["gfx900"])
        expect(len(found) == 1 and found[0][0] == "missing" and all(word in found[0][1] for word in words), f"{name}: {found}")
    found = find(folder / "none", "hip", ["gfx900"], "clang-99")
    expect("there is no clang-99" in found[0][1], f"named and not there: {found}")

    for arch, version in {"gfx906": 9006, "gfx90a": 9010, "gfx942": 9402, "gfx1036": 10306, "gfx1151": 11501, "gfx1201": 12001}.items():
        expect(compilers.isa_version(arch) == version, f"{arch}: {compilers.isa_version(arch)}")
    expect(compilers.isa_version("gfx9-generic") is None, "a generic target has a version")


def check_nvidia(folder):
    here = folder / "nvidia"
    nvcc(here / "cuda/bin/nvcc", ["75", "80", "90", "100"])
    found = find(here, "nvidia", ["80", "90", "100", "120"], CUDA_HOME=str(here / "cuda"))
    expect(found[0] == ["compiler", str(here / "cuda/bin/nvcc"), "nvcc 12.4"], f"nvcc: {found}")
    for wanted in ("--fmad=false", "-gencode=arch=compute_80,code=compute_80", "-gencode=arch=compute_100,code=compute_100"):
        expect(wanted in found[1], f"nvcc: {wanted} is not in {found[1]}")
    expect(sum("code=compute" in word for word in found[1]) == 2, f"PTX of more than two: {found[1]}")
    expect(["target", "90", "-gencode=arch=compute_90,code=sm_90"] in found, f"nvcc: {found}")
    expect(found[-1][:2] == ["skipped", "120"], f"nvcc: {found}")
    old = folder / "old"
    nvcc(old / "bin/nvcc", ["75"], "Value 'c++20' is not defined for option 'std'")
    found = find(old, "nvidia", ["75"])
    expect(found[0][0] == "missing" and "nvcc 12" in found[0][1] and "c++20" in found[0][1], f"old nvcc: {found}")
    expect(find(folder / "none", "nvidia", ["75"])[0][0] == "missing", "nvcc where there is none")


def check_bundle(folder):
    objects = {"gfx900": b"one" * 1000, "gfx1030": b"two" * 5000}
    arguments = []
    for arch, data in objects.items():
        (folder / arch).write_bytes(data)
        arguments.append(f"{arch}={folder / arch}")
    bundle = folder / "own.hipfb"
    subprocess.run([sys.executable, ROOT / "kernels/bundle.py", bundle, *arguments], check=True)
    data = bundle.read_bytes()
    expect(data[:24] == b"__CLANG_OFFLOAD_BUNDLE__", "a bundle begins otherwise")
    (count,) = struct.unpack_from("<Q", data, 24)
    at, seen = 32, {}
    for _ in range(count):
        start, size, length = struct.unpack_from("<QQQ", data, at)
        name = data[at + 24 : at + 24 + length].decode()
        at += 24 + length
        expect(start % 4096 == 0, f"{name} lies at {start}")
        seen[name] = data[start : start + size]
    expect(seen == {"host-x86_64-unknown-linux--": b"", **{f"hipv4-amdgcn-amd-amdhsa--{arch}": data for arch, data in objects.items()}}, f"bundle: {list(seen)}")  # fmt: skip
    # Where clang's own is installed: the same bytes.
    names = [name for version in range(25, 14, -1) if (name := shutil.which(f"clang-offload-bundler-{version}"))]
    for bundler in names[:1]:
        other = folder / "clang.hipfb"
        targets = ",".join(["host-x86_64-unknown-linux"] + [f"hipv4-amdgcn-amd-amdhsa--{arch}" for arch in objects])
        subprocess.run([bundler, "-type=o", "-bundle-align=4096", f"-targets={targets}", "-input=/dev/null",
                        *(f"-input={folder / arch}" for arch in objects), f"-output={other}"], check=True)  # fmt: skip
        expect(other.read_bytes() == data, f"{bundler} makes another bundle")


def check_images(folder):
    """Compiles what images.py writes, and reads the blobs back."""
    blobs = {"a.amd": b"amd" * 2000, "a.nvidia": b"nvidia", "b.nvidia": b"", "c.amd": b"\0\1\2"}
    folder = folder / 'with "quotes"'
    folder.mkdir()
    arguments = []
    for name, data in blobs.items():
        (folder / name).write_bytes(data)
        arguments += [*name.split("."), folder / name]
    (folder / "main.cpp").write_text(
        """#include <cstdio>
#include "engine/hip/images.h"
void show(const char *stem, const char *vendor, const void *data, size_t size) {
  if (!data) return;
  unsigned sum = 0;
  for (size_t i = 0; i < size; ++i) sum += static_cast<const unsigned char *>(data)[i];
  std::printf("%s.%s %zu %u %zu\\n", stem, vendor, size, sum, reinterpret_cast<size_t>(data) % 4096);
}
int main() {
  for (const vmafhip::hip::Image &i : vmafhip::hip::images()) {
    show(i.stem, "amd", i.amd, i.amd_size);
    show(i.stem, "nvidia", i.nvidia, i.nvidia_size);
  }
}
"""
    )
    for given, wanted in ((arguments, blobs), ([], {})):
        subprocess.run([sys.executable, ROOT / "kernels/images.py", folder / "images.cpp", *given], check=True)
        subprocess.run(["c++", "-std=c++20", "-Wall", "-Werror", "-I", ROOT, "-o", folder / "main", folder / "main.cpp", folder / "images.cpp"], check=True)  # fmt: skip
        shown = subprocess.run([folder / "main"], check=True, capture_output=True, text=True).stdout
        expect(shown == "".join(f"{name} {len(data)} {sum(data)} 0\n" for name, data in wanted.items()), f"images: {shown}")
        stack = [line for line in subprocess.run(["readelf", "-lW", folder / "main"], check=True, capture_output=True, text=True).stdout.splitlines() if "GNU_STACK" in line]  # fmt: skip
        expect(len(stack) == 1 and " RW " in stack[0], f"the stack can be executed: {stack}")


def packed(value):
    """MessagePack, as code objects have it."""
    if isinstance(value, dict):
        return bytes([0x80 | len(value)]) + b"".join(packed(key) + packed(value[key]) for key in value)
    if isinstance(value, list):
        return struct.pack(">BH", 0xDC, len(value)) + b"".join(packed(one) for one in value)
    if isinstance(value, str):
        return struct.pack("BB", 0xD9, len(value)) + value.encode()
    return bytes([value]) if value < 128 else struct.pack(">BI", 0xCE, value)


def code_object(path, arch, **more):
    kernel = {".name": "kernel", ".vgpr_count": 100, ".sgpr_count": 50, ".private_segment_fixed_size": 0, ".vgpr_spill_count": 0,
              ".sgpr_spill_count": 0, ".group_segment_fixed_size": 32768, ".kernarg_segment_size": 300, ".wavefront_size": 32,
              ".max_flat_workgroup_size": 256, **more}  # fmt: skip
    body = packed({"amdhsa.kernels": [kernel], "amdhsa.target": f"amdgcn-amd-amdhsa--{arch}"})
    note = struct.pack("<III", 7, len(body), 32) + b"AMDGPU\0\0" + body
    header = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 64, 3, 224, 1, 0, 0, 64, 0, 64, 0, 0, 64, 1, 0)
    section = struct.pack("<IIQQQQIIQQ", 0, 7, 0, 0, 128, len(note), 0, 0, 4, 0)
    path.write_bytes(header + section + note)
    return path


def check_resources(folder):
    clang19 = "Debian clang version 19.1.7"
    good = code_object(folder / "good.co", "gfx1030")

    def resources(*arguments):
        return subprocess.run([sys.executable, ROOT / "kernels/resources.py", *arguments], capture_output=True, text=True)

    shown = resources(good)
    # 1024 registers are given out by eights: 104 a wave make nine waves. Four groups of eight waves share 128 KiB.
    row = shown.stdout.splitlines()[-1].split()
    expect(row == ["kernel", "gfx1030", "100", "0", "50", "0", "0", "32768", "300", "256", "32", "8"], f"a row of the report: {row}")
    for more, status, words in (
        ({}, 0, "1 kernels for gfx1030: 0 with spills"),
        ({".vgpr_spill_count": 3}, 1, "kernel on gfx1030: 3 registers spilled"),
        ({".sgpr_spill_count": 5}, 1, "5 scalar ones"),
        ({".private_segment_fixed_size": 1000}, 1, "1000 bytes of scratch"),
        # Two blocks of 32 KiB fit a compute unit; of 33,280 bytes in 128 KiB three, which are six waves for each of four SIMDs.
        ({".group_segment_fixed_size": 33280}, 1, "33280 bytes of shared memory, so that 2 blocks do not fit"),
        ({".vgpr_count": 256}, 0, ", 0 of which too few fit"),
        ({".max_flat_workgroup_size": 64, ".group_segment_fixed_size": 32768}, 1, "kernel on gfx1030: 2 waves a SIMD, not 4"),
        ({".name": "speed_blocks", ".max_flat_workgroup_size": 64, ".group_segment_fixed_size": 20992}, 0, "0 of which too few"),
        ({".name": "speed_blocks", ".max_flat_workgroup_size": 64, ".group_segment_fixed_size": 28672}, 1, "2 waves a SIMD, not 3"),
        ({".name": "speed_blocks"}, 1, "which FEWER need no longer excuse"),
    ):
        done = resources("--check", "gfx1030", clang19, code_object(folder / "one.co", "gfx1030", **more))
        expect(done.returncode == status and words in done.stdout, f"{more}: status {done.returncode}, {done.stdout}")
    for archs, compiler, objects, status in (
        ("gfx1030,gfx90a", clang19, [good], 0),
        ("gfx90a", clang19, [code_object(folder / "wide.co", "gfx90a", **{".wavefront_size": 64, ".vgpr_count": 129})], 1),
        ("gfx90a", clang19, [good], 77),
        ("gfx90a", "", [], 77),
        ("gfx1030", "Debian clang version 15.0.6", [good], 77),
        ("gfx1030", "AMD clang version 19.0.0git", [good], 77),
    ):
        done = resources("--check", archs, compiler, *objects)
        expect(done.returncode == status and done.stdout, f"{archs}, {compiler}: status {done.returncode}, {done.stdout}")


with tempfile.TemporaryDirectory() as name:
    for number, check in enumerate((check_amd, check_nvidia, check_bundle, check_images, check_resources)):
        place = pathlib.Path(name) / str(number)
        place.mkdir()
        check(place)
finish()
