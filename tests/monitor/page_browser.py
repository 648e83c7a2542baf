"""The browser and the server of page_test.py: Debian's chromium, headless, through its WebDriver, and page_server."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

try:
    from selenium import webdriver
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.common.by import By
except ImportError:
    webdriver = None

SECONDS = 60  # that anything may take to come, on a machine that is busy
CHART_JS = pathlib.Path("/usr/share/javascript/chart.js/chart.min.js")


class PageServer:
    """page_server as a process, which does what it is told before say() returns."""

    program = None

    def __init__(self, port=0, *more):
        self.process = subprocess.Popen(
            [PageServer.program, str(port), *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address, "the server does not start"
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer == "ok", f"{line}: {answer}"

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def open_browser(profile):
    options = webdriver.ChromeOptions()
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-proxy-server",
        "--force-color-profile=srgb", f"--user-data-dir={profile}", "--window-size=1280,900",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
    return webdriver.Chrome(service=service, options=options)


class PageCase(unittest.TestCase):
    """What all tests of the page have: the browser, a server of their own, and ways to ask what is shown."""

    folder = None  # where the screenshots are kept

    @classmethod
    def setUpClass(cls):
        cls.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.browser = open_browser(cls.profile.name)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.profile.cleanup()

    def setUp(self):
        self.server = None

    def tearDown(self):
        self.browser.get("about:blank")
        if self.server:
            self.server.stop()
        self.emulate(1280, 900, "light")

    # ---- helpers ---------------------------------------------------------------------------------------

    def emulate(self, width, height, scheme="light", motion="no-preference"):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion},
        ]})

    def open(self, *more):
        self.server = PageServer(0, *more)
        self.browser.get_log("browser")  # forgets what was before
        self.browser.get(self.server.address)
        self.wait("the page is live", lambda: self.text("#connection") == "Live")

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        found = self.all(selector)
        self.assertEqual(len(found), 1, selector)
        return found[0]

    def text(self, selector):
        return self.js("const found = document.querySelector(arguments[0]); return found && found.textContent", selector)

    def style(self, selector, name):
        return self.js("return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", selector, name)

    def wait(self, what, condition):
        end = time.monotonic() + SECONDS
        while True:
            try:
                if condition():
                    return
            except StaleElementReferenceException:
                pass  # replaced between two steps of the condition
            if time.monotonic() > end:
                self.shoot("failed")
                self.fail(f"{what}: waited {SECONDS} s; the console: {self.browser.get_log('browser')}")
            time.sleep(0.1)

    def shoot(self, name):
        """The whole page as a picture."""
        width = self.js("return window.innerWidth")
        height = self.js("return document.documentElement.scrollHeight")
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        time.sleep(0.5)  # charts that have come into view draw themselves
        self.browser.save_screenshot(str(self.folder / f"monitor-page-{name}.png"))

    def drawn(self, number):
        """[[milliseconds, mean], …] of what the chart of a rendition shows."""
        return self.js(
            "const canvas = document.querySelector(`#rendition-${arguments[0]} canvas`);"
            "const chart = canvas && window.Chart.getChart(canvas);"
            "return chart ? chart.data.datasets[1].data.filter((p) => !isNaN(p.y)).map((p) => [p.x, p.y]) : []",
            number,
        )

    def axes(self, number):
        """[[from, to] in milliseconds, [lowest, highest score], the time axis' texts] of a rendition's chart, once it is drawn."""
        script = ("const canvas = document.querySelector(`#rendition-${arguments[0]} canvas`);"
                  "canvas.scrollIntoView({behavior: 'instant'});"
                  "const {x, y} = window.Chart.getChart(canvas).scales;"
                  "return [[x.min, x.max], [y.min, y.max], x.ticks.map((tick) => tick.label)]")
        self.wait("an axis", lambda: self.js(script, number)[0][1] > 1e12)
        return self.js(script, number)

    def check_console(self):
        wrong = [line for line in self.browser.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(wrong, [])


def main(usage):
    """Runs the tests of the module that calls it, as `usage` has it."""
    if len(sys.argv) < 3:
        sys.exit(usage)
    PageServer.program, PageCase.folder = sys.argv[1], pathlib.Path(sys.argv[2])
    missing = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    if webdriver is None or missing:
        print("Not here: " + ", ".join(missing + ["python3-selenium"] * (webdriver is None)))
        sys.exit(77)
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "localhost,127.0.0.1"
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
