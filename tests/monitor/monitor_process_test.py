#!/usr/bin/env python3
"""vmafhip-monitor as a process: what it scores, says and survives. Clips are made on the spot.

    monitor_process_test.py MONITOR SOURCE_ROOT

Needs the environment of the element's tests. Nothing here depends on how fast the machine is: whatever is to happen is
waited for.
"""
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

MONITOR, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(ROOT / "examples"))
sys.dont_write_bytecode = True
import scores  # noqa: E402

PATIENCE = 150  # s
BOX = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"
ENCODER = "x264enc speed-preset=ultrafast pass=quant threads=1"
folder = None


def launch(line):
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)


def source(frames, size="160,height=120", more=""):
    return f"videotestsrc num-buffers={frames} pattern=ball {more} ! video/x-raw,format=I420,framerate=25/1,width={size}"


def make_clips():
    """ref and dist; some of other sizes as elementary streams; one whose time stamps jump by an hour, and
    the same without."""
    launch(f"{source(60)} ! tee name=t"
           f" t. ! {BOX} ! {ENCODER} quantizer=5 ! h264parse ! mp4mux ! filesink location={folder}/ref.mp4"
           f" t. ! {BOX} ! {ENCODER} quantizer=40 ! tee name=d"
           f" d. ! {BOX} ! h264parse ! mp4mux ! filesink location={folder}/dist.mp4"
           f" d. ! {BOX} ! h264parse ! mpegtsmux ! filesink location={folder}/dist.ts")
    for name, size in ("large", "160,height=120"), ("small", "96,height=80"):
        launch(f"{source(30, size)} ! {ENCODER} ! video/x-h264,stream-format=byte-stream ! filesink location={folder}/{name}.h264")
    with open(folder / "sizes.h264", "wb") as sizes:
        for name in "large", "small", "large":
            sizes.write((folder / f"{name}.h264").read_bytes())
    for name, seconds in ("jump", 3600), ("even", 1.2), ("gap", 6.2):  # where the second half begins
        launch(f"concat name=c adjust-base=false ! jpegenc ! matroskamux streamable=true ! filesink location={folder}/{name}.mkv"
               f" {source(30)} ! c. {source(30, more=f'timestamp-offset={int(seconds * 1e9)}')} ! c.")


class Monitor:
    """The running process; its dashboard's state and its log."""

    def __init__(self, *arguments, env=None):
        self.log = tempfile.TemporaryFile(dir=folder)
        self.process = subprocess.Popen(
            [MONITOR, "--listen", "127.0.0.1:0", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.log, encoding="utf-8", env={**os.environ, **(env or {})})
        first = self.process.stdout.readline()
        match = re.fullmatch(r"Dashboard: (http://127\.0\.0\.1:\d+/)\n", first)
        if not match:
            raise AssertionError(f"instead of its address: {first}{self.said()}")
        self.address = match.group(1)

    def said(self):
        self.log.seek(0)
        return self.log.read().decode()

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def renditions(self):
        state = json.loads(self.get("api/state"))
        return {r["name"]: r for c in state["channels"] for r in c["renditions"]}

    def open_page(self):
        """What a page that is open from now on has heard last of the first rendition, once it is called after the end."""
        answer = urllib.request.urlopen(self.address + "api/events", timeout=PATIENCE)

        def last():
            heard = b""
            with answer, contextlib.suppress(http.client.IncompleteRead, ConnectionError):
                for line in answer:
                    heard += line
            return json.loads(re.findall(rb"^event: rendition\ndata: (.*)\n", heard, re.M)[-1])
        return last

    def wait(self, what, reached):
        """Until reached(renditions) is true; gives them."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"it has ended ({self.process.returncode}) before: {what}\n{self.said()}")
            now = self.renditions()
            if reached(now):
                return now
            time.sleep(0.2)
        raise AssertionError(f"never: {what}\n{self.said()}")

    def end(self, sign=signal.SIGINT):
        """Status and standard output."""
        self.process.send_signal(sign)
        rest = self.process.communicate(timeout=PATIENCE)[0]
        return self.process.returncode, rest

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.process.stdout.close()
        self.log.close()


def once(*arguments, status=0):
    """Runs to the end, without `--once` as well, as nobody looks; standard output and error."""
    done = subprocess.run([MONITOR, "--listen", "none", *map(str, arguments)], capture_output=True,
                          stdin=subprocess.DEVNULL, encoding="utf-8", timeout=PATIENCE, check=False)
    if done.returncode != status:
        raise AssertionError(f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def table(output):
    """Rendition -> its numbers, of the summary."""
    rows = [line.split() for line in output.splitlines()]
    return {row[0]: dict(zip(rows[0][1:], map(float, row[1:]))) for row in rows[1:]}


def kinds(rendition):
    return [event["kind"] for event in rendition["events"]]


def texts(rendition, kind):
    return [event["text"] for event in rendition["events"] if event["kind"] == kind]


class Feed:
    """A clip over HTTP that can be told to misbehave."""

    def __init__(self, clip):
        self.mode = "well"
        self.clip = clip
        feed = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if feed.mode == "refuse":
                    return self.send_error(503)
                self.send_response(200)
                self.send_header("Content-Type", "video/mp2t")
                self.end_headers()
                try:
                    if feed.mode == "stall":
                        self.wfile.write(feed.clip[: len(feed.clip) // 2])
                        while feed.mode == "stall":
                            time.sleep(0.1)
                    else:
                        self.wfile.write(feed.clip)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.uri = f"http://user:geheim@127.0.0.1:{self.server.server_port}/dist.ts?token=auch"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.mode = "well"
        self.server.shutdown()
        self.server.server_close()


class MonitorTest(unittest.TestCase):
    def test_a_pair_scores_as_gst_launch_does(self):
        done = subprocess.run(
            ["gst-launch-1.0", "-m", "vmafhip", "name=v", "!", "fakesink",
             "filesrc", f"location={folder}/ref.mp4", "!", "decodebin", "!", "videoconvert", "!", "v.ref_sink",
             "filesrc", f"location={folder}/dist.mp4", "!", "decodebin", "!", "videoconvert", "!", "v.dist_sink"],
            capture_output=True, encoding="utf-8", timeout=PATIENCE, check=True)
        structures = [scores.Parser(m.group(2)).structure() for m in map(scores.MESSAGE.match, done.stdout.splitlines()) if m]
        pooled = [s for s in structures if s["type"] == "pooled"][-1]["models"]["vmaf_v0.6.1"]
        output, _ = once("--ref", folder / "ref.mp4", "--dist", folder / "dist.mp4", "--sync", "timestamp")
        row = table(output)["dist"]
        self.assertEqual(row["frames"], 60)
        for ours, theirs in ("mean", "mean"), ("min", "min"), ("p5", "p5"), ("harmonic", "harmonic-mean"):
            self.assertAlmostEqual(row[ours], pooled[theirs], delta=1e-6)

    def test_an_encoder_whose_container_shifts_time_stamps(self):
        encoder = "x264enc tune=zerolatency speed-preset=ultrafast threads=1"
        plain, _ = once("--ref", folder / "ref.mp4", "--encode", encoder)
        shifted, log = once("--ref", folder / "ref.mp4", "--encode", encoder + " ! mpegtsmux")
        self.assertIn("sync: Locked", log)
        self.assertEqual(table(shifted)["x264enc"], table(plain)["x264enc"])
        self.assertEqual(table(plain)["x264enc"]["frames"], 60)
        # What is asked for is done.
        taken, log = once("--ref", folder / "ref.mp4", "--encode", encoder + " ! mpegtsmux", "--sync", "timestamp")
        self.assertNotIn("sync: ", log)
        self.assertLess(table(taken)["x264enc"]["mean"], table(plain)["x264enc"]["mean"] - 10)

    def test_an_encoder_in_place_that_changes(self):
        results = folder / "changed-%r.csv"
        encoder = "jpegenc name=x quality=95"
        _, log = once("--ref", folder / "ref.mp4", "--encode", encoder, "--name", "low", "--change", "1.2 x.quality=2",
                      "--results", results)
        self.assertIn("low: changed: x.quality = 2", log)
        rows = (folder / "changed-low.csv").read_text().splitlines()
        column = rows[0].split(",").index("vmaf_v0.6.1")
        values = [float(row.split(",")[column]) for row in rows[1:]]
        self.assertEqual(len(values), 60)
        # From the frame at 1.2 s on.
        self.assertGreater(min(values[1:30]), max(values[30:]) + 5, values)
        # Another run keeps what the first has written.
        once("--ref", folder / "ref.mp4", "--encode", encoder, "--name", "low", "--results", results)
        self.assertEqual(len((folder / "changed-low.csv").read_text().splitlines()), 61)
        self.assertEqual(len((folder / "changed-low-2.csv").read_text().splitlines()), 61)

    def test_mistakes_are_one_line_and_status_2(self):
        pair = ["--ref", folder / "ref.mp4", "--dist", folder / "dist.mp4"]
        encode = ["--ref", folder / "ref.mp4", "--encode"]
        for arguments, words in [
            (["--ref", folder / "nothing.mp4", "--dist", folder / "dist.mp4"], "nothing.mp4"),
            (["--ref", "gopher://a:geheim@b/c", "--dist", folder / "dist.mp4"], r"gopher://\*\*\*@b"),
            ([*pair, "--model", "vmaf_v9"], "^vmafhip-monitor: ref/dist: there is no model 'vmaf_v9'"),
            ([*pair, "--features", "pnsr"], "pnsr"),
            ([*pair, "--backend", "hip"], "hip|GPU"),
            ([*pair, "--set", "subsmaple=2"], 'no property "subsmaple"'),
            ([*pair, "--set", "on-missing=guess"], '"guess" is no value'),
            ([*encode, "x265encc"], "x265encc"),
            ([*encode, "audioconvert"], "raw video"),
            ([*encode, "x264enc", "--change", "1 bitrat=3"], "bitrat"),
            ([*encode, "x264enc", "--change", "1 bitrate=much"], '"much" is no value'),
            ([*pair, "--listen", "127.0.0.1:99999"], "99999"),
        ]:
            with self.subTest(arguments=arguments):
                done = subprocess.run([MONITOR, *([] if "--listen" in arguments else ["--listen", "none"]), *map(str, arguments)],
                                      capture_output=True, stdin=subprocess.DEVNULL, encoding="utf-8", timeout=PATIENCE, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertRegex(done.stderr, words)
                self.assertNotIn("geheim", done.stderr)

    def test_a_file_without_video_fails(self):
        (folder / "text.mp4").write_text("This is no video. " * 100)
        output, log = once("--ref", folder / "ref.mp4", "--dist", folder / "text.mp4", status=1)
        self.assertIn(f"text: lost: distorted stream file://{folder}/text.mp4: ", log)
        self.assertNotIn("retry", log)
        self.assertEqual(output.splitlines()[1].split(), ["text", "-", "-", "-", "-", "0"])
        with Monitor("--ref", folder / "ref.mp4", "--dist", folder / "text.mp4") as monitor:
            monitor.wait("it has failed, and is shown", lambda r: r["text"]["state"] == "failed")
            self.assertEqual(monitor.end()[0], 1)

    def test_sound_without_video(self):
        sound = folder / "sound.mkv"
        launch(f"audiotestsrc num-buffers=20 ! vorbisenc ! matroskamux ! filesink location={sound}")
        log = once("--ref", folder / "ref.mp4", "--dist", sound, status=1)[1]
        self.assertRegex(log, f"lost: distorted stream file://{sound}: There is no video in it, only audio/x-vorbis\\n")

    def test_video_that_nothing_decodes(self):
        names = subprocess.run(["gst-inspect-1.0"], capture_output=True, encoding="utf-8", timeout=PATIENCE, check=True).stdout
        decoders = re.findall(r"^\S+:  (\w*(?:264|mp4)\w*dec\w*|\w*dec\w*(?:264|mp4)\w*):", names, re.M)
        done = subprocess.run([MONITOR, "--listen", "none", "--ref", folder / "ref.mp4", "--encode", "jpegenc"], capture_output=True,
                              encoding="utf-8", timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False,
                              env={**os.environ, "GST_PLUGIN_FEATURE_RANK": ",".join(f"{name}:NONE" for name in decoders)})
        self.assertEqual(done.returncode, 1, done.stderr)
        lost, = re.findall(r"lost: (.*)", done.stderr)
        self.assertRegex(lost, f"^reference file://{folder}/ref.mp4: No element that is installed decodes video/x-h264 ")
        self.assertNotIn("warning", done.stderr)

    def test_files_are_scored_once_and_shown_until_told_to_end(self):
        report, results = folder / "once.html", folder / "once.csv"
        with Monitor("--ref", folder / "ref.mp4", "--dist", folder / "dist.mp4", "--sync", "timestamp", "--retry", "0.001",
                     "--report", report, "--results", results) as monitor:
            monitor.wait("the end, and the report of it", lambda r: r["dist"]["state"] == "ended" and report.exists())
            lines = [monitor.process.stdout.readline() for _ in range(2)]
            self.assertEqual(table("".join(lines))["dist"]["frames"], 60)
            time.sleep(1)  # a thousand times as long as it would take to start again
            dist = monitor.renditions()["dist"]
            self.assertEqual((dist["state"], dist["counters"]["restarts"], dist["counters"]["scored"]), ("ended", 0, 60))
            self.assertEqual(kinds(dist).count("ended"), 1)
            self.assertIn("dist", monitor.get("report"))
            status, rest = monitor.end()
            self.assertEqual((status, rest), (0, ""), "the table once")
        self.assertEqual([f.name for f in folder.glob("once*.csv")], ["once.csv"])

    def test_alerts_of_scores_that_are_too_high(self):
        pair = ["--ref", folder / "ref.mp4", "--dist", folder / "dist.mp4", "--sync", "timestamp", "--alert-duration", "0",
                "--alert-threshold", "20"]
        self.assertNotIn("alert_raised", once(*pair)[1])
        self.assertRegex(once(*pair, "--alert-direction", "above")[1], r"alert_raised: Score \d+\.\d+, the threshold is 20\n")

    def test_once_ends_with_the_files(self):
        config = folder / "loop.conf"
        config.write_text(f"[channel a]\nref={folder}/ref.mp4\nloop=true\n[rendition a/jpegenc]\nencode=jpegenc\n")
        with Monitor("--config", config, "--once") as monitor:
            output = monitor.process.communicate(timeout=PATIENCE)[0]
            self.assertEqual(monitor.process.returncode, 0)
            self.assertEqual(table(output)["jpegenc"]["frames"], 60)

    def test_names_of_files_are_bytes_whatever_the_locale(self):
        for name in "caf\u00e9".encode(), "caf\u00e9".encode("latin-1"):
            for locale in "C", "C.UTF-8":
                with self.subTest(name=name, locale=locale):
                    path = os.fsencode(folder) + b"/" + name + b".mp4"
                    shutil.copy(folder / "ref.mp4", path)
                    done = subprocess.run([MONITOR, "--listen", "none", "--ref", path, "--dist", folder / "dist.mp4"],
                                          capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": locale},
                                          timeout=PATIENCE, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(b"dist", done.stdout)

    def test_runs_without_a_score_leave_no_file(self):
        feed = Feed(b"")
        feed.mode = "refuse"
        self.addCleanup(feed.close)
        with Monitor("--ref", folder / "ref.mp4", "--dist", feed.uri, "--results", folder / "refused.csv", "--retry", "0.001") as monitor:
            monitor.wait("seven attempts", lambda r: r["dist"]["counters"]["restarts"] >= 7)
            self.assertEqual(monitor.end()[0], 0)
        self.assertEqual(list(folder.glob("refused*")), [])

    def test_files_start_again_and_interrupts_are_clean(self):
        report = folder / "report.html"
        with Monitor("--ref", folder / "ref.mp4", "--dist", folder / "dist.mp4", "--sync", "timestamp", "--retry", "0.1", "--loop",
                     "--report", report, "--alert-threshold", "99.5", "--alert-duration", "0") as monitor:
            first = monitor.wait("a restart", lambda r: r["dist"]["counters"]["restarts"] >= 1)["dist"]
            monitor.process.send_signal(signal.SIGUSR1)
            last = monitor.wait("three", lambda r: r["dist"]["counters"]["restarts"] >= 3 and report.exists())["dist"]
            for name, value in first["counters"].items():
                self.assertGreaterEqual(last["counters"][name], value, name)
            self.assertGreaterEqual(last["counters"]["scored"], 180)
            # One of a moment, and each run has its own: the clip takes two seconds.
            self.assertTrue(3 <= len(last["worst"]) <= 10, last["worst"])
            self.assertEqual([w["score"] for w in last["worst"]], sorted(w["score"] for w in last["worst"]))
            self.assertTrue(all(w["reference"] and w["distorted"] and w["difference"] for w in last["worst"]))
            # Raised once a run, and cleared once.
            alerts = [kind for kind in kinds(last) if kind.startswith("alert")]
            self.assertEqual(alerts[:4], ["alert_raised", "alert_cleared"] * 2)
            report.unlink()
            self.assertEqual(monitor.said().count(f"Report: {report}\n"), 1)
            page = monitor.open_page()
            status, output = monitor.end()
            self.assertEqual(status, 0, monitor.said())
            self.assertEqual(monitor.said().count(f"Report: {report}\n"), 2)
            shown = page()
            self.assertEqual((shown["state"], shown["score"], shown["alert"]), ("ended", None, False), "what the page shows last")
            self.assertIn("dist", table(output))
            self.assertIn("</html>", report.read_text())
            self.assertIn("dist: ended: Stopped", monitor.said())

    def test_a_report_that_is_asked_for_too_early_does_not_end_it(self):
        with Monitor("--ref", folder / "ref.mp4", "--dist", folder / "dist.mp4") as monitor:
            for _ in range(100):  # it has just said its address
                monitor.process.send_signal(signal.SIGUSR1)
            monitor.wait("the end", lambda r: r["dist"]["state"] == "ended")
            self.assertEqual(monitor.end()[0], 0)

    def test_a_report_beyond_the_limit_of_file_sizes(self):
        report = folder / "limited.html"
        done = subprocess.run(
            [MONITOR, "--listen", "none", "--ref", folder / "ref.mp4", "--dist", folder / "dist.mp4", "--report", report],
            capture_output=True, stdin=subprocess.DEVNULL, encoding="utf-8", timeout=PATIENCE, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("The report could not be written", done.stderr)
        self.assertIn("dist", table(done.stdout))
        self.assertFalse(report.exists())

    def test_a_terminal_that_closes_ends_it_cleanly_unless_ignored(self):
        before = signal.getsignal(signal.SIGHUP)
        try:
            for action in signal.SIG_DFL, signal.SIG_IGN:
                signal.signal(signal.SIGHUP, action)  # inherited
                with Monitor("--ref", folder / "ref.mp4", "--encode", "jpegenc", "--retry", "0.1", "--loop") as monitor:
                    monitor.wait("a restart", lambda r: r["jpegenc"]["counters"]["restarts"] >= 1)
                    if action == signal.SIG_IGN:
                        monitor.process.send_signal(signal.SIGHUP)
                        then = monitor.wait("now", lambda r: True)["jpegenc"]["counters"]["restarts"]
                        monitor.wait("one more", lambda r: r["jpegenc"]["counters"]["restarts"] > then)
                    status, output = monitor.end(signal.SIGINT if action == signal.SIG_IGN else signal.SIGHUP)
                    self.assertEqual(status, 0, monitor.said())
                    self.assertIn("jpegenc", table(output))
        finally:
            signal.signal(signal.SIGHUP, before)

    def test_a_source_that_dies_comes_back_and_blinds_nobody(self):
        feed = Feed((folder / "dist.ts").read_bytes())
        feed.mode = "refuse"
        self.addCleanup(feed.close)
        with Monitor("--ref", folder / "ref.mp4", "--dist", feed.uri, "--dist", folder / "dist.mp4", "--name", "far",
                     "--name", "near", "--sync", "timestamp", "--stall", "3", "--retry", "0.2", "--loop") as monitor:
            far = monitor.wait("refused", lambda r: kinds(r["far"]).count("lost") >= 2 and r["near"]["counters"]["scored"] > 60)["far"]
            self.assertEqual(kinds(far)[:3], ["lost", "retry", "lost"])
            self.assertEqual(texts(far, "retry")[0], "Next attempt in 0.2 s")
            self.assertEqual(texts(far, "retry")[1], "Next attempt in 0.4 s")
            self.assertRegex(texts(far, "lost")[0], r"^distorted stream http://\*\*\*@127.0.0.1:\d+/dist.ts\?\*\*\*: Service Unavailable \(HTTP status 503\)$")
            feed.mode = "well"
            monitor.wait("scores", lambda r: r["far"]["counters"]["scored"] >= 60)
            feed.mode = "stall"
            monitor.wait("a stall", lambda r: any("no frame for 3 s" in t for t in texts(r["far"], "lost")))
            scored = monitor.renditions()["far"]["counters"]["scored"]
            feed.mode = "well"
            monitor.wait("scores again", lambda r: r["far"]["counters"]["scored"] >= scored + 60)
            # What opens the source is nowhere.
            for shown in monitor.said(), monitor.get("api/state"), monitor.get("metrics"), monitor.get("report"):
                self.assertNotIn("geheim", shown)
                self.assertNotIn("auch", shown)
            self.assertEqual(monitor.end(signal.SIGTERM)[0], 0)

    def test_an_encoder_that_swallows_the_end(self):
        log = once("--ref", folder / "ref.mp4", "--encode", "valve drop=true ! jpegenc", "--stall", "0.5", status=1)[1]
        self.assertRegex(log, "lost: (The|Neither the reference nor the) encoder has given (no|a) frame for 0.5 s")

    def test_an_error_after_ctrl_c_is_no_failure(self):
        launch(f"{source(500, '64,height=48')} ! {ENCODER} ! h264parse ! mp4mux ! filesink location={folder}/long.mp4")
        # What the second branch has gathered cannot be written; that is found at the end of the streams.
        encode = (f"tee name=t ! queue ! jpegenc t. ! {BOX} ! jpegenc ! "
                  "filesink location=/dev/full buffer-size=100000000 async=false sync=false")
        with Monitor("--ref", folder / "long.mp4", "--encode", encode, "--realtime", "--name", "jpeg") as monitor:
            monitor.wait("scores", lambda r: r["jpeg"]["counters"]["scored"] > 0)
            status, _ = monitor.end()
            self.assertRegex(monitor.said(), r"jpeg: lost: encoder, filesink.*\n.*jpeg: ended: Stopped")
            self.assertEqual(status, 0)

    def test_what_does_not_stop_is_left_alone(self):
        pipe = folder / "silent.ts"
        os.mkfifo(pipe)  # nobody writes: whoever opens it hangs
        with Monitor("--ref", folder / "ref.mp4", "--dist", pipe, "--dist", folder / "dist.mp4", "--sync", "timestamp",
                     "--stall", "1", "--retry", "0.5", "--loop") as monitor:
            now = monitor.wait("a warning, and that the other one goes on", lambda r: "warning" in kinds(r["silent"])
                               and r["silent"]["counters"]["restarts"] == 1 and r["dist"]["counters"]["restarts"] >= 2)
            self.assertEqual(texts(now["silent"], "lost")[0], "The distorted stream has given no frame for 1 s")
            self.assertEqual(texts(now["silent"], "warning"), ["A pipeline does not stop, and is left alone"])
            monitor.process.send_signal(signal.SIGINT)
            monitor.wait("the end of the other one", lambda r: r["dist"]["state"] == "ended")
            self.assertEqual(monitor.end()[0], 0)  # the second time it does not wait

    def test_a_gap_in_a_file_is_no_silence(self):
        output, log = once("--ref", folder / "gap.mkv", "--encode", "jpegenc", "--realtime", "--stall", "3")
        self.assertNotIn("lost", log)
        self.assertEqual(table(output)["jpegenc"]["frames"], 60)
        log = once("--ref", folder / "gap.mkv", "--dist", folder / "gap.mkv", "--sync", "timestamp", "--realtime", "--stall", "3")[1]
        self.assertNotIn("lost", log)

    def test_while_it_was_stopped_nothing_was_silent(self):
        feed = Feed((folder / "dist.ts").read_bytes())
        feed.mode = "stall"
        self.addCleanup(feed.close)
        with Monitor("--ref", folder / "ref.mp4", "--dist", feed.uri, "--sync", "timestamp", "--stall", "5") as monitor:
            monitor.wait("scores", lambda r: r["dist"]["state"] == "running")
            time.sleep(2)  # what has come, 1.2 s of it, is shown; silence begins
            monitor.process.send_signal(signal.SIGSTOP)
            time.sleep(6)
            awake = time.time()
            monitor.process.send_signal(signal.SIGCONT)
            dist = monitor.wait("silence is told", lambda r: "lost" in kinds(r["dist"]))["dist"]
            lost = next(event for event in dist["events"] if event["kind"] == "lost")
            self.assertGreaterEqual(lost["time_ms"] / 1000 - awake, 4.9, "it counts from there")
            self.assertEqual(monitor.end()[0], 0)

    def test_another_size_in_mid_stream(self):
        output, log = once("--ref", folder / "sizes.h264", "--dist", folder / "sizes.h264", "--sync", "timestamp")
        self.assertEqual(log.count("reset: Size or format has changed"), 2, log)
        self.assertEqual(table(output)["sizes"]["frames"], 90)

    def test_corrupt_data(self):
        damaged = bytearray((folder / "dist.ts").read_bytes())
        for at in range(3000, len(damaged) - 1000, 997):
            damaged[at : at + 8] = b"\xff\x00\xaa\x55\x00\x00\x01\x65"
        (folder / "damaged.ts").write_bytes(damaged)
        with Monitor("--ref", folder / "ref.mp4", "--dist", folder / "damaged.ts", "--dist", folder / "dist.mp4", "--sync",
                     "timestamp", "--retry", "0.1", "--loop") as monitor:
            monitor.wait("both go on", lambda r: all(r[n]["counters"]["restarts"] >= 2 for n in ("damaged", "dist")))
            self.assertEqual(monitor.end()[0], 0)

    def test_time_stamps_that_jump_by_an_hour(self):
        for realtime in [], ["--realtime"]:
            output, log = once("--ref", folder / "jump.mkv", "--encode", "jpegenc quality=30", *realtime)
            self.assertEqual(log.count("jump by 3599 s"), 2, log)  # on either pad
            self.assertEqual(table(output)["jpegenc"]["frames"], 60)
            self.assertNotIn("lost", log)
        for ref, dist in ("even", "jump"), ("jump", "even"):
            output, log = once("--ref", folder / f"{ref}.mkv", "--dist", folder / f"{dist}.mkv", "--sync", "timestamp")
            self.assertEqual(log.count("jump by 3599 s"), 1, log)
            self.assertEqual(table(output)[dist]["frames"], 60, log)

    def test_a_full_disk(self):
        for name in "scores.csv", "full.html":
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to("/dev/full")
        with Monitor("--ref", folder / "ref.mp4", "--dist", folder / "dist.mp4", "--sync", "timestamp", "--retry", "0.1", "--loop",
                     "--results", folder / "scores.csv") as monitor:
            now = monitor.wait("the error and scores", lambda r: "file_error" in kinds(r["dist"]) and r["dist"]["counters"]["scored"] >= 120)
            self.assertIn("No space left", texts(now["dist"], "file_error")[0])
            self.assertEqual(monitor.end()[0], 0)

    def test_restarts_leave_nothing_behind(self):
        tiny = folder / "tiny.mp4"
        launch(f"{source(4, '64,height=48')} ! {ENCODER} ! h264parse ! mp4mux ! filesink location={tiny}")
        trace = folder / "leaks.log"
        env = {"GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_FILE": str(trace), "GST_DEBUG_NO_COLOR": "1"}

        def used(monitor):
            process = pathlib.Path(f"/proc/{monitor.process.pid}")
            status = (process / "status").read_text()
            return (len(list((process / "fd").iterdir())), int(re.search(r"Threads:\s+(\d+)", status).group(1)),
                    int(re.search(r"VmRSS:\s+(\d+)", status).group(1)))

        with Monitor("--ref", tiny, "--dist", tiny, "--encode", "jpegenc", "--sync", "timestamp", "--retry", "0.001", "--loop", env=env) as monitor:
            def reached(count):
                return lambda r: all(x["counters"]["restarts"] >= count for x in r.values())
            monitor.wait("20 restarts", reached(20))
            fds, threads, memory = used(monitor)
            monitor.wait("120 restarts", reached(120))
            # Of a moment: there are two runs at most, whatever state they are in.
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                later = used(monitor)
                if later[0] <= fds + 6 and later[1] <= threads + 6 and later[2] <= memory + 6000:
                    break
                time.sleep(0.05)
            else:
                self.fail(f"descriptors, threads, KiB: {fds, threads, memory} and {later}")
            self.assertEqual(monitor.end()[0], 0)
        traced = trace.read_text(errors="replace")
        self.assertIn("new format string: object-alive, ", traced)
        self.assertEqual(re.findall(r"object-alive, type-name=\(string\)[^%].*", traced), [])


if __name__ == "__main__":
    folder = pathlib.Path(tempfile.mkdtemp(prefix="monitor-process-"))
    try:
        make_clips()
        result = unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]], exit=False).result
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if result.wasSuccessful() else 1)
