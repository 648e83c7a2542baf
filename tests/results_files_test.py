#!/usr/bin/env python3
"""Result files of real pipelines, read by parsers that are not ours and compared with the messages of the same run.

    results_files_test.py SOURCE_ROOT

Needs gst-launch-1.0 (77, skipped, without it) and the environment of the element's tests.
"""
import csv
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "examples"))
sys.dont_write_bytecode = True
import scores  # noqa: E402

CAPS = "video/x-raw,format=I420,width=64,height=64,framerate=25/1"
METHODS = {"min": "min", "max": "max", "mean": "mean", "harmonic_mean": "harmonic-mean"}
COUNTERS = ("ref-frames", "dist-frames", "compared", "scored", "ref-unmatched", "dist-unmatched", "extrapolated")
FORMATS = ("json", "xml", "csv", "sub")


def command(settings, frames, after_ref=(), live=False):
    source = ["videotestsrc", f"num-buffers={frames}", f"is-live={str(live).lower()}"]
    return [
        "gst-launch-1.0", "-m", "vmafhip", "name=v", *settings, "!", "fakesink",
        *source, "pattern=ball", "!", CAPS, *after_ref, "!", "v.ref_sink",
        *source, "pattern=ball", "background-color=0xff202020", "!", CAPS, "!", "v.dist_sink",
    ]


def messages(output):
    """Structures of the element's messages, by type."""
    found = {"frame": [], "pooled": []}
    for line in output.splitlines():
        if match := scores.MESSAGE.match(line):
            structure = scores.Parser(match.group(2)).structure()
            found.setdefault(structure["type"], []).append(structure)
    return found


def run(settings, frames=9, **further):
    done = subprocess.run(command(settings, frames, **further), capture_output=True, encoding="utf-8", timeout=100,
                          check=False)
    return done, messages(done.stdout)


def printed(value):
    """As libvmaf prints it."""
    fraction, zeros = abs(value) - math.floor(abs(value)), 0
    while 0 < fraction < 1:
        fraction *= 10
        zeros += 1
    return f"{value:.6f}" if zeros <= 6 else f"{value:.16f}"


def values_of(message):
    return {name: printed(value) for kind in ("features", "models") for name, value in message[kind].items()}


def pooled_of(message):
    return {
        name: {ours: printed(pool[theirs]) for ours, theirs in METHODS.items()}
        for kind in ("features", "models") for name, pool in message[kind].items()
    }


# Each gives ({frame number: {metric: text}}, {metric: {method: text}} or None, everything).
def read_json(text):
    whole = json.loads(text, parse_float=str)
    frames = {frame["frameNum"]: frame["metrics"] for frame in whole["frames"]}
    return frames, whole["pooled_metrics"], whole


def read_xml(text):
    whole = xml.etree.ElementTree.fromstring(text)
    frames = {}
    for frame in whole.find("frames"):
        values = dict(frame.attrib)
        frames[int(values.pop("frameNum"))] = values
    pooled = {}
    for metric in whole.find("pooled_metrics"):
        values = dict(metric.attrib)
        pooled[values.pop("name")] = values
    return frames, pooled, whole


def read_csv(text):
    rows = list(csv.reader(text.splitlines(), strict=True))
    assert rows[0][0] == "Frame" and all(row[-1] == "" and len(row) == len(rows[0]) for row in rows), rows
    return {int(row[0]): dict(zip(rows[0][1:-1], row[1:-1])) for row in rows[1:]}, None, rows


def read_sub(text):
    frames = {}
    for line in text.splitlines():
        head, *values, last = line.split("|")
        number = int(re.fullmatch(r"\{(\d+)\}\{\d+\}frame: \1", head).group(1))
        assert head.startswith(f"{{{number}}}{{{number + 1}}}") and last == "", line
        frames[number] = dict(value.split(": ") for value in values)
    return frames, None, None


READERS = {"json": read_json, "xml": read_xml, "csv": read_csv, "sub": read_sub}


class ResultFiles(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="results_files.", dir="."))
        self.addCleanup(shutil.rmtree, self.folder)

    def read(self, path):
        return READERS[path.suffix[1:]](path.read_text(encoding="utf-8"))

    def same_as_messages(self, path, said):
        frames, pooled, whole = self.read(path)
        self.assertEqual(frames, {m["frame-number"]: values_of(m) for m in said["frame"]})
        self.assertEqual([list(values) for values in frames.values()],
                         [list(values_of(m)) for m in said["frame"]])  # also in their order
        if pooled is not None:
            self.assertEqual(pooled, pooled_of(said["pooled"][0]))
            counters = whole["counters"] if isinstance(whole, dict) else whole.find("counters").attrib
            for name in COUNTERS:
                self.assertEqual(int(counters[name]), said["pooled"][0][name], name)
        return frames, whole

    def complaints(self, done, kind):
        return [line for line in done.stderr.splitlines() + done.stdout.splitlines() if line.startswith(kind + ": from ")]

    def wait_for(self, path, size):
        deadline = time.monotonic() + 60
        while not path.exists() or path.stat().st_size < size:
            self.assertLess(time.monotonic(), deadline, "nothing is written")
            time.sleep(0.01)

    def test_every_format_says_what_the_messages_say(self):
        for subsample in (1, 4):
            for suffix in FORMATS:
                with self.subTest(suffix, subsample=subsample):
                    path = self.folder / f"r.{suffix}"
                    done, said = run([f"results-filename={path}", f"subsample={subsample}"])
                    self.assertEqual(done.returncode, 0, done.stderr)
                    frames, _ = self.same_as_messages(path, said)
                    self.assertEqual(list(frames), list(range(0, 9, subsample)))

    def test_what_else_is_in_them(self):
        done, said = run([f"results-filename={self.folder}/r", "results-format=json"])
        whole = json.loads((self.folder / "r").read_text())
        self.assertEqual(done.returncode, 0)
        self.assertRegex(whole["version"], r"^vmafhip \d")
        self.assertGreater(whole["fps"], 0)
        self.assertEqual(whole["aggregate_metrics"], {})
        self.assertEqual(list(whole["model_sources"]), ["vmaf_v0.6.1"])
        self.assertTrue(whole["model_sources"]["vmaf_v0.6.1"].startswith(said["frame"][0]["model-source"]))
        run([f"results-filename={self.folder}/r", "results-format=xml"])
        whole = xml.etree.ElementTree.parse(self.folder / "r").getroot()
        self.assertEqual(whole.find("params").attrib, {"qualityWidth": "64", "qualityHeight": "64"})
        self.assertGreater(float(whole.find("fyi").get("fps")), 0)
        self.assertEqual(whole.find("model_sources/model").get("name"), "vmaf_v0.6.1")

    def test_names_that_need_care(self):
        models = r"model=vmaf_v0.6.1:name=4k+a.b-c|vmaf_v0.6.1neg:name=+"
        for suffix in FORMATS:
            path = self.folder / f"q'<&>, ä 日本.{suffix}"
            done, said = run([f'results-filename="{path}"', models, "features=motion"], frames=3)
            self.assertEqual(done.returncode, 0, done.stderr)
            frames, pooled, _ = self.read(path)
            expected = [values_of(m) for m in said["frame"]]
            if suffix == "xml":  # not all are names of attributes
                for values in expected:
                    values["_4k_a.b-c"], values["_"] = values.pop("4k+a.b-c"), values.pop("+")
            self.assertEqual(list(frames.values()), expected, suffix)
            if pooled is not None:
                self.assertEqual(pooled, pooled_of(said["pooled"][0]))

    def test_features_without_a_model(self):
        path = self.folder / "r.json"
        done, said = run([f"results-filename={path}", 'model=""', "features=vif"])
        self.assertEqual(done.returncode, 0, done.stderr)
        _, whole = self.same_as_messages(path, said)
        self.assertEqual(whole["model_sources"], {})

    def test_fifo(self):
        for suffix in FORMATS:
            path = self.folder / f"fifo.{suffix}"
            os.mkfifo(path)
            with subprocess.Popen(["cat", path], stdout=subprocess.PIPE, encoding="utf-8") as cat:
                done, said = run([f"results-filename={path}"])
                text = cat.stdout.read()
            self.assertEqual(done.returncode, 0, done.stderr)
            frames, pooled, _ = READERS[suffix](text)
            self.assertEqual(list(frames.values()), [values_of(m) for m in said["frame"]])
            if pooled is not None:
                self.assertEqual(pooled, pooled_of(said["pooled"][0]))

    def test_reader_that_goes_away(self):
        path = self.folder / "fifo.csv"
        os.mkfifo(path)
        with subprocess.Popen(["head", "-c", "10", path], stdout=subprocess.DEVNULL):
            # Live, so that frames come long after the reader has gone.
            done, said = run([f"results-filename={path}"], frames=30, live=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(said["frame"]), 30)
        self.assertEqual(len(self.complaints(done, "WARNING")), 1, done.stdout + done.stderr)
        self.assertIn(f'writing "{path}": its reader has gone', done.stdout + done.stderr)

    def test_full_disk(self):
        done, said = run(["results-filename=/dev/full", "results-format=json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(said["frame"]), 9)
        self.assertEqual(len(self.complaints(done, "WARNING")), 1, done.stdout + done.stderr)
        self.assertIn('writing "/dev/full": No space left on device', done.stdout + done.stderr)

    def test_what_cannot_be_opened(self):
        for name, expected in ((f"{self.folder}/missing/r.csv", "No such file or directory"),
                               (f"{self.folder}/r.txt", ".json, .xml, .csv, .sub")):
            done, said = run([f"results-filename={name}"])
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(said["frame"], [])
            self.assertEqual(len(self.complaints(done, "ERROR")), 1, done.stdout + done.stderr)
            self.assertIn(f'"{name}"', done.stdout + done.stderr)
            self.assertIn(expected, done.stdout + done.stderr)

    def test_error_upstream(self):
        for suffix in FORMATS:
            path = self.folder / f"r.{suffix}"
            done, said = run([f"results-filename={path}"], frames=50, after_ref=["!", "identity", "error-after=20"])
            self.assertNotEqual(done.returncode, 0)
            frames, _, _ = self.read(path)
            said = {m["frame-number"]: values_of(m) for m in said["frame"]}
            self.assertEqual({n: frames[n] for n in said}, said)  # gst-launch may end before it prints the last ones

    def test_stop_in_mid_stream(self):
        for suffix in FORMATS:
            path = self.folder / f"r.{suffix}"
            with subprocess.Popen(command([f"results-filename={path}"], -1, live=True), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                self.wait_for(path, 3000)
                process.send_signal(signal.SIGINT)
            frames, pooled, _ = self.read(path)
            self.assertEqual(list(frames), list(range(len(frames))))
            if pooled is not None:
                texts = [float(values["vmaf_v0.6.1"]) for values in frames.values()]
                self.assertAlmostEqual(float(pooled["vmaf_v0.6.1"]["mean"]), sum(texts) / len(texts), delta=2e-6)

    def test_killed(self):
        for suffix in ("csv", "sub"):
            path = self.folder / f"r.{suffix}"
            with subprocess.Popen(command([f"results-filename={path}"], -1), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                self.wait_for(path, 20000)
                process.kill()
            text = path.read_text()
            frames, _, _ = READERS[suffix](text[:text.rindex("\n") + 1])
            self.assertEqual(list(frames), list(range(len(frames))))
            self.assertGreater(len(frames), 20)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not shutil.which("gst-launch-1.0"):
        print("gst-launch-1.0 is not here")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
