#!/usr/bin/env python3
"""The metrics as Prometheus itself reads them: `promtool check metrics` has nothing to say about the text format, and a
Prometheus that scrapes the server (it asks for OpenMetrics) has every series with its value and type.

    prometheus_test.py PAGE_SERVER

Exit status: 0 good, 1 not, 77 (skipped) without Prometheus.
"""
import contextlib
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

CONFIG = """
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: monitor
    static_configs: [{targets: ["%s"]}]
"""


def fetch(address, **headers):
    # Whatever proxy the machine has set, this is the machine itself.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(address, headers=headers), timeout=30) as answer:
        return answer.read().decode()


def strict(text):
    """OpenMetrics as its standard has it, where Debian's python3-prometheus-client is there: Prometheus itself lets more pass."""
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        print("not checked, there is no python3-prometheus-client: OpenMetrics by the letter")
        return
    types = {family.name: family.type for family in text_string_to_metric_families(text)}
    expected = {"vmafhip_backend": "info", "vmafhip_frames_scored": "counter", "vmafhip_score": "gauge"}
    assert expected.items() <= types.items(), types


@contextlib.contextmanager
def running(command, **more):
    process = subprocess.Popen(command, **more)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(what, attempt, seconds=90):
    end = time.monotonic() + seconds
    while True:
        try:
            result = attempt()
            if result:
                return result
        except (OSError, ValueError) as error:
            result = error
        if time.monotonic() > end:
            sys.exit(f"{what}: waited {seconds} s; last: {result}")
        time.sleep(0.3)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("prometheus") or not shutil.which("promtool"):
        print("There is no Prometheus in PATH: tests/monitor/prepare_prometheus.sh prints the folder of one")
        sys.exit(77)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(
            running([sys.argv[1], "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), address

        text = fetch(address + "metrics")
        check = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
        if check.returncode != 0 or check.stdout or check.stderr:
            sys.exit(f"promtool check metrics: {check.returncode}\n{check.stdout}{check.stderr}\n{text}")

        strict(fetch(address + "metrics", Accept="application/openmetrics-text;version=1.0.0"))
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "prometheus.yml").write_text(CONFIG % urllib.parse.urlparse(address).netloc)
        port = free_port()
        log = stack.enter_context(open(folder / "log", "w+"))
        stack.enter_context(
            running(
                [
                    "prometheus",
                    f"--config.file={folder}/prometheus.yml",
                    f"--storage.tsdb.path={folder}/data",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stdout=log,
                stderr=log,
            )
        )

        def ask(path, **arguments):
            answer = json.loads(fetch(f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(arguments)}"))
            return answer["data"]

        def value(series):
            result = ask("query", query=series)["result"]
            return float(result[0]["value"][1]) if len(result) == 1 else None

        wait_for("Prometheus scrapes the server", lambda: value("up") == 1)
        of = 'channel="news",rendition="720p"'
        for series, expected in {
            f"vmafhip_score{{{of}}}": 91.25,
            f"vmafhip_window_score_p5{{{of}}}": 89.5,
            f'vmafhip_feature{{{of},feature="integer_adm2"}}': 0.9875,
            f"vmafhip_frames_compared_total{{{of}}}": 1500,
            f'vmafhip_frames_dropped_total{{{of},reason="skipped"}}': 5,
            f"vmafhip_sync_offset_seconds{{{of}}}": 0.48,
            f"vmafhip_up{{{of}}}": 1,
            'vmafhip_up{channel="news",rendition="360p"}': 0,
        }.items():
            if value(series) != expected:
                sys.exit(f"{series}: {value(series)} instead of {expected}")

        # All series of the text have arrived, none was refused.
        expected = sorted(line.rsplit(" ", 1)[0].split("{")[0] for line in text.splitlines() if line[:1] not in ("#", ""))
        series = ask("series", **{"match[]": '{__name__=~"(vmafhip|process)_.*"}'})
        found = sorted(one["__name__"] for one in series)
        if found != expected:
            sys.exit(f"series differ: {set(found) ^ set(expected)} or their number, {len(found)} and {len(expected)}")
        metadata = ask("metadata")
        if metadata["vmafhip_frames_compared"][0]["type"] != "counter":  # its name in OpenMetrics
            sys.exit(f"OpenMetrics was not read: {sorted(metadata)}")
        if metadata["vmafhip_score"][0]["type"] != "gauge" or not metadata["vmafhip_score"][0]["help"]:
            sys.exit(f"metadata: {metadata['vmafhip_score']}")

        # And it follows.
        server.stdin.write("alert 720p 61.5 1\n")
        server.stdin.flush()
        wait_for("the alert", lambda: value(f"vmafhip_alert{{{of}}}") == 1 and value(f"vmafhip_score{{{of}}}") == 61.5)
        assert value(f'vmafhip_events_total{{{of},kind="alert_raised"}}') == 1
    print(f"{len(expected)} series scraped")


if __name__ == "__main__":
    main()
