#!/usr/bin/env python3
"""Finds a compiler for GPU kernels, and what it can compile for.

    compilers.py hip FOLDER COMPILER ARCH...      AMD: clang, on its own or as part of ROCm
    compilers.py nvidia FOLDER COMPILER ARCH...   NVIDIA: nvcc

COMPILER is a path or a name; if it is empty, the usual places are searched. FOLDER, in the build, takes probes, and
device libraries where the installed ones have to be completed. Prints lines of words separated by tabs:

    missing TEXT                  none will do, and what would help
    compiler PATH VERSION         what follows is of this one
    arguments all ARGUMENT...     for every kernel
    target ARCH ARGUMENT...       it compiles for this one, with these arguments besides
    skipped ARCH REASON           it does not
"""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

# No contraction of a * b + c: scores are defined to the last bit. Code objects of version 4 are read by all of ROCm 5
# and later.
HIP_ARGUMENTS = ["-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-O3", "-std=c++20", "-ffp-contract=off",
                 "-mcode-object-version=4", "-Wall", "-Wextra"]  # fmt: skip
# Quotients and roots are rounded correctly, and subnormal numbers kept, which is clang's default, too. As in clang,
# constexpr functions are for host and device. Pragmas of GCC's are not for nvcc.
NVIDIA_ARGUMENTS = ["-x", "cu", "-O3", "-std=c++20", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true",
                    "--expt-relaxed-constexpr", "--diag-suppress=1675", "-Xptxas", "--warn-on-spills"]  # fmt: skip

HIP_HELP = (
    "AMD kernels need clang 15 or newer with lld, HIP's headers and device libraries: install ROCm, or on Debian 12 "
    "clang-19 lld-19 rocm-device-libs libamdhip64-dev"
)
NVIDIA_HELP = "NVIDIA kernels need nvcc 12 or newer, of NVIDIA's CUDA toolkit, on the PATH or below CUDA_HOME or /usr/local/cuda"

# Without any header, so that probing a dozen targets takes a second.
HIP_PROBE = 'extern "C" __attribute__((global)) void probe(unsigned long long *p) { *p += 1; }\n'
HIP_HEADER_PROBE = "#include <hip/hip_runtime.h>\n"
NVIDIA_PROBE = 'extern "C" __global__ void probe(unsigned long long *p) { atomicAdd(p, threadIdx.x); }\n'


def say(*words):
    print("\t".join(str(word).replace("\t", " ").replace("\n", " ") for word in words))


def run(*command):
    """(worked, what it printed)."""
    try:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=120)  # fmt: skip
        return done.returncode == 0, done.stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, f"error: {error}"


def reason(output):
    """The first complaint of a compiler."""
    for line in output.splitlines():
        if "error" in line or "fatal" in line:
            return re.sub(r"^.*?(?:fatal )?error *: *", "", line).split("; ")[0].strip()
    return output.strip().splitlines()[-1].strip() if output.strip() else "it fails without a word"


def executables(names):
    """Those that there are, each once, whatever it is called."""
    seen = set()
    for name in names:
        path = shutil.which(name)
        if path and os.path.realpath(path) not in seen:
            seen.add(os.path.realpath(path))
            yield path


# ---- AMD


def rocm_folders():
    folder = os.environ.get("ROCM_PATH") or "/opt/rocm"
    return [folder] if os.path.isdir(folder) else []


def clangs(wanted):
    if wanted:
        return executables([wanted])
    names = [f"{rocm}/{place}" for rocm in rocm_folders()
             for place in ("llvm/bin/amdclang++", "lib/llvm/bin/amdclang++", "llvm/bin/clang++", "lib/llvm/bin/clang++")]  # fmt: skip
    return executables(names + ["amdclang++"] + [f"clang++-{version}" for version in range(25, 14, -1)] + ["clang++"])


def isa_version(arch):
    """The number by which device libraries know a target: gfx90a is 9.0.10, gfx1151 is 11.5.1."""
    digits = re.fullmatch("gfx([0-9]+)([0-9a-f])([0-9a-f])", arch)
    return int(digits[1]) * 1000 + int(digits[2], 16) * 100 + int(digits[3], 16) if digits else None


def completed_libraries(clang, libraries, folder, archs):
    """A folder with those libraries and, for each target that is younger than they are, the one that is specific to
    the target: a constant. (Debian 12 has device libraries of 2022.)"""
    target_folder = folder / "device-libraries"
    target_folder.mkdir(parents=True, exist_ok=True)
    for library in pathlib.Path(libraries).glob("*.bc"):
        link = target_folder / library.name
        if not link.is_symlink() or os.readlink(link) != str(library):
            link.unlink(missing_ok=True)
            link.symlink_to(library)
    for arch in archs:
        bitcode, version = target_folder / f"oclc_isa_version_{arch[3:]}.bc", isa_version(arch)
        if version is None or bitcode.is_symlink():
            continue
        source = bitcode.with_suffix(".ll")
        source.write_text(
            'target triple = "amdgcn-amd-amdhsa"\n'
            "@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 "
            f"{version}, align 4\n"
        )
        run(clang, "-x", "ir", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-emit-llvm", "-c", source, "-o", bitcode)
    return target_folder


def hip_configurations(clang, folder, archs):
    """Arguments that may make the compiler find headers and libraries, the most natural ones first."""
    yield []
    for rocm in rocm_folders():
        yield [f"--rocm-path={rocm}"]
    if os.path.isfile("/usr/include/hip/hip_runtime.h"):
        for libraries in sorted(glob.glob("/usr/lib*/amdgcn/bitcode") + glob.glob("/usr/lib/*/amdgcn/bitcode")):
            yield ["--rocm-path=/usr", f"--rocm-device-lib-path={libraries}"]
            completed = completed_libraries(clang, libraries, folder, archs)
            yield ["--rocm-path=/usr", f"--rocm-device-lib-path={completed}"]


def hip_targets(clang, folder, archs):
    """Target -> arguments, target -> why not."""
    header, probe = folder / "header_probe.hip", folder / "probe.hip"
    header.write_text(HIP_HEADER_PROBE)
    probe.write_text(HIP_PROBE)
    targets, reasons = {}, {}
    for configuration in hip_configurations(clang, folder, archs):
        worked, output = run(clang, *HIP_ARGUMENTS, *configuration, "--offload-arch=gfx900", "-nogpulib", "-fsyntax-only",
                             header)  # fmt: skip
        for arch in archs:
            if arch in targets:
                continue
            if not worked:
                reasons.setdefault(arch, reason(output))
            else:
                compiled, output = run(clang, *HIP_ARGUMENTS, *configuration, f"--offload-arch={arch}", "-nogpuinc",
                                       "-o", os.devnull, probe)  # fmt: skip
                if compiled:
                    targets[arch] = configuration
                else:
                    reasons[arch] = reason(output)
        if len(targets) == len(archs):
            break
    return targets, reasons


def find_hip(folder, wanted, archs):
    failures = []
    for clang in clangs(wanted):
        targets, reasons = hip_targets(clang, folder, archs)
        if targets:
            say("compiler", clang, run(clang, "--version")[1].splitlines()[0])
            # clang 15 knows __device__ and its like only from there, and headers of engine/arith may come first.
            say("arguments", "all", *HIP_ARGUMENTS, "-include", "hip/hip_runtime.h")
            for arch in archs:
                if arch in targets:
                    say("target", arch, f"--offload-arch={arch}", *targets[arch])
                else:
                    say("skipped", arch, reasons[arch])
            return
        failures.append(f"{clang}: {next(iter(reasons.values()), 'no target was asked for')}")
    if wanted and not failures:
        failures.append(f"there is no {wanted}")
    say("missing", HIP_HELP + (f" ({'; '.join(failures)})" if failures else ""))


# ---- NVIDIA


def nvccs(wanted):
    if wanted:
        return executables([wanted])
    return executables(["nvcc", (os.environ.get("CUDA_HOME") or "/usr/local/cuda") + "/bin/nvcc"])


def find_nvidia(folder, wanted, archs):
    probe = folder / "probe.cu"
    probe.write_text(NVIDIA_PROBE)
    failures = []
    for nvcc in nvccs(wanted):
        known = set(re.findall(r"\bsm_(\w+)", run(nvcc, "--list-gpu-code")[1]))
        targets = [arch for arch in archs if arch in known]
        if not targets:
            failures.append(f"{nvcc}: it knows none of {', '.join(archs)}")
            continue
        worked, output = run(nvcc, *NVIDIA_ARGUMENTS, "-cubin", f"-arch=sm_{targets[0]}", "-o", folder / "probe.cubin", probe)
        if not worked:
            failures.append(f"{nvcc}: {reason(output)}")
            continue
        say("compiler", nvcc, "nvcc " + "".join(re.findall(r"release ([\d.]+)", run(nvcc, "--version")[1])))
        # Machine code runs on its own generation alone. PTX, which the driver translates: of the highest, so that later
        # generations get all that we know to use; of the lowest, for what lies in between.
        ends = sorted(targets, key=lambda arch: int(re.match("[0-9]+", arch)[0]))
        ptx = dict.fromkeys([ends[0], ends[-1]])
        say("arguments", "all", *NVIDIA_ARGUMENTS, *(f"-gencode=arch=compute_{arch},code=compute_{arch}" for arch in ptx))
        for arch in archs:
            if arch in known:
                say("target", arch, f"-gencode=arch=compute_{arch},code=sm_{arch}")
            else:
                say("skipped", arch, "this nvcc does not know it")
        return
    if wanted and not failures:
        failures.append(f"there is no {wanted}")
    say("missing", NVIDIA_HELP + (f" ({'; '.join(failures)})" if failures else ""))


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("hip", "nvidia"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (find_hip if sys.argv[1] == "hip" else find_nvidia)(folder, sys.argv[3], sys.argv[4:])


if __name__ == "__main__":
    main()
