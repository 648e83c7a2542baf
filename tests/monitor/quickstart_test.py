#!/usr/bin/env python3
"""examples/quickstart.sh --monitor on a short video: the address that it prints shows an encoder whose bit rate falls halfway,
and the score with it.

    quickstart_test.py SOURCE_ROOT BUILD_ROOT
"""
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples"))
from programs import launch  # noqa: E402  (of the folder that the line above names)

LIMIT = 240  # seconds; only against hanging


def main():
    root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        # Noise of many blocks: 300 kbit/s are too few for it.
        launch("videotestsrc pattern=snow num-buffers=500 ! video/x-raw,format=I420,width=48,height=27 ! videoscale ! "
               "video/x-raw,width=320,height=180,pixel-aspect-ratio=1/1,framerate=25/1 ! x264enc speed-preset=ultrafast "
               f"pass=quant quantizer=10 ! h264parse ! mp4mux ! filesink location={folder}/video.mp4")
        with subprocess.Popen([root / "examples/quickstart.sh", "--monitor", "--plugin", build / "gst/vmafhip",
                               f"{folder}/video.mp4"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8",
                              start_new_session=True) as script:
            try:
                while not (found := re.match(r"Dashboard: (\S+)", line := script.stdout.readline())):
                    assert line, "it prints no address"
                before, end = None, time.monotonic() + LIMIT
                while True:
                    with urllib.request.urlopen(found[1] + "api/state", timeout=LIMIT) as answer:
                        rendition = json.load(answer)["channels"][0]["renditions"][0]
                    if any(event["kind"] == "changed" and "bitrate = 300" in event["text"] for event in rendition["events"]):
                        if rendition["score"] is not None and before is not None and rendition["score"] < before - 10:
                            break
                    elif rendition["score"] is not None:
                        before = rendition["score"]
                    assert time.monotonic() < end, f"the score does not fall: {before}, then {rendition['score']}"
                    time.sleep(0.2)
                script.send_signal(signal.SIGINT)
                out = script.communicate(timeout=LIMIT)[0]
                assert script.returncode == 0 and "x264" in out, (script.returncode, out)
            finally:
                if script.poll() is None:
                    script.kill()
    print(f"from {before:.1f} to {rendition['score']:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
