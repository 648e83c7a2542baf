"""A running vmafhip-monitor for tests in Python: its page's state, its stream of events, its metrics, its process."""
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import urllib.request

LIMIT = 120  # seconds that something may take on a slow and busy machine


class Monitor:
    """Started with these arguments and a port of its own, in the folder of its log; ended at the end of the `with`."""

    def __init__(self, program, *arguments, log, environment=None):
        self.log = pathlib.Path(log)
        self.errors = self.log.open("w", encoding="utf-8")
        self.process = subprocess.Popen(
            [pathlib.Path(program).resolve(), "--listen", "127.0.0.1:0", *map(str, arguments)], cwd=self.log.parent,
            env={**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.errors, encoding="utf-8")
        line = self.process.stdout.readline()
        found = re.match(r"Dashboard: (http://\S+?)/?$", line)
        assert found, f"{line!r} names no dashboard; {self.log.read_text(encoding='utf-8')[-2000:]}"
        self.address = found[1]
        self.events = []  # (channel/rendition, kind, text, id), as the stream of events brought them
        threading.Thread(target=self.listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _trace):
        if kind:
            print(f"{self.log}:\n{self.log.read_text(encoding='utf-8')[-6000:]}", flush=True)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def open(self, path):
        return urllib.request.urlopen(self.address + path, timeout=LIMIT)

    def get(self, path):
        with self.open(path) as answer:
            return answer.read().decode()

    def renditions(self):
        """channel/rendition → what the page knows of it."""
        channels = json.loads(self.get("/api/state"))["channels"]
        return {f"{channel['name']}/{rendition['name']}": rendition for channel in channels for rendition in channel["renditions"]}

    def metrics(self):
        """(name, labels) → value; labels are a dictionary's items, sorted."""
        found = {}
        for line in self.get("/metrics").splitlines():
            if line and not line.startswith("#"):
                name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
                found[name, tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")))] = float(value)
        return found

    def metric(self, name, **labels):
        """The only series with this name and these labels; None if there is none."""
        series = [value for (found, of), value in self.metrics().items() if found == name and set(labels.items()) <= set(of)]
        assert len(series) <= 1, f"{len(series)} series of {name} {labels}"
        return series[0] if series else None

    def listen(self):
        """Server-sent events, as a page takes them; a connection that breaks is made again where it was."""
        last = 0
        while self.process.poll() is None:
            try:
                request = urllib.request.Request(self.address + "/api/events", headers={"Last-Event-ID": str(last)})
                with urllib.request.urlopen(request, timeout=LIMIT) as answer:
                    kind = data = None
                    for line in answer:
                        field, _, value = line.decode().rstrip("\n").partition(": ")
                        if field == "event":
                            kind = value
                        elif field == "data":
                            data = json.loads(value)
                        elif field == "id":
                            last = int(value)
                        elif not field and kind == "happened":
                            event = data["event"]
                            self.events.append((f"{data['channel']}/{data['rendition']}", event["kind"], event["text"], event["id"]))
                        if not field:
                            kind = data = None
            except OSError:
                time.sleep(0.2)

    def wait(self, what, condition, limit=LIMIT):
        """Until the condition, which gets nothing, is true; its value."""
        end = time.monotonic() + limit
        while not (value := condition()):
            assert self.process.poll() is None, f"the monitor ended with {self.process.poll()} while waiting: {what}"
            assert time.monotonic() < end, f"did not happen within {limit} s: {what}"
            time.sleep(0.2)
        return value

    def seen(self, rendition, kind, after=0, text=""):
        """The events of this kind (a pattern, as the text) that the stream has brought, from the `after`-th of all on."""
        return [event for event in self.events[after:]
                if event[0] == rendition and re.fullmatch(kind, event[1]) and re.search(text, event[2])]

    def process_numbers(self):
        """(resident bytes, descriptors, threads)"""
        folder = pathlib.Path(f"/proc/{self.process.pid}")
        resident = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return resident, len(os.listdir(folder / "fd")), len(os.listdir(folder / "task"))

    def stop(self, number=signal.SIGINT):
        """As by Ctrl-C; its exit status and the rest of its output."""
        self.process.send_signal(number)
        out = self.process.communicate(timeout=LIMIT)[0]
        return self.process.returncode, out
