#!/usr/bin/env python3
"""vmafhip-monitor through everything that happens to live streams, again and again: nothing leaks, nothing is forgotten.

    soak.py MONITOR [--seconds N] [--folder FOLDER]

Two channels, with a reference and a distorted stream each (live_source.py). One is left in peace, and must not notice what
happens to the other: end of stream, connection refused, silence, other sizes, formats and frame rates, time stamps that jump
by an hour, damaged pictures and containers, a bad encoding; its result file is on a full disk. Each fault must be told, as an
event and in the metrics, and be got over; there is one alert for each bad encoding. After a first round, memory, descriptors
and threads stay as they are. Rounds go on for N seconds, at least two.

Nothing is expected by a certain time but for generous limits. The monitor's log is kept in FOLDER.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from live_source import Source, make_programme
from monitor_process import Monitor

FAULTY, STEADY = "faulty/live", "steady/live"
HOUR = 3600
MIB = 1 << 20
GROWTH = 12 * MIB  # of resident memory after the first round, in which there are some ten starts


class Soak:
    def __init__(self, monitor, ref, dist):
        self.monitor, self.ref, self.dist = monitor, ref, dist
        self.rounds = 0

    # ---- what is looked at ----------------------------------------------------------------------

    def compared(self):
        return self.monitor.metric("vmafhip_frames_compared_total", channel="faulty")

    def scoring(self, what):
        """Until it scores, and has gone on with it."""
        self.monitor.wait(f"scores after {what}", lambda: self.monitor.metric("vmafhip_up", channel="faulty") == 1)
        before = self.compared()
        self.monitor.wait(f"more scores after {what}", lambda: self.compared() >= before + 15)

    def told(self, kind, after, text=""):
        return self.monitor.wait(f"event {kind} {text!r}", lambda: self.monitor.seen(FAULTY, kind, after, text))

    @contextlib.contextmanager
    def restart(self, kind, text=""):
        """What happens within ends the run, told so, and another one begins when it is over."""
        after = len(self.monitor.events)
        yield
        self.told(kind, after, text)
        self.told("retry", after)

    # ---- faults: each returns when it is over ---------------------------------------------------------

    def bad_encoding(self):
        after = len(self.monitor.events)
        self.dist.kind = "bad"
        self.told("alert_raised", after)
        self.monitor.wait("the alert in the metrics", lambda: self.monitor.metric("vmafhip_alert", channel="faulty") == 1)
        assert self.monitor.renditions()[FAULTY]["alert"]
        self.dist.kind = "good"
        self.told("alert_cleared", after)
        self.monitor.wait("its end", lambda: self.monitor.metric("vmafhip_alert", channel="faulty") == 0)

    def end_of_distorted(self):
        with self.restart("lost|ended"):
            self.dist.hang_up()

    def end_of_reference(self):
        with self.restart("lost|ended"):
            self.ref.hang_up()

    def end_of_both(self):
        with self.restart("ended"):
            self.ref.hang_up()
            self.dist.hang_up()

    def connection_refused(self):
        after = len(self.monitor.events)
        self.dist.refuse()
        self.monitor.wait("an attempt finds nobody", lambda: len(self.monitor.seen(FAULTY, "lost", after)) >= 2)
        self.dist.listen()

    def silent_distorted(self):
        with self.restart("lost", "distorted stream has given no frame"):
            self.dist.silent = True
        self.dist.silent = False

    def silent_reference(self):
        with self.restart("lost", "reference has given no frame"):
            self.ref.silent = True
        self.ref.silent = False

    def other_size(self):
        self.other_pictures(self.dist, "large")

    def other_size_of_reference(self):
        self.other_pictures(self.ref, "large")

    def other_format(self):
        self.other_pictures(self.dist, "grey")

    def other_pictures(self, source, kind):
        for shown in (kind, "good"):
            after = len(self.monitor.events)
            source.kind = shown
            self.told("reset", after)
            self.scoring(f"pictures that are {shown}")

    def half_the_frame_rate(self):
        unmatched = self.monitor.metric("vmafhip_frames_unmatched_total", channel="faulty", pad="reference")
        after = len(self.monitor.events)
        self.dist.every = 2
        self.told("dropped", after)
        self.dist.every = 1
        assert self.monitor.metric("vmafhip_frames_unmatched_total", channel="faulty", pad="reference") > unmatched

    def jump_of_distorted(self):
        self.jump(self.dist)

    def jump_of_reference(self):
        self.jump(self.ref)

    def jump_of_both(self):
        self.jump(self.ref, self.dist)

    def jump(self, *sources):
        for seconds in (HOUR, -HOUR):
            after = len(self.monitor.events)
            for source in sources:
                source.first += seconds
            self.told("reset|lost|sync", after)
            self.scoring(f"a jump by {seconds} s")

    def damaged_pictures(self):
        """For less than the alert's duration."""
        self.dist.broken = "picture"
        time.sleep(0.3)
        self.dist.broken = None

    def damaged_container(self):
        with self.restart("lost|ended|warning"):
            self.dist.broken = "stream"
            time.sleep(0.3)
            self.dist.broken = None

    # An end of both streams is no failure, and the pause before the next attempt is short again; after others it doubles.
    FAULTS = [bad_encoding, end_of_distorted, end_of_reference, end_of_both, connection_refused, end_of_both, silent_distorted,
              silent_reference, end_of_both, other_size, other_size_of_reference, other_format, half_the_frame_rate,
              jump_of_distorted, jump_of_reference, end_of_both, jump_of_both, damaged_pictures, damaged_container, end_of_both]

    def round(self):
        for fault in self.FAULTS:
            begin, frames = time.monotonic(), self.compared()
            fault(self)
            self.scoring(fault.__name__)
            assert self.compared() > frames
            print(f"round {self.rounds + 1}: {fault.__name__}, {time.monotonic() - begin:.1f} s", flush=True)
        self.rounds += 1

    # ---- what must hold after each round ----------------------------------------------------------------

    def check(self):
        monitor = self.monitor
        alerts = [len(monitor.seen(FAULTY, kind)) for kind in ("alert_raised", "alert_cleared")]
        assert alerts == [self.rounds] * 2, f"{alerts} alerts raised and cleared in {self.rounds} rounds: {monitor.events}"
        assert monitor.metric("vmafhip_alerts_total", channel="faulty") == self.rounds

        # Page, stream of events and metrics have the same; another event may come just now.
        def agree():
            streamed = list(monitor.events)
            listed = {(name, event["kind"], event["text"], event["id"]) for name, rendition in monitor.renditions().items()
                      for event in rendition["events"]}
            counted = {(f"{dict(labels)['channel']}/{dict(labels)['rendition']}", dict(labels)["kind"]): value
                       for (name, labels), value in monitor.metrics().items() if name == "vmafhip_events_total" and value}
            of_kind = collections.Counter(event[:2] for event in streamed)
            return of_kind == counted and set(streamed[-300:]) <= listed
        monitor.wait("the page, the stream of events and the metrics have the same events", agree)
        assert monitor.seen(FAULTY, "file_error", text="[Nn]o space"), "the full disk is not told"
        restarts = monitor.metric("vmafhip_restarts_total", channel="faulty")
        assert restarts == len(monitor.seen(FAULTY, "retry")), restarts

        # Nobody else noticed.
        steady = monitor.renditions()[STEADY]
        kinds = {kind for name, kind, _, _ in monitor.events if name == STEADY}
        assert steady["state"] == "running" and not kinds & {"lost", "ended", "retry", "alert_raised", "file_error"}, kinds
        assert steady["counters"]["restarts"] == 0 and steady["pooled"]["vmaf_v0.6.1"]["min"] > 60, steady

        worst = monitor.renditions()[FAULTY]["worst"]
        assert len(worst) == 10 and all(frame["reference"] for frame in worst), worst
        with contextlib.closing(monitor.open(worst[0]["difference"])) as answer:
            assert answer.read(8) == b"\x89PNG\r\n\x1a\n"

    def resources(self, limits=None):
        """Once as few descriptors and threads are there as in these limits: what a run leaves behind goes a moment later."""
        if limits:
            self.monitor.wait(f"no more descriptors and threads than {limits[1:]}, now {self.monitor.process_numbers()[1:]}",
                              lambda: all(now <= limit for now, limit in zip(self.monitor.process_numbers()[1:], limits[1:])))
        return self.monitor.process_numbers()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("monitor")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    if any(subprocess.run(["gst-inspect-1.0", "--exists", name], check=False).returncode
           for name in ("jpegenc", "jpegdec", "matroskademux", "souphttpsrc")):
        print("jpegenc, jpegdec, matroskademux or souphttpsrc is not here")
        return 77
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(arguments.folder or scratch)
        programme = make_programme()
        ref, dist, steady_ref, steady_dist = (Source(programme) for _ in range(4))
        os.symlink("/dev/full", f"{scratch}/full.csv")
        pathlib.Path(scratch, "soak.conf").write_text(f"""
[monitor]
alert-threshold=88
alert-clear=92
alert-duration=1
stall=2
window=2
set=sync-window=2000000000
[channel faulty]
ref={ref.uri}
results={scratch}/full.csv
[rendition faulty/live]
dist={dist.uri}
[channel steady]
stall=60
ref={steady_ref.uri}
[rendition steady/live]
dist={steady_dist.uri}
""", encoding="utf-8")
        # What Meson has written all over fresh memory makes pages resident that nobody uses, and is no leak.
        with Monitor(arguments.monitor, "--config", f"{scratch}/soak.conf", "--report", f"{scratch}/report.html",
                     log=folder / "soak.log", environment={"MALLOC_PERTURB_": "0"}) as monitor:
            soak = Soak(monitor, ref, dist)
            soak.scoring("the start")
            soak.round()
            soak.check()
            base = soak.resources()
            limits = (base[0] + GROWTH, base[1] + 4, base[2] + 4)
            while soak.rounds < 2 or time.monotonic() - begin < arguments.seconds:
                soak.round()
                soak.check()
                now = soak.resources(limits)
                print(f"after {soak.rounds} rounds, {time.monotonic() - begin:.0f} s: {now[0] / MIB:.1f} MiB "
                      f"({(now[0] - base[0]) / MIB:+.1f} since the first), {now[1]} descriptors, {now[2]} threads", flush=True)
                assert now[0] <= limits[0], "memory grows"
            status, out = monitor.stop()
            assert status == 0 and "steady/live" in out, (status, out)
            report = pathlib.Path(scratch, "report.html").read_text(encoding="utf-8")
            assert "faulty" in report and "steady" in report
    print(f"{soak.rounds} rounds of {len(Soak.FAULTS)} faults")
    return 0


if __name__ == "__main__":
    sys.exit(main())
