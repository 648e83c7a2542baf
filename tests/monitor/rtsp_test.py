#!/usr/bin/python3
"""vmafhip-monitor on two streams of a real RTSP server (libgstrtspserver) on this machine: what belongs together is found
in the pictures; when the server dies it waits for it, and goes on, with counters that never fall.

    rtsp_test.py SOURCE_ROOT MONITOR

Exit status 77 (skipped) without the server's library for Python, or the codec.
"""
import pathlib
import subprocess
import sys
import tempfile

from monitor_process import Monitor

NAME = "studio/edge"


class Server:
    def __init__(self, root, port="0"):
        self.process = subprocess.Popen([root / "examples/gst-launch/rtsp-server.py", "--port", port, "--size", "160x90"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("rtsp://127.0.0.1:"), self.address

    @property
    def port(self):
        return self.address.rpartition(":")[2]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def compared(monitor):
    return monitor.metric("vmafhip_frames_compared_total", channel="studio", rendition="edge")


def main():
    root, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    needed = "import gi; gi.require_version('GstRtspServer', '1.0')"
    if subprocess.run(["/usr/bin/python3", "-c", needed], check=False, capture_output=True).returncode != 0:
        print("gir1.2-gst-rtsp-server-1.0 is not here")
        return 77
    if any(subprocess.run(["gst-inspect-1.0", "--exists", name], check=False).returncode
           for name in ("x264enc", "avdec_h264", "rtspsrc")):
        print("x264enc, avdec_h264 or rtspsrc is not here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        server = Server(root)
        try:
            with Monitor(program, "--ref", f"{server.address}/ref", "--dist", f"{server.address}/dist", "--channel", "studio",
                         "--name", "edge", log=f"{folder}/log") as monitor:
                def running():
                    return monitor.renditions()[NAME]["state"] == "running"

                monitor.wait("the first score", running)
                before = monitor.wait("50 frames", lambda: (compared(monitor) or 0) >= 50 and compared(monitor))
                rendition = monitor.renditions()[NAME]
                assert rendition["sync_state"] == "locked" and rendition["confidence"] > 0, rendition
                assert 20 < rendition["score"] <= 100 and rendition["caps"].startswith("160x90"), rendition
                assert monitor.seen(NAME, "started") and not monitor.seen(NAME, "lost"), monitor.events

                # It dies, and comes back at the same address a while later.
                port = server.port
                server.kill()
                monitor.wait("the loss is told", lambda: monitor.seen(NAME, "lost"))
                monitor.wait("it waits", lambda: monitor.metric("vmafhip_up", channel="studio") == 0)
                monitor.wait("an attempt finds nobody", lambda: len(monitor.seen(NAME, "lost")) >= 2)
                assert compared(monitor) >= before
                server = Server(root, port)
                started = len(monitor.seen(NAME, "started"))
                monitor.wait("it scores again", lambda: len(monitor.seen(NAME, "started")) > started)
                monitor.wait("and goes on", lambda: compared(monitor) >= before + 50)
                restarts = monitor.metric("vmafhip_restarts_total", channel="studio")
                assert restarts >= 2 and restarts == len(monitor.seen(NAME, "retry")), (restarts, monitor.events)
                assert monitor.metric("vmafhip_up", channel="studio") == 1
                status, out = monitor.stop()
                assert status == 0 and "edge" in out, (status, out)
        finally:
            server.kill()
    print("lost, found again")
    return 0


if __name__ == "__main__":
    sys.exit(main())
