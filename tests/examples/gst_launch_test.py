#!/usr/bin/env python3
"""The scripts of examples/gst-launch, each run on its own short video and on given ones, and what they print looked at.

    gst_launch_test.py SOURCE_ROOT
"""
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from programs import LIMIT, environment, has_elements, has_python, launch, make_video, must, near, run, tables

MODEL = "vmaf_v0.6.1"


class Scripts:
    def __init__(self, root, folder):
        self.scripts = root / "examples/gst-launch"
        self.folder = pathlib.Path(folder)
        # Names with what shells and parsers trip over.
        self.ref = make_video(f"{folder}/made.mp4", 10).rename(f"{folder}/the \"reference\", 1 ! fakesink $HOME.mp4")
        self.dist = make_video(f"{folder}/made.mp4", 45).rename(f"{folder}/it's distorted.mp4")

    def call(self, name, *arguments):
        return must(self.scripts / f"{name}.sh", *arguments, cwd=self.folder)

    def table(self, name, *arguments):
        """Of a script with one element; progress and the command must be there too."""
        done = self.call(name, *arguments)
        assert re.search(r"100 % .* frames", done.stderr), f"{name} shows no progress:\n{done.stderr}"
        assert "gst-launch-1.0 -m -e \\\n" in done.stdout, f"{name} does not show its command"
        return tables(done.stdout)[""]

    def two_files(self):
        launch("vmafhip name=v results-filename=s.json ! fakesink filesrc location=r.mp4 ! decodebin ! v.ref_sink "
               "filesrc location=d.mp4 ! decodebin ! v.dist_sink", cwd=self.linked())
        expected = json.loads((self.folder / "s.json").read_text(encoding="utf-8"))["pooled_metrics"][MODEL]
        found = self.table("two-files", self.ref, self.dist)[MODEL]
        for column in ("mean", "min", "max"):
            assert near(found[column], expected[column], 2e-6), (found, expected)
        assert self.table("two-files", "--model", "vmaf_v0.6.1:name=a", self.ref, self.ref)["a"]["min"] > 95
        assert self.table("two-files")[MODEL]["mean"] < 97
        # The command that it shows is the one that it runs.
        shown = re.search(r"^GST_PLUGIN_PATH=.*\\\n(?:.*\\\n)*.*$", self.call("two-files", self.ref, self.dist).stdout, re.MULTILINE)[0]
        typed = must("bash", "-c", f"{shown} | '{self.scripts.parent}/scores.py'", cwd=self.folder)
        assert tables(typed.stdout)[""][MODEL] == found, (shown, typed.stdout)
        # A user with a language and a decimal sign of his own; an option where a file is meant.
        (self.folder / "-o.mp4").symlink_to(self.dist)
        german = must(self.scripts / "two-files.sh", "--", self.ref, "-o.mp4", cwd=self.folder,
                      env=environment(LC_ALL=self.comma(), LOCPATH=str(self.folder), LANGUAGE="de"))
        assert "100 %" in german.stderr and tables(german.stdout)[""][MODEL] == found, german

    def comma(self):
        """A locale with a decimal comma, where there is what makes one."""
        name = "de_DE.UTF-8"
        made = shutil.which("localedef") and run("localedef", "-i", "de_DE", "-f", "UTF-8", self.folder / name).returncode == 0
        return name if made else "C.UTF-8"

    def linked(self):
        for short, file in (("r.mp4", self.ref), ("d.mp4", self.dist)):
            (self.folder / short).symlink_to(file)
        return self.folder

    def encoder_in_place(self):
        lossless = self.table("encoder-in-place", "--encoder", "x264enc speed-preset=ultrafast pass=qual quantizer=0", self.ref)
        assert lossless["integer_adm2"]["min"] == 1, "a lossless encoder"
        assert self.table("encoder-in-place", "--encoder", "x264enc speed-preset=ultrafast bitrate=20 ! h264parse",
                          self.ref)["integer_adm2"]["mean"] < 0.99
        assert 50 < self.table("encoder-in-place")[MODEL]["mean"] < 99.9
        self.refused("encoder-in-place", "lacks the element noenc here", "--encoder", "x264enc ! noenc bitrate=3", self.ref)
        self.refused("encoder-in-place", "--encoder needs an element", "--encoder", " ", self.ref)

    def refused(self, name, text, *arguments):
        """For wrong usage, in one line, before anything is run."""
        done = run(self.scripts / f"{name}.sh", *arguments, cwd=self.folder)
        assert done.returncode == 2 and text in done.stderr and not done.stdout and done.stderr.count("\n") == 1, done

    def csv(self):
        scores = self.table("csv", "--out", "a table.csv", "--features", "float_ssim", self.ref, self.dist)
        with open(self.folder / "a table.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert [int(row["Frame"]) for row in rows] == list(range(50)), rows
        for name in (MODEL, "float_ssim"):
            assert near(sum(float(row[name]) for row in rows) / 50, scores[name]["mean"], 2e-6), name
        assert "100 frames" in self.call("csv").stdout and (self.folder / "scores.csv").exists()
        self.refused("csv", "--out needs a file name", "--out", "", self.ref, self.dist)
        failed = run(self.scripts / "csv.sh", "--out", "/nowhere/a.csv", self.ref, self.dist)
        assert failed.returncode == 1 and "/nowhere/a.csv" in failed.stderr and "-m only" not in failed.stderr, failed

    def abr_ladder(self):
        done = self.call("abr-ladder", "--rungs", "160x90:400 160x90:25 80x46:30", self.ref)
        found = tables(done.stdout)
        assert sorted(found) == ["160x90-25k", "160x90-400k", "80x46-30k"], found
        for worse in ("160x90-25k", "80x46-30k"):
            assert found["160x90-400k"][MODEL]["mean"] > found[worse][MODEL]["mean"] + 5, (worse, found)
        assert "scaled from 80x46" in done.stderr and re.search(r"100 % .*80x46-30k: vmaf", done.stderr), done.stderr
        # At the end a line for each, in the order in which they were given; so are the tables.
        given = ["160x90-400k", "160x90-25k", "80x46-30k"]
        assert list(found) == given, list(found)
        last = [line.split() for line in done.stdout.splitlines()[-4:]]
        assert last == [["mean", "of", MODEL], *([name, f"{found[name][MODEL]['mean']:.6f}"] for name in given)], last
        assert len(tables(self.call("abr-ladder").stdout)) == 3
        for rungs, text in (("160x90", "WIDTHxHEIGHT:KBITS"), ("160x90:0", "WIDTHxHEIGHT:KBITS"), ("*", "WIDTHxHEIGHT:KBITS"),
                            ("161x90:9", "odd"), ("80x46:9 160x90:9 80x46:9", "twice")):
            self.refused("abr-ladder", text, "--rungs", rungs, self.ref)

    def rtsp(self):
        """Ended by Ctrl-C once there is a score."""
        self.refused("rtsp", "--seconds needs a whole number, 1 or more", "--seconds", "soon", "rtsp://a", "rtsp://b")
        self.refused("rtsp", "--latency needs a whole number, 0 or more", "--latency", "-1", "rtsp://a", "rtsp://b")
        refused = run(self.scripts / "rtsp.sh", "--seconds", "20", "rtsp://127.0.0.1:1/a", "rtsp://127.0.0.1:1/b")
        assert refused.returncode == 1 and "Failed to connect" in refused.stderr, refused
        if not has_python(("GstRtspServer", "1.0")):
            print("not run on streams, there is no gir1.2-gst-rtsp-server-1.0: rtsp.sh")
            return
        with subprocess.Popen([self.scripts / "rtsp.sh", "--seconds", str(LIMIT), "--model", "vmaf_v0.6.1:name=vmaf"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                              start_new_session=True) as script:
            lines = []
            while (line := script.stdout.readline()) and not re.match(r"window .* mean \d", line):
                lines.append(line)
            os.killpg(script.pid, signal.SIGINT)
            rest, errors = script.communicate(timeout=LIMIT)
        text = "".join(lines) + rest
        assert script.returncode == 130, (script.returncode, text, errors)
        assert re.search(r"sync searching(?s:.*)sync locked", text), text
        assert tables(text), (text, errors)
        assert 40 < tables(text)[""]["vmaf"]["mean"] < 100, text

    def camera(self):
        """Without one; tests/vm has cameras."""
        missing = run(self.scripts / "camera.sh", self.folder / "video99")
        assert missing.returncode == 3 and "There is no camera" in missing.stderr, missing
        assert "Without a camera" in missing.stderr, missing
        self.refused("camera", "--frames needs a whole number", "--frames", "0", "/dev/null")
        # The pipeline is a good one up to what the device is.
        null = run(self.scripts / "camera.sh", "/dev/null")
        assert null.returncode == 1 and "Error getting capabilities for device '/dev/null'" in null.stderr, null
        assert "io-mode=dmabuf" in null.stdout and "erroneous pipeline" not in null.stderr, null

    def usage(self, name):
        """--help, what is unknown, files that are not there or no video, no element."""
        script = self.scripts / f"{name}.sh"
        assert f"usage: examples/gst-launch/{name}.sh" in must(script, "--help").stdout
        for arguments, status, text in ((["--nothing"], 2, "unknown option --nothing"), (["--model"], 2, "needs a value"),
                                        (["a", "b", "c"], 2, "see --help")):
            done = run(script, *arguments)
            assert done.returncode == status and text in done.stderr, done
        if name in ("rtsp", "camera"):
            return
        files = [self.ref, script] if name in ("two-files", "csv") else [script]
        done = run(script, *files)
        assert done.returncode == 3 and "there is no video in it" in done.stderr, done
        files[-1] = "nothing.mp4"
        done = run(script, *files)
        assert done.returncode == 3 and "There is no file nothing.mp4" in done.stderr, done


FAKE_NINJA = """#!/bin/bash
echo "ninja: Entering directory"
if [[ $NINJA_STATUS == '%p %e ' ]]; then
  for at in '  0% 0.1' '  5% 4.0' ' 10% 12.5' ' 20% 15.0' ' 50% 30.2' '100% 61.0'; do echo "$at Compiling 7% 8.1"; done
fi
if [[ $FAILS ]]; then exit 1; fi
cp "$PLUGIN" "$2/gst/vmafhip/"
"""


def quickstart_build(folder, files):
    """How far quickstart.sh's build is, every ten seconds where there is no terminal; in a copy, with a build that is played."""
    tools = pathlib.Path(folder, "tools")
    tools.mkdir()
    for name, text in (("meson", '#!/bin/bash\nmkdir -p "$2/gst/vmafhip" && echo >"$2/build.ninja"\n'), ("ninja", FAKE_NINJA)):
        (tools / name).write_text(text, encoding="utf-8")
        (tools / name).chmod(0o755)
    plugin = pathlib.Path(os.environ["GST_PLUGIN_PATH"], "libgstvmafhip.so")
    surroundings = environment(PATH=f"{tools}:{os.environ['PATH']}", PLUGIN=str(plugin), GST_PLUGIN_PATH="",
                               GST_REGISTRY=f"{folder}/quickstart.bin")
    done = must(f"{folder}/examples/quickstart.sh", *files, env=surroundings)
    shown = [line for line in done.stderr.splitlines() if line.endswith(" left")]
    assert shown == [" 10 %  0:01:48 left", " 50 %  0:00:30 left", "100 %  0:00:00 left"], done.stderr
    assert MODEL in tables(done.stdout)[""], done.stdout
    failed = run(f"{folder}/examples/quickstart.sh", *files, env={**surroundings, "FAILS": "1"})
    assert failed.returncode == 2 and "The build failed" in failed.stderr and "Entering directory" in failed.stderr, failed


def main():
    root = pathlib.Path(sys.argv[1])
    if not has_elements("x264enc", "avdec_h264", "qtdemux"):
        print("x264enc, avdec_h264 or qtdemux is not here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        scripts = Scripts(root, folder)
        names = sorted(path.stem for path in scripts.scripts.glob("*.sh"))
        for name in names:
            scripts.usage(name)
            getattr(scripts, name.replace("-", "_"))()
            print(f"{name}.sh does what it says", flush=True)
        # Where the element is not to be found. The repository may be built, so from a copy of the scripts.
        must("cp", "-r", root / "examples", f"{folder}/examples")
        done = run(f"{folder}/examples/gst-launch/two-files.sh",
                   env=environment(GST_PLUGIN_PATH="", GST_REGISTRY=f"{folder}/registry.bin"))
        assert done.returncode == 2 and "./examples/quickstart.sh" in done.stderr, done
        quickstart_build(folder, [scripts.ref, scripts.dist])
        print("quickstart.sh says how far its build is")
    return 0


if __name__ == "__main__":
    sys.exit(main())
