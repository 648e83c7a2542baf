#!/usr/bin/env python3
"""Turns what `gst-launch-1.0 -m` prints about a vmafhip element into lines, of frames, windows, alerts and what is known
of the offset with sync=content, and a table at the end.

    gst-launch-1.0 -m … vmafhip name=v ! fakesink | examples/scores.py [--duration SECONDS | --frames N] [--progress]
                                                                       [--order 'NAME NAME…']

With the length of the video, each line also says how far the comparison is and how long the rest will take. With
--progress the frames' lines are one line of progress instead: on a terminal it is rewritten, else there is one every ten
seconds and one at the end. Of several elements the lines and tables have their names; with --order the tables come in this
order, and a line for each element after them. Exit status 0 if each posted pooled scores of at least one frame, else 1. The
messages must have their own name (no message-name); gst-launch-1.0 may speak any language.
"""
import argparse
import os
import re
import signal
import sys
import time

# Got message #7 from element "v" (element): vmafhip, type=… Other languages have other quotation marks and another order.
ANY_MESSAGE = re.compile(r'^[^"„“”«»]*["„“”«»]\s*([^"„“”«»]*?)\s*["“”»«].*?[(（]\w+[)）]')
MESSAGE = re.compile(ANY_MESSAGE.pattern + r".*?\b(vmafhip, type=.*)")
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


def score_parts(frame):
    """With several models or none at all, every name goes beside its value."""
    scores = frame.get("models") or frame.get("features") or {}
    return [f"{name} {value:.6f}" for name, value in scores.items()]


def frame_line(frame, done):
    parts = [f"frame {frame['index']:5}"]
    if frame.get("stream-time", NONE) != NONE:
        parts += done + [clock(frame["stream-time"])]
    parts += score_parts(frame)
    if frame.get("repeated"):
        parts.append("(repeated)")
    return "  ".join(parts)


class Progress:
    """How much of the video has been compared, and how long the rest takes at the speed so far. Several elements
    are as far as the last of them."""

    def __init__(self, duration, total, shown):
        self.duration, self.total, self.shown = duration, total, shown
        self.terminal = sys.stderr.isatty()
        self.reached, self.frames, self.last = {}, {}, {}
        self.start = self.told = None
        self.drawn = False  # it ends without a line break

    def take(self, element, frame):
        """A frame's progress: its percentage and the time left, as far as they are known."""
        now = time.monotonic()
        self.frames[element] = self.frames.get(element, 0) + 1
        self.last[element] = frame
        if self.start is None:
            self.start = self.told = now
        at = frame.get("stream-time", NONE)
        if self.total:
            self.reached[element] = min(1, self.frames[element] / self.total)
        elif self.duration and at != NONE:
            length = frame["duration"] if frame.get("duration", NONE) != NONE else 0
            self.reached[element] = min(1, 1e-9 * (at + length) / self.duration)
        else:
            return []
        share = min(self.reached.values())
        left = (now - self.start) * (1 - share) / share if share else 0
        return [f"{100 * share:3.0f} %"] + ([f"{clock(left * 1e9)[:-4]} left"] if left >= 1 else [])

    def tell(self, done, last=False):
        """Draws the line if it is time for it; at the end always, if there is something to say."""
        now = time.monotonic()
        if not self.shown or not self.frames or (not last and now - self.told < (0.1 if self.terminal else 10)):
            return
        self.told = now
        spent = now - self.start
        speed = [f"{min(self.frames.values()) / spent:.1f} frames/s"] if spent >= 1 else []
        latest = [prefixed(name, "  ".join(score_parts(frame)), self.last) for name, frame in self.last.items()]
        text = "  ".join(done + [f"{min(self.frames.values())} frames"] + speed + latest)
        self.drawn = self.terminal and not last
        print("\r\033[K" * self.terminal + text, end="" if self.drawn else "\n", file=sys.stderr, flush=True)

    def clear(self):
        """Before any other line."""
        if self.drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self.drawn = False


def prefixed(element, text, elements):
    return f"{element}: {text}" if len(elements) > 1 else text


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


def summary_lines(order, elements):
    """The mean of each element's models, or features without a model, as a table."""
    means = {name: {score: values["mean"] for score, values in (pooled.get("models") or pooled.get("features", {})).items()}
             for name, pooled in elements.items() if pooled}
    scores = list(dict.fromkeys(score for values in means.values() for score in values))
    width = max(map(len, [*order, "mean of"]))
    yield f"{'mean of':{width}}" + "".join(f"  {score:>13}" for score in scores)
    for name in order:
        values = means.get(name, {})
        yield f"{name:{width}}" + "".join(f"  {values[score]:{max(13, len(score))}.6f}" if score in values else
                                          f"  {'-':>{max(13, len(score))}}" for score in scores)


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


def print_table(name, pooled, elements):
    title = [name] if len(elements) > 1 else []
    print("\n" + "\n".join(title + list(table_lines(pooled))), flush=True)


class Complaints:
    """Passes warnings and errors on, with their explanation: gst-launch prints the text, 'Additional debug info:', a
    line with the place in the source, and the explanation."""

    def __init__(self):
        self.state = "none"
        self.failed = False

    def line(self, line):
        self.failed |= line.startswith(("ERROR", "WARNING: erroneous pipeline", "Failed to set pipeline"))
        if line.startswith(("WARNING", "ERROR")):
            print(line, end="", file=sys.stderr)
            self.state = "text"
        elif self.state == "text":
            self.state = "place" if line.startswith("Additional debug info") else "none"
        elif self.state == "place":
            self.state = "explanation"
        elif self.state == "explanation":
            if not line.startswith(("Got ", "Execution", "Setting")):
                print("  " + line, end="", file=sys.stderr)
            self.state = "none"


LINES = {"window": window_line, "alert": alert_line, "sync": sync_line}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--duration", type=float, help="of the video in seconds")
    parser.add_argument("--frames", type=int, help="of the video")
    parser.add_argument("--order", default="", help="of several elements, by their names")
    parser.add_argument("--progress", action="store_true", help="one line of progress instead of a line a frame")
    arguments = parser.parse_args()
    # Ctrl-C ends the pipeline, whose last words are still wanted.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    elements = {}  # name: its last pooled scores
    messages = 0
    played = False
    complaints = Complaints()
    progress = Progress(arguments.duration, arguments.frames, arguments.progress)
    order = arguments.order.split()
    done = []
    for line in sys.stdin:
        messages += bool(ANY_MESSAGE.match(line))
        match = MESSAGE.match(line)
        if not match:
            played |= "PLAYING" in line or "EOS" in line
            if line.startswith(("WARNING", "ERROR")):
                progress.clear()
            complaints.line(line)
            continue
        name, message = match.group(1), Parser(match.group(2)).structure()
        elements.setdefault(name, None)
        kind = message.get("type")
        if kind == "frame":
            done = progress.take(name, message)
            if arguments.progress:
                progress.tell(done)
            else:
                print(prefixed(name, frame_line(message, done), elements), flush=True)
        elif kind == "pooled":
            elements[name] = message
            progress.clear()
            if None not in elements.values():
                progress.tell(done, last=True)
            if not order:
                print_table(name, message, elements)
        elif kind in LINES:
            progress.clear()
            print(prefixed(name, LINES[kind](message), elements), flush=True)
    for name in order:
        if elements.get(name):
            print_table(name, elements[name], elements)
    if order:
        print("\n" + "\n".join(summary_lines(order, elements)), flush=True)
    # What did not even start has said why on standard error.
    if not messages and played and not complaints.failed:
        print("No message came in: gst-launch-1.0 prints them with -m only", file=sys.stderr)
    elif not elements and played and not complaints.failed:
        print("None of the messages is named vmafhip: leave message-name out", file=sys.stderr)
    elif elements and not complaints.failed and None in elements.values():
        print("No pooled scores came in: with -e, gst-launch-1.0 ends the streams at Ctrl-C and waits for them",
              file=sys.stderr)
    sys.exit(0 if elements and all(pooled and pooled.get("frames") for pooled in elements.values()) else 1)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
