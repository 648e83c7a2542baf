#!/usr/bin/env python3
"""The programs that embed the element, on two short videos: every buffer's score is its message's, and the pooled one is the
frames' mean and what gst-launch-1.0 and the result file say.

    embed_test.py cpp|python SOURCE_ROOT

Exit status 77 (skipped) without what the program or the videos need.
"""
import json
import os
import pathlib
import re
import shlex
import sys
import tempfile

from programs import environment, has_elements, has_python, launch, make_video, must, near, run

FRAMES = 50


def build(source, folder):
    """By the very line that the file shows."""
    line = re.search(r"^// +(g\+\+ .*)$", source.read_text(encoding="utf-8"), re.MULTILINE)[1]
    program = pathlib.Path(folder, "embed")
    assert " embed.cpp -o embed " in line, line
    line = line.replace("g++", os.environ.get("CXX", "g++") + " -Wall -Wextra -Werror", 1)
    must("bash", "-c", line.replace("embed.cpp -o embed", f"{shlex.quote(str(source))} -o {shlex.quote(str(program))}"))
    return [program]


def main():
    kind, root = sys.argv[1], pathlib.Path(sys.argv[2])
    if not has_elements("x264enc", "avdec_h264", "qtdemux") or (kind == "python" and not has_python(("Gst", "1.0"))):
        print("x264enc, avdec_h264, qtdemux or python3-gi with gir1.2-gstreamer-1.0 is not here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        program = (build(root / "examples/embed-cpp/embed.cpp", folder) if kind == "cpp" else
                   ["/usr/bin/python3", root / "examples/embed-python/embed.py"])
        ref, dist = make_video(f"{folder}/ref.mp4", 10), make_video(f"{folder}/dist.mp4", 45)
        launch(f"vmafhip name=v results-filename={folder}/scores.json ! fakesink filesrc location={ref} ! decodebin ! v.ref_sink "
               f"filesrc location={dist} ! decodebin ! v.dist_sink")
        expected = json.loads(pathlib.Path(folder, "scores.json").read_text(encoding="utf-8"))

        lines = [line.split() for line in must(*program, ref, dist).stdout.splitlines()]
        frames = [float(words[1]) for words in lines if words[0] == "frame"]
        buffers = [(int(words[1]), float(words[2])) for words in lines if words[0] == "buffer"]
        pooled = [float(words[1]) for words in lines if words[0] == "pooled"]
        assert len(frames) == FRAMES and len(pooled) == 1 and len(lines) == 2 * FRAMES + 1, lines
        assert [score for _, score in buffers] == frames, "scores on buffers and in messages"
        assert [b - a for (a, _), (b, _) in zip(buffers, buffers[1:])] == [40_000_000] * (FRAMES - 1), "times of buffers"
        assert near(sum(frames) / FRAMES, pooled[0], 2e-6), "the frames' mean"
        assert near(pooled[0], expected["pooled_metrics"]["vmaf_v0.6.1"]["mean"], 2e-6), "what the result file says"
        assert 20 < pooled[0] < 95, f"{pooled[0]} is no score of a bad encoding"

        failed = run(*program, ref, f"{folder}/nothing.mp4")
        assert failed.returncode == 1 and failed.stderr.splitlines()[-1] == "dist: Resource not found.", failed
        missing = run(*program, ref, dist, env=environment(GST_PLUGIN_PATH="", GST_REGISTRY=f"{folder}/registry.bin"))
        assert missing.returncode != 0 and missing.stderr == 'no element "vmafhip"\n', missing
    print(f"{FRAMES} frames, pooled {pooled[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
