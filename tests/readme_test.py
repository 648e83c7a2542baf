#!/usr/bin/env python3
"""Runs every pipeline and program that README.md shows, on two short clips of its own, and looks for the tests it names.

    readme_test.py SOURCE_ROOT BUILD_ROOT

A block is what is indented by four spaces. One that ends with "…" goes on as the first one does; one that begins with
"… |" reads from that. Long runs are shortened. What installs, builds or tests the project is not run here. A
block of a kind that is not known is an error: it would rot.

Exit status: 0 all ran, 1 one did not do what it should, 77 (skipped) without the encoder that makes the clips.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FRAMES = 8
LIMIT = 120  # seconds; only against hanging

# What other tests run, what changes the machine, and what has no end: a camera, a monitor.
ELSEWHERE = re.compile(r"\./examples/quickstart\.sh|\./tests/run\.sh|meson setup|gst-launch-1\.0 .*v4l2src|vmafhip-monitor")

# Elements that are there where their hardware is.
HARDWARE = re.compile(r"\b(?:va|nv)(?:\w+dec|postproc)\b")


def blocks(text):
    """The indented blocks, without their indentation."""
    found, lines = [], []
    for line in text.splitlines() + [""]:
        if line.startswith("    "):
            lines.append(line[4:])
        elif lines:
            found.append("\n".join(lines))
            lines = []
    return found


def run(command, folder):
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, timeout=LIMIT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def make_clips(folder):
    """ref.mp4, which is 1080p as the README's pipelines take it to be, and dist.mp4, which is worse."""
    source = (f"gst-launch-1.0 -q videotestsrc num-buffers={FRAMES} pattern=ball ! "
              "video/x-raw,format=I420,width=1920,height=1080,framerate=25/1 ! x264enc speed-preset=ultrafast ")
    for name, settings in (("ref", "quantizer=10 pass=qual"), ("dist", "quantizer=40 pass=qual")):
        status, output = run(f"{source} {settings} ! h264parse ! mp4mux ! filesink location={name}.mp4", folder)
        if status != 0:
            print(output)
            sys.exit(1)


def shorten(command):
    command = re.sub(r"num-buffers=(\d{2,})", lambda m: f"num-buffers={min(int(m[1]), 25)}", command)
    command = re.sub(r"--frames \d+", "--frames 4", command)
    # The simulated GPU takes seconds for what a real one does in a millisecond.
    return re.sub(r"--size \S+", "--size 96x64", command) if "--backend hip" in command else command


class Readme:
    def __init__(self, text):
        self.blocks = blocks(text)
        launches = [b for b in self.blocks if b.startswith("gst-launch-1.0")]
        # The first one, up to the filter behind it, and what follows its element.
        self.first = launches[0].rpartition(" | ")[0]
        self.tail = self.first.partition("fakesink ")[2]

    def command(self, block):
        """The block as bash can run it, and what its output must match; None if it is not for this test."""
        if ELSEWHERE.search(block):
            return None
        if block.startswith("export GST_PLUGIN_PATH"):
            return None
        if block.startswith("… | "):
            return f"{self.first} {block[1:]}", rf"(?m)^{FRAMES - 1} \d"
        if block.startswith("gst-launch-1.0"):
            command = shorten(block.replace("…", self.tail))
            if file := re.search(r"results-filename=(\S+)", command):
                command = f"{command} && test -s {file[1]}"
            if "scores.py" in command:
                return command, r"(?m)^window(?s:.*)harmonic" if "window=" in command else "harmonic"
            return command, r"type=\(string\)pooled" if "gst-launch-1.0 -m" in command else "Got EOS"
        if "examples/embed-" in block:
            return block, r"buffer \d+ \d+\.\d+(?s:.*)pooled \d"
        if block.startswith("build/tools/vmafhip-bench"):
            return shorten(block), r'"fps"'
        raise ValueError(f"README.md has a block that this test does not know:\n{block}")


def tests_that_are_not_there(text, folder):
    """Tests that the table of situations names in its last column, `Suite.Case` or a file's stem, and nobody has."""
    cases, stems = set(), {path.name.removesuffix("_test.cpp") for path in folder.glob("*_test.cpp")}
    for path in folder.glob("*_test.cpp"):
        cases |= {f"{suite}.{case}" for suite, case in
                  re.findall(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", path.read_text(encoding="utf-8"), re.MULTILINE)}
    rows = re.findall(r"^\|.*\|.*\| (.*) \|$", text.partition("\n## What happens when\n")[2].partition("\n## ")[0], re.MULTILINE)
    names = [name for row in rows[1:] for name in re.sub(r" \(\w+\)|`", "", row).split(", ")]
    if len(names) < 40:
        return ["the table itself"]
    def known(name):
        if "." not in name:
            return name in stems
        pattern = re.escape(name).replace(r"\*", r"\w+").replace("…", r"\w*")
        return any(re.fullmatch(pattern, case) for case in cases)
    return [name for name in names if not known(name)]


def main():
    source, build = map(pathlib.Path, sys.argv[1:3])
    text = (source / "README.md").read_text(encoding="utf-8")
    if missing := tests_that_are_not_there(text, source / "tests"):
        print("README.md names tests that are not there:", ", ".join(missing))
        return 1
    readme = Readme(text)
    if run("gst-inspect-1.0 x264enc && gst-inspect-1.0 avdec_h264 && gst-inspect-1.0 qtdemux", ".")[0] != 0:
        print("x264enc, avdec_h264 or qtdemux is not here")
        return 77
    ran = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(source / "examples", pathlib.Path(folder, "examples"))
        os.symlink(build, pathlib.Path(folder, "build"))
        make_clips(folder)
        for block in readme.blocks:
            what = readme.command(block)
            if what is None:
                continue
            command, wanted = what
            if command.startswith("examples/embed-python") and run("/usr/bin/python3 -c 'import gi'", folder)[0] != 0:
                print("not run, there is no python3-gi:", block.splitlines()[0])
                continue
            absent = [name for name in HARDWARE.findall(command) if run(f"gst-inspect-1.0 --exists {name}", folder)[0] != 0]
            if absent:
                print(f"not run, there is no {absent[0]}:", command.splitlines()[0])
                continue
            if "--backend hip" in command:
                command = f"VMAFHIP_HIP_LIBRARY={build}/tests/hipsim/libhipsim.so {command}"
            try:
                status, output = run(command, folder)
            except subprocess.TimeoutExpired:
                status, output = "no end", ""
            ran += 1
            if status != 0 or not re.search(wanted, output):
                failed += 1
                print(f"status {status}, expected {wanted} of\n{command}\n{output[-3000:]}")
    print(f"{ran} of the README's blocks ran, {failed} not as they should")
    # If the README is written in another way, this must not pass because nothing was found.
    return 1 if failed or ran < 6 else 0


if __name__ == "__main__":
    sys.exit(main())
