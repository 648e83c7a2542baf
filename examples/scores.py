#!/usr/bin/env python3
"""Turns what `gst-launch-1.0 -m` prints about a vmafhip element into lines, of frames, windows, alerts and what is known
of the offset with sync=content, and a table at the end.

    gst-launch-1.0 -m … vmafhip name=v ! fakesink | examples/scores.py [--duration SECONDS]

With the duration of the video, each line also says how far the comparison is. Exit status 0 if the element
posted pooled scores of at least one frame, else 1. The messages must have their own name (no message-name).
"""
import argparse
import os
import re
import signal
import sys

MESSAGE = re.compile(r'^Got message #\d+ from element "[^"]*" \(element\): (vmafhip, .*)$')
COLUMNS = ["mean", "min", "max", "harmonic-mean", "stddev", "p1", "p5", "p50"]
NONE = 2**64 - 1  # GST_CLOCK_TIME_NONE


class Parser:
    """GstStructure's text form: NAME, FIELD=(TYPE)VALUE, …; where a VALUE may be a quoted structure again."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def until(self, stops):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in stops:
            self.at += 1
        return self.text[start:self.at]

    def quoted(self):
        self.at += 1
        out = bytearray()
        while self.text[self.at] != '"':
            if self.text[self.at] != "\\":
                out += self.text[self.at].encode()
                self.at += 1
            elif octal := re.match(r"[0-3][0-7]{2}", self.text[self.at + 1:self.at + 4]):
                out.append(int(octal.group(), 8))
                self.at += 4
            else:
                out += self.text[self.at + 1].encode()
                self.at += 2
        self.at += 1
        return out.decode(errors="replace")

    def value(self):
        """Lists and arrays come as their text."""
        if self.text[self.at] == '"':
            return self.quoted()
        if self.text[self.at] in "{<[":
            return self.until("}>]") + self.until(",;")
        return self.until(",;")

    def structure(self):
        fields = {}
        self.until(",;")
        while self.at < len(self.text) and self.text[self.at] == ",":
            self.at += 1
            name = self.until("=").strip()
            self.at += 1
            kind = ""
            if self.text[self.at] == "(":
                self.at += 1
                kind = self.until(")")
                self.at += 1
            text = self.value()
            if kind in ("structure", "GstStructure"):
                fields[name] = Parser(text).structure()
            elif kind == "double":
                fields[name] = float(text)
            elif kind in ("int", "uint", "gint64", "guint64"):
                fields[name] = int(text)
            elif kind == "boolean":
                fields[name] = text == "true"
            else:
                fields[name] = text
        return fields


def clock(nanoseconds):
    if nanoseconds == NONE:
        return "-"
    seconds = nanoseconds / 1e9
    return f"{int(seconds // 3600)}:{int(seconds // 60) % 60:02}:{seconds % 60:06.3f}"


def frame_line(frame, duration):
    parts = [f"frame {frame['index']:5}"]
    time = frame.get("stream-time", NONE)
    if time != NONE:
        if duration:
            end = time + (frame["duration"] if frame.get("duration", NONE) != NONE else 0)
            parts.append(f"{min(100, 100e-9 * end / duration):3.0f} %")
        parts.append(clock(time))
    # With several models or none at all, every name goes beside its value.
    scores = frame.get("models") or frame.get("features") or {}
    parts += [f"{name} {value:.6f}" for name, value in scores.items()]
    if frame.get("repeated"):
        parts.append("(repeated)")
    return "  ".join(parts)


def window_line(window):
    score = f"{window['score']:.6f}" if "score" in window else "none"
    return (f"window {clock(window['start'])} - {clock(window['stop'])}  {window['frames']} frames  "
            f"{window['pool-method']} {score}")


def alert_line(alert):
    parts = [f"ALERT {alert['state']} {clock(alert['running-time'])}", alert["source"]]
    if "score" in alert:
        parts.append(f"{alert['score']:.6f}")
    return "  ".join(parts + [f"(since {clock(alert['since'])})"])


def sync_line(sync):
    if sync["state"] != "locked":
        return f"sync {sync['state']}"
    return f"sync locked  offset {sync['offset'] / 1e9:+.3f} s  confidence {sync['confidence']:.2f}"


def table_lines(pooled):
    scores = {**pooled.get("models", {}), **pooled.get("features", {})}
    columns = [c for c in COLUMNS if any(c in values for values in scores.values())]
    width = max([len(name) for name in scores] + [10])
    yield f"{'score':{width}}" + "".join(f"{column:>15}" for column in columns)
    for name, values in scores.items():
        cells = (f"{values[c]:15.6f}" if c in values else f"{'-':>15}" for c in columns)
        yield f"{name:{width}}" + "".join(cells)
    for name, value in pooled.get("aggregates", {}).items():  # of the stream as a whole
        yield f"{name:{width}}{value:15.6f}"
    told = ("ref-unmatched", "dist-unmatched", "unknowable", "repeated", "late", "skipped-overload", "extrapolated",
            "imported", "registered", "mapped", "copied", "held-copied")
    counters = {key: pooled[key] for key in told if pooled.get(key)}
    yield ""
    facts = [f"{pooled.get('frames', 0)} frames"] + [f"{count} {key}" for key, count in counters.items()]
    for key in ("backend", "model-source"):
        if pooled.get(key):
            facts.append(f"{key}: {pooled[key]}")
    yield ", ".join(facts)


class Complaints:
    """Passes warnings and errors on, with their explanation: gst-launch prints the text, 'Additional debug info:', a
    line with the place in the source, and the explanation."""

    def __init__(self):
        self.state = "none"
        self.failed = False

    def line(self, line):
        if line.startswith(("WARNING", "ERROR")):
            print(line, end="", file=sys.stderr)
            self.state = "text"
            self.failed |= line.startswith(("ERROR", "WARNING: erroneous pipeline"))
        elif self.state == "text":
            self.state = "place" if line.startswith("Additional debug info") else "none"
        elif self.state == "place":
            self.state = "explanation"
        elif self.state == "explanation":
            if not line.startswith(("Got ", "Execution", "Setting")):
                print("  " + line, end="", file=sys.stderr)
            self.state = "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--duration", type=float, help="of the video in seconds")
    duration = parser.parse_args().duration
    # Ctrl-C ends the pipeline, whose last words are still wanted.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pooled = None
    messages = own = 0
    complaints = Complaints()
    for line in sys.stdin:
        messages += line.startswith("Got message")
        match = MESSAGE.match(line)
        if not match:
            complaints.line(line)
            continue
        own += 1
        message = Parser(match.group(1)).structure()
        if message.get("type") == "frame":
            print(frame_line(message, duration), flush=True)
        elif message.get("type") == "window":
            print(window_line(message), flush=True)
        elif message.get("type") == "alert":
            print(alert_line(message), flush=True)
        elif message.get("type") == "sync":
            print(sync_line(message), flush=True)
        elif message.get("type") == "pooled":
            pooled = message
            print("\n" + "\n".join(table_lines(pooled)), flush=True)
    if not messages and not complaints.failed:
        print("No message came in: gst-launch-1.0 prints them with -m only", file=sys.stderr)
    elif not complaints.failed and not own:
        print("None of the messages is named vmafhip: leave message-name out", file=sys.stderr)
    elif not complaints.failed and not pooled:
        print("No pooled scores came in: with -e, gst-launch-1.0 ends the streams at Ctrl-C and waits for them",
              file=sys.stderr)
    sys.exit(0 if pooled and pooled.get("frames") else 1)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
