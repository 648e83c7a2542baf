#!/usr/bin/env python3
"""What examples/monitor has for other programs, against these and against a running monitor: alerting rules, Prometheus'
configurations, Grafana's dashboard, the systemd unit, the sample configuration.

    assets_test.py SOURCE_ROOT MONITOR

promtool (package prometheus) and systemd-analyze check what is theirs where they are installed.
"""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from monitor_process import Monitor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples"))
from programs import make_video, must  # noqa: E402  (of the folder that the line above names)

NAMES = re.compile(r"\b(?:vmafhip|process)_\w+\b")


def expressions(dashboard):
    """All PromQL of the dashboard."""
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield target["expr"]
    for annotation in dashboard["annotations"]["list"]:
        yield annotation["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield re.fullmatch(r"label_values\((.*), \w+\)", variable["query"]["query"])[1]


def filled(expression):
    """As Grafana sends it."""
    for variable, value in (("$__rate_interval", "1m"), ("$__interval", "15s"), ("$__range", "1h"), ("$channel", ".*"),
                            ("$rendition", ".*"), ("$feature", "integer_adm2")):
        expression = expression.replace(variable, value)
    assert "$" not in expression, expression
    return expression


def prometheus(folder, dashboard, tests):
    if not shutil.which("promtool"):
        print("not checked, there is no promtool: alerts.yml, prometheus.yml, federation.yml")
        return
    must("promtool", "check", "config", folder / "prometheus.yml")  # with its alerts.yml
    must("promtool", "check", "config", folder / "federation.yml")
    must("promtool", "test", "rules", tests)
    rules = re.findall(r"^      - alert: (\w+)$", (folder / "alerts.yml").read_text(encoding="utf-8"), re.MULTILINE)
    tested = set(re.findall(r"alertname: (\w+)", tests.read_text(encoding="utf-8")))
    assert rules and set(rules) == tested, f"not tested: {set(rules) ^ tested}"
    # The dashboard's expressions are PromQL.
    with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:
        recorded = [{"record": f"panel:{n}", "expr": filled(expr)} for n, expr in enumerate(expressions(dashboard))]
        json.dump({"groups": [{"name": "dashboard", "rules": recorded}]}, file)
        file.flush()
        must("promtool", "check", "rules", file.name)


def systemd(unit, program, scratch):
    text = unit.read_text(encoding="utf-8")
    assert "ExecStart=/usr/bin/vmafhip-monitor " in text, text
    if not shutil.which("systemd-analyze"):
        print("not checked, there is no systemd-analyze: vmafhip-monitor@.service")
        return
    instance = pathlib.Path(scratch, "vmafhip-monitor@news.service")
    instance.write_text(text.replace("/usr/bin/vmafhip-monitor", program), encoding="utf-8")
    done = must("systemd-analyze", "verify", "--man=no", instance)
    assert not done.stderr, done.stderr
    must("systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", instance)


def served(program, scratch):
    """Names of all metrics that a monitor has once it has seen everything."""
    ref, dist = make_video(f"{scratch}/ref.mp4", 10, frames=100), make_video(f"{scratch}/dist.mp4", 40, frames=100)
    with Monitor(program, "--ref", ref, "--dist", dist, "--window", "0.5", "--loop", log=f"{scratch}/log") as monitor:
        def all_there():
            names = {name for name, _ in monitor.metrics()}
            late = {"vmafhip_window_score_p5", "vmafhip_sync_confidence", "vmafhip_feature", "vmafhip_backend_info"}
            return names if late <= names else None
        names = monitor.wait("all metrics", all_there)
        monitor.stop()
    return names


def sample(file, program, scratch):
    """The sample configuration means what it looks like; its sources are nowhere."""
    with Monitor(program, "--config", file, "--report", f"{scratch}/report.html", log=f"{scratch}/log") as monitor:
        renditions = monitor.renditions()
        assert list(renditions) == ["news/1080p", "news/540p", "encoder/x264"], renditions
        for rendition in renditions.values():
            assert (rendition["alert_threshold"], rendition["alert_clear"]) == (75, 80), rendition
        assert renditions["encoder/x264"]["source"].startswith("x264enc "), renditions
        status, _ = monitor.stop(signal.SIGTERM)
        assert status == 0 and pathlib.Path(scratch, "report.html").stat().st_size > 0


def main():
    root, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
    assets = root / "examples/monitor"
    dashboard = json.loads((assets / "grafana/dashboard.json").read_text(encoding="utf-8"))
    prometheus(assets / "prometheus", dashboard, root / "tests/monitor/alerts_test.yml")
    with tempfile.TemporaryDirectory() as scratch:
        systemd(assets / "systemd/vmafhip-monitor@.service", program, scratch)
        names = served(program, scratch)
        sample(assets / "monitor.conf", program, scratch)
    used = {f"dashboard.json, {expr}": NAMES.findall(expr) for expr in expressions(dashboard)}
    alerts = re.sub(r"(?m)^ *#.*", "", (assets / "prometheus/alerts.yml").read_text(encoding="utf-8"))
    used["alerts.yml"] = NAMES.findall(alerts)
    documented = (assets / "README.md").read_text(encoding="utf-8")
    used["README.md"] = re.findall(r"^\| `((?:vmafhip|process)_\w+)", documented, re.MULTILINE)
    assert len(used["alerts.yml"]) >= 8 and len(used["README.md"]) >= 20
    for place, wanted in used.items():
        missing = set(wanted) - names
        assert wanted and not missing, f"{place} names metrics that the monitor does not have: {missing}"
    undocumented = names - set(used["README.md"])
    assert not undocumented, f"README.md lacks {undocumented}"
    print(f"{len(names)} metrics, {sum(map(len, used.values()))} uses of them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
