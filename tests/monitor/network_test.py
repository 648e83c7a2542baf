#!/usr/bin/env python3
"""vmafhip-monitor on streams of this machine's network: RTP that session descriptions (SDP) describe, and HLS over HTTP. Both are
scored; where they die it waits for them, and goes on.

    network_test.py MONITOR

Nothing is expected by a certain time but for generous limits. Exit status 77 (skipped) without the elements.
"""
import functools
import http.server
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading

from monitor_process import Monitor

NAME = "studio/edge"
NEEDED = ("jpegenc", "jpegdec", "rtpjpegpay", "rtpjpegdepay", "sdpsrc", "hlsdemux", "x264enc", "mpegtsmux", "avdec_h264", "souphttpsrc")
# Noise of a few large blocks, of which no moment looks like another.
PICTURES = ("pattern=snow ! video/x-raw,format=I420,width=16,height=12,framerate=25/1 ! videoscale ! "
            "video/x-raw,width=160,height=120,pixel-aspect-ratio=1/1 ! tee name=t")
BOX = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"


def sender(pipeline):
    return subprocess.Popen(["gst-launch-1.0", "-q", *pipeline.split()], stdin=subprocess.DEVNULL)


def kill(process):
    process.kill()
    process.wait()


def free_ports():
    """Two of UDP for RTP, each with the one of RTCP above it."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1] & ~1
        try:
            for number in range(port, port + 4):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                    one.bind(("127.0.0.1", number))
        except OSError:
            continue
        return port, port + 2


def scored(monitor):
    return monitor.metric("vmafhip_frames_scored_total", channel="studio", rendition="edge") or 0


def rtp(program, folder):
    ports = free_ports()
    for name, port in zip(("ref", "dist"), ports):
        # JPEG is payload 26, once and for all.
        (folder / f"{name}.sdp").write_text(
            "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=test\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
            f"m=video {port} RTP/AVP 26\r\na=rtpmap:26 JPEG/90000\r\n", encoding="ascii")
    stream = f"videotestsrc is-live=true {PICTURES} " + " ".join(
        f"t. ! {BOX} ! jpegenc quality={quality} ! rtpjpegpay ! udpsink host=127.0.0.1 port={port}"
        for quality, port in zip((95, 3), ports))
    source = sender(stream)
    try:
        with Monitor(program, "--ref", folder / "ref.sdp", "--dist", folder / "dist.sdp", "--channel", "studio", "--name", "edge",
                     "--stall", 2, log=folder / "rtp.log") as monitor:
            monitor.wait("50 frames of RTP", lambda: scored(monitor) >= 50)
            score = monitor.renditions()[NAME]["score"]
            assert 5 < score < 99, score
            kill(source)
            monitor.wait("silence is told", lambda: monitor.seen(NAME, "lost", text="has given no frame for 2 s"))
            before = scored(monitor)
            source = sender(stream)
            monitor.wait("50 more frames", lambda: scored(monitor) >= before + 50)
            assert monitor.stop()[0] == 0
    finally:
        kill(source)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:  # whoever asked does not wait for the answer
            pass


def hls(program, folder):
    served = folder / "served"
    made = folder / "made"
    made.mkdir()
    line = f"videotestsrc num-buffers=75 {PICTURES} " + " ".join(
        f"t. ! {BOX} ! x264enc speed-preset=ultrafast pass=quant quantizer={quantizer} ! h264parse ! mpegtsmux ! "
        f"filesink location={made}/{name}.ts" for name, quantizer in (("ref", 10), ("dist", 40)))
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True, stdin=subprocess.DEVNULL, timeout=120)
    for name in "ref", "dist":
        (made / f"{name}.m3u8").write_text(f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n{name}.ts\n"
                                           "#EXT-X-ENDLIST\n", encoding="ascii")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=served))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        with Monitor(program, "--ref", f"{address}/ref.m3u8", "--dist", f"{address}/dist.m3u8", "--channel", "studio", "--name", "edge",
                     "--sync", "timestamp", "--retry", "0.2", "--once", log=folder / "hls.log") as monitor:
            monitor.wait("that there is nothing yet", lambda: len(monitor.seen(NAME, "lost")) >= 2)
            assert all(".m3u8: " in lost[2] and "(HTTP status 404)" in lost[2] for lost in monitor.seen(NAME, "lost")), monitor.events
            made.rename(served)
            out = monitor.process.communicate(timeout=120)[0]
            assert monitor.process.returncode == 0, monitor.process.returncode
            row = out.splitlines()[-1].split()
            assert row[0] == "edge" and row[-1] == "75" and 5 < float(row[1]) < 99.9, out
    finally:
        server.shutdown()
        server.server_close()


def main():
    missing = [name for name in NEEDED if subprocess.run(["gst-inspect-1.0", "--exists", name], check=False).returncode]
    if missing:
        print("not here:", *missing)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        rtp(sys.argv[1], pathlib.Path(folder))
        hls(sys.argv[1], pathlib.Path(folder))
    print("RTP by SDP and HLS over HTTP: scored, lost, found again")
    return 0


if __name__ == "__main__":
    sys.exit(main())
