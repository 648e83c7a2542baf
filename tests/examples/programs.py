"""What the tests of the examples share: running programs, short videos, and reading the tables that scores.py prints."""
import os
import pathlib
import re
import subprocess

LIMIT = 300  # seconds; only against hanging
NUMBER = r"-?\d+\.\d+"


def run(*command, **settings):
    """The finished program with its output as text; without a terminal, input, or anything that a user has set."""
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                          errors="replace", timeout=LIMIT, check=False, **settings)


def must(*command, **settings):
    """run(), of what has to succeed."""
    done = run(*command, **settings)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def launch(pipeline, **settings):
    return must("gst-launch-1.0", "-q", *pipeline.split(), **settings)


def make_video(path, quantizer, frames=50, size=(160, 90), rate="25/1"):
    launch(f"videotestsrc pattern=zone-plate kx2=20 ky2=20 kt=1 num-buffers={frames} ! "
           f"video/x-raw,format=I420,width={size[0]},height={size[1]},framerate={rate} ! "
           f"x264enc speed-preset=ultrafast pass=qual quantizer={quantizer} ! h264parse ! mp4mux ! filesink location={path}")
    return pathlib.Path(path)


def tables(text):
    """The tables that scores.py printed: name of the element (empty if there is one) → score → column → value."""
    found, table, columns, before = {}, None, [], ""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["score"]:
            table, columns = found.setdefault(before.strip(), {}), words[1:]
        elif table is not None and len(words) == len(columns) + 1 and all(re.fullmatch(NUMBER, word) for word in words[1:]):
            table[words[0]] = dict(zip(columns, map(float, words[1:])))
        else:
            table = None
        before = line
    return found


def has_python(module):
    """Whether Debian's Python, which the examples use, has this module of PyGObject."""
    name, version = module
    return run("/usr/bin/python3", "-c", f"import gi; gi.require_version('{name}', '{version}')").returncode == 0


def has_elements(*names):
    return all(run("gst-inspect-1.0", "--exists", name).returncode == 0 for name in names)


def near(a, b, tolerance=1e-6):
    return abs(a - b) <= tolerance


def environment(**more):
    return {**os.environ, **more}
