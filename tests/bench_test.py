#!/usr/bin/env python3
"""Runs vmafhip-bench small: its scores depend on neither threads nor instruction set, and it says what is wrong.

    bench_test.py VMAFHIP_BENCH              on the CPU
    bench_test.py VMAFHIP_BENCH LIBRARY      on a GPU, that of a runtime named by VMAFHIP_HIP_LIBRARY
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from expectations import expect, finish  # noqa: E402

BENCH = sys.argv[1]
LIBRARY = sys.argv[2] if len(sys.argv) > 2 else "libnothing.so"  # no GPU that the machine may have
SMALL = ["--size", "130x98", "--frames", "8", "--warmup", "2", "--pictures", "3"]


def run(*arguments, isa=""):
    environment = {**os.environ, "VMAFHIP_ISA": isa, "VMAFHIP_HIP_LIBRARY": LIBRARY}
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True, env=environment)


def measure(*arguments, isa=""):
    """The figures of a run that must succeed."""
    done = run(*SMALL, *arguments, isa=isa)
    if done.returncode != 0 or done.stderr or done.stdout.count("\n") != 1:
        sys.exit(f"{arguments}, {isa}: status {done.returncode}, printed {done.stdout!r} and {done.stderr!r}")
    figures = json.loads(done.stdout)
    for name in ("fps", "cpu_ms_per_frame", "peak_rss_kib"):
        expect(figures[name] > 0, f"{arguments}: {name} is {figures[name]}")
    latency = figures["latency_ms"]
    expect(0 < latency["p50"] <= latency["p99"], f"{arguments}: latencies are {latency}")
    expect(re.fullmatch("[0-9a-f]{16}", figures["checksum"]), f"{arguments}: checksum {figures['checksum']}")
    return figures


def instruction_sets():
    """Those of the build that this machine has, from the error that lists the build's."""
    text = run(*SMALL, isa="none-of-them").stderr
    names = re.search(r"it has ([a-z0-9_, ]+)", text)
    if not names:
        sys.exit(f"no list of instruction sets in {text!r}")
    return [name for name in re.split(", *", names[1].strip()) if run(*SMALL, isa=name).returncode == 0]


def check_checksums():
    isas = instruction_sets()
    expect("scalar" in isas, f"instruction sets: {isas}")
    seen = set()
    for case in (
        [],
        ["--depth", "10", "--chroma", "422", "--distorted", "3"],
        ["--dist-size", "99x55", "--distorted", "2"],
        ["--dist-size", "99x55", "--distorted", "2", "--scale-method", "lanczos"],
        ["--model", "", "--features", "vif=debug=true|motion", "--depth", "16", "--chroma", "400"],
    ):
        sums = {}
        for isa in isas:
            for threads in (1, 3):
                figures = measure(*case, "--threads", str(threads), isa=isa)
                expect(figures["isa"] == isa and figures["threads"] == threads, f"{isa}, {threads}: says {figures}")
                sums[isa, threads] = figures["checksum"]
        expect(len(set(sums.values())) == 1, f"{case}: the scores differ: {sums}")
        seen |= set(sums.values())
    expect(len(seen) == 5, "different scores have one checksum")
    print(f"same scores for 1 and 3 threads and {', '.join(isas)}")


def check_sessions():
    for backend in ("cpu", "hip")[: len(sys.argv) - 1]:
        for rate in (0, 200):
            done = run(*SMALL, "--backend", backend, "--sessions", "3", "--rate", str(rate), "--threads", "2")
            if done.returncode != 0:
                sys.exit(f"three sessions, {backend}: status {done.returncode}, printed {done.stderr!r}")
            figures = json.loads(done.stdout)
            expect(figures["sessions"] == 3 and figures["equal_scores"] is True, f"three sessions: {figures}")
            each = figures["session_fps"]
            expect(0 < each["least"] <= each["most"] and figures["fps"] > each["least"], f"three sessions: {figures}")
            expect(("latency_ms" in figures) == (rate > 0), f"rate {rate}: {figures}")
            for memory in ("device_kib", "pinned_kib"):
                one = figures["session_" + memory]
                expect((one > 0) == (backend == "hip"), f"{backend}: {figures}")
                expect(one <= figures[memory] <= 3 * (one + 1) and (one == 0 or figures[memory] > one), f"{backend}: {figures}")


def check_stages():
    figures = measure("--stages")
    stages = figures["stages"]
    names = {stage["extractor"] for stage in stages}
    expect(names == {"unpack", "scale", "vif", "adm", "motion"}, f"stages of {names}")
    expect(sum(stage["ms_per_frame"] for stage in stages) > 0, "stages take no time")
    expect("stages" not in measure(), "stages without being asked")
    short = measure("--frames", "1000000", "--seconds", "1")
    expect(0 < short["frames"] < 1000000, f"in one second: {short}")


def check_files():
    with tempfile.TemporaryDirectory() as folder:
        ref, dist, short = (os.path.join(folder, name) for name in ("ref.yuv", "dist.yuv", "short.yuv"))
        frame = 64 * 48 * 3 // 2
        for path, frames, factor in ((ref, 3, 7), (dist, 3, 11), (short, 2, 11)):
            with open(path, "wb") as file:
                file.write(bytes((i * i // 97 * factor) % 251 for i in range(frame * frames)))
        files = ["--size", "64x48", "--ref", ref, "--dist", dist]
        first = measure(*files)
        expect(first["input_kib"] == 6 * frame // 1024, f"input of {first['input_kib']} KiB")
        smaller = measure("--size", "64x48", "--ref", ref, "--dist", dist, "--dist-size", "48x64")
        expect(smaller["dist_size"] == "48x64" and smaller["checksum"] != first["checksum"], f"scaled: {smaller}")
        two = measure(*files, "--dist", ref)
        expect(two["distorted"] == 2 and two["checksum"] != first["checksum"], f"two distorted files: {two}")
        for words, *arguments in (
            (["different numbers"], "--size", "64x48", "--ref", ref, "--dist", short),
            (["within a frame"], "--size", "64x50", "--ref", ref, "--dist", dist),
            (["cannot open", "nothing.yuv"], "--size", "64x48", "--ref", ref, "--dist", os.path.join(folder, "nothing.yuv")),
        ):
            check_error(1, words, *arguments)


def check_error(status, words, *arguments):
    done = run(*arguments)
    expect(
        done.returncode == status and not done.stdout and all(word in done.stderr for word in words),
        f"{arguments}: status {done.returncode}, printed {done.stdout!r} and {done.stderr!r}",
    )


def check_errors():
    for words, *arguments in (
        (["--speed", "--help"], "--speed", "5"),
        (["--size", "1920"], "--size", "1920"),
        (["--size", "0"], "--size", "0x100"),
        (["--frames", "many"], "--frames", "many"),
        (["--frames", "0"], "--frames", "0"),
        (["--seconds", "0"], "--seconds", "0"),
        (["--threads", "-1"], "--threads", "-1"),
        (["--dist-size", "64"], "--dist-size", "64"),
        (["--scale-method", "sinc", "lanczos"], "--scale-method", "sinc"),
        (["--depth", "7"], "--depth", "7"),
        (["--depth", "8x"], "--depth", "8x"),
        (["--chroma", "411", "420"], "--chroma", "411"),
        (["--backend", "vulkan", "cpu"], "--backend", "vulkan"),
        (["--model", "value"], "--model"),
        (["--ref", "--dist"], "--ref", "file"),
        (["--distorted", "2"], "--ref", "a", "--dist", "b", "--distorted", "2"),
        (["--batch", "33"], "--batch", "33"),
        (["--device", "-2"], "--device", "-2"),
        (["--sessions", "0"], "--sessions", "0"),
        (["--rate", "-1"], "--rate", "-1"),
        (["--upload", "--backend cpu"], "--upload", "--backend", "cpu"),
        (["--resident", "--pageable"], "--pageable", "--resident"),
    ):
        check_error(2, words, *arguments)
    for words, *arguments in (
        (["backend=hip", "backend=cpu"], "--backend", "hip"),
        (["libnothing.so"], "--resident"),
        (["no_such_model"], "--model", "no_such_model"),
        (["no_such_feature", "vif"], "--features", "no_such_feature"),
        (["adm", "8x8"], "--size", "8x8"),
        (["130x98", "99x55", "scale-method"], *SMALL, "--dist-size", "99x55", "--scale-method", "none"),
    ):
        check_error(1, words, *arguments)
    shown = run("--help")
    expect(shown.returncode == 0 and "--distorted" in shown.stdout and not shown.stderr, "--help does not help")


def check_gpu():
    """The CPU's scores, wherever pictures lie and however many frames are measured together."""
    short = ["--size", "70x46", "--frames", "5", "--warmup", "2"]
    for case, batches in (([], (0, 3)), (["--depth", "10", "--distorted", "2"], (0,))):
        cpu = measure(*short, *case, "--backend", "cpu")
        expect(cpu["backend"] == "cpu" and "equals_cpu" not in cpu, f"{case}: {cpu}")
        for memory, name in (("--resident", "device"), ("--upload", "pinned"), ("--pageable", "pageable")):
            for batch in batches:
                figures = measure(*short, *case, memory, "--batch", str(batch))
                where = f"{case}, {memory}, {batch}"
                expect(figures["backend"] == "hip" and figures["memory"] == name, f"{where}: {figures}")
                expect(figures["batch"] == batch and figures["device_kib"] > 0 and figures["pinned_kib"] > 0, f"{where}: {figures}")
                expect(figures["checksum"] == cpu["checksum"] and figures["equals_cpu"] is True, f"{where}: {figures}, the CPU {cpu}")
    # So many frames that the CPU measures only some of them.
    many = measure("--size", "40x36", "--model", "", "--features", "motion", "--frames", "60", "--resident")
    expect(many["equals_cpu"] is True, f"60 frames: {many}")
    check_error(1, ["130x98", "99x55", "scaled"], *SMALL, "--resident", "--dist-size", "99x55")


check_sessions()
if len(sys.argv) > 2:
    check_gpu()
else:
    check_checksums()
    check_stages()
    check_files()
    check_errors()
finish()
