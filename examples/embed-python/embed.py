#!/usr/bin/python3
"""The element in a Python program: scores of one file against another, by messages and on the buffers themselves.

    embed.py REFERENCE DISTORTED        packages: python3-gi gir1.2-gstreamer-1.0
"""
import sys

import gi
gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst


def on_buffer(_pad, info):
    """In the streaming thread: each buffer that leaves, with its score if it has one. One write a line, as two threads print."""
    buffer = info.get_buffer()
    meta = buffer.get_custom_meta("VmafHipScore")
    if meta:
        print(f"buffer {buffer.pts} {meta.get_structure().get_value('score'):.6f}\n", end="")
    return Gst.PadProbeReturn.OK


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Gst.init(None)
    try:
        pipeline = Gst.parse_launch(
            "vmafhip name=v ! fakesink  filesrc name=ref ! decodebin ! videoconvert ! v.ref_sink "
            "filesrc name=dist ! decodebin ! videoconvert ! v.dist_sink")
    except GLib.Error as error:
        sys.exit(error.message)
    pipeline.get_by_name("ref").set_property("location", sys.argv[1])
    pipeline.get_by_name("dist").set_property("location", sys.argv[2])
    pipeline.get_by_name("v").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, on_buffer)
    pipeline.set_state(Gst.State.PLAYING)
    wanted, failed = Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR, False
    while (message := pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, wanted)).type == Gst.MessageType.ELEMENT:
        s = message.get_structure()
        if s.has_name("vmafhip") and s.has_field("score"):  # type: frame, pooled, …
            print(f"{s.get_value('type')} {s.get_value('score'):.6f}\n", end="")
    if message.type == Gst.MessageType.ERROR:
        print(f"{message.src.get_name()}: {message.parse_error()[0].message}", file=sys.stderr)
        failed = True
    pipeline.set_state(Gst.State.NULL)
    sys.exit(failed)


if __name__ == "__main__":
    main()
