#!/usr/bin/python3
"""An RTSP server on this machine, for those who have no two streams at hand: /ref and /dist show the same moving noise,
/dist at a low bit rate; each begins when its first client comes, so that their time stamps do not tell what belongs
together. Prints its address once it can be asked; ends with its standard input, or killed.

    rtsp-server.py [--port PORT] [--size WIDTHxHEIGHT] [--bitrate KBITS]     PORT 0: any free one

Packages: python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly
"""
import argparse
import sys

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstRtspServer
except (ImportError, ValueError) as error:
    sys.exit(f"{error}: install python3-gi and gir1.2-gst-rtsp-server-1.0")

# Noise of few samples, scaled up: blocks that move at random, so that no moment looks like another.
SOURCE = ("videotestsrc is-live=true pattern=snow ! video/x-raw,format=I420,width=16,height=10,framerate=25/1 ! videoscale ! "
          "video/x-raw,width={width},height={height},pixel-aspect-ratio=1/1 ! x264enc tune=zerolatency speed-preset=ultrafast "
          "key-int-max=25 bitrate={bitrate} ! rtph264pay name=pay0 pt=96 config-interval=-1")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", default="0")
    parser.add_argument("--size", default="320x180")
    parser.add_argument("--bitrate", type=int, default=200, help="of /dist, in kbit/s")
    arguments = parser.parse_args()
    width, height = arguments.size.split("x")
    Gst.init(None)
    server = GstRtspServer.RTSPServer(address="127.0.0.1", service=arguments.port)
    for path, bitrate in (("/ref", 4000), ("/dist", arguments.bitrate)):
        factory = GstRtspServer.RTSPMediaFactory(shared=True)
        factory.set_launch(SOURCE.format(width=width, height=height, bitrate=bitrate))
        server.get_mount_points().add_factory(path, factory)
    loop = GLib.MainLoop()
    if not server.attach(None):
        sys.exit(f"port {arguments.port} of 127.0.0.1 is taken: give another, or 0")
    print(f"rtsp://127.0.0.1:{server.get_bound_port()}", flush=True)
    GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, lambda *_: bool(sys.stdin.buffer.read(1)) or loop.quit())
    loop.run()


if __name__ == "__main__":
    main()
