#!/usr/bin/env python3
"""The dashboard in a real browser (Debian's chromium, headless, through its WebDriver): points arrive, an alert turns red,
thumbnails show, keyboard and screen reader find their way, nothing overflows on a phone, names are text, and a restart of
the server is survived.

    page_test.py PAGE_SERVER FOLDER     FOLDER: where the screenshots are kept

Exit status: 0 good, 1 not, 77 (skipped) without chromium, its driver or python3-selenium.
"""
import re
import time
import unittest

from page_browser import CHART_JS, PageCase, PageServer, main

try:
    from selenium.webdriver.common.keys import Keys
except ImportError:
    pass  # main() says so


class PageTest(PageCase):
    def test_shows_every_rendition_and_follows(self):
        self.open()
        self.assertEqual([tile.text.split("\n")[0] for tile in self.all("#tiles li")], ["news / 720p", "news / 360p"])
        self.assertEqual(self.text("#rendition-0 .badges"), "Scoring")
        self.assertEqual(self.text("#rendition-1 .badges"), "Connecting")
        self.assertEqual(self.text("#tiles li:first-child .score"), "91.3")
        self.assertEqual(self.text("#tiles li:first-child a > .hint"), "last 10 s: mean 92.5 · min 88.8")
        facts = self.one("#rendition-0 .facts").text
        for line in ("Window mean\n92.5", "Window p5\n89.5", "Offset\n0.480 s", "Sync\nlocked, 97 %", "Dropped\n5",
                     "Unmatched\n3 ref, 2 dist", "Back end\ncpu", "Frames/s\n25.0", "Model\nvmaf_v0.6.1, fitted"):
            self.assertIn(line, facts)
        if CHART_JS.exists():
            self.assertTrue(self.one("#hint").get_property("hidden"))
            self.wait("the history is drawn", lambda: len(self.drawn(0)) > 100)
            before = self.drawn(0)
            self.server.say("score 720p 33.25")
            self.wait("a point arrives", lambda: self.drawn(0)[-1] != before[-1] and min(p[1] for p in self.drawn(0)) < 70)
        else:
            self.assertIn("libjs-chart.js", self.text("#hint"))
        for state, words, colour in (("lost", "Lost, starts again", "rgb(197, 34, 31)"),
                                     ("repeating", "Ended, starts again", "rgb(87, 98, 114)"),
                                     ("failed", "Failed", "rgb(197, 34, 31)"),
                                     ("ended", "Ended", "rgb(87, 98, 114)")):
            self.server.say(f"state 360p {state}")
            self.wait(state, lambda: self.text("#rendition-1 .badges") == words)
            self.assertEqual(self.style("#rendition-1 .badge", "color"), colour)
        self.server.say("state 720p ended")
        self.wait("how it was", lambda: self.text("#tiles li:first-child .score") == "93.5")
        self.assertEqual(self.text("#tiles li:first-child a > .hint"), "mean of the run · min 41.5")
        self.check_console()

    def test_an_alert_turns_red_and_ends(self):
        self.open()
        red = "rgb(197, 34, 31)"
        self.assertNotEqual(self.style("#rendition-1", "borderTopColor"), red)
        self.assertEqual(self.all("#alerts p"), [])
        self.server.say("alert 360p 62.5 1")
        self.wait("the alert", lambda: self.text("#rendition-1 .badges").startswith("Alert"))
        self.assertEqual(self.style("#rendition-1", "borderTopColor"), red)
        self.assertEqual(self.style("#tiles li:nth-child(2) .score", "color"), red)
        self.assertEqual([line.text for line in self.all("#alerts p")], ["Alert news / 360p Score 62.5, the threshold is 80"])
        self.assertTrue(self.browser.title.startswith("(1) Alert"))
        self.assertIn("Score 62.5, the threshold is 80", self.one("#rendition-1 .events").text)
        self.assertEqual(self.all("#rendition-0[data-alert]"), [])
        self.server.say("event 720p lost no data for 10 s")
        self.server.say("event 720p retry after 1 s")
        self.server.say("worst 360p 55.25")
        self.wait("the worst frame", lambda: "55.25" in self.one("#rendition-1 .worst").text)
        for name, width, scheme in (("desktop", 1280, "light"), ("dark", 1280, "dark"), ("phone", 360, "light")):
            self.emulate(width, 900, scheme)
            self.shoot(name)
        self.emulate(1280, 900)
        self.server.say("alert 360p 88 0")
        self.wait("its end", lambda: not self.all("#rendition-1[data-alert]"))
        self.assertEqual(self.all("#alerts p"), [])
        self.assertEqual(self.browser.title, "Video quality monitor")
        self.check_console()

    def test_says_why_one_is_lost_and_what_was_changed(self):
        self.open()
        self.server.say("event 360p lost The reference has given no frame for 10 s")
        self.server.say("state 360p lost")
        self.wait("a banner", lambda: [line.text for line in self.all("#alerts p")]
                  == ["Lost news / 360p The reference has given no frame for 10 s"])
        self.assertEqual(self.text("#tiles li:nth-child(2) a > .hint"), "The reference has given no frame for 10 s")
        self.assertIn("Sync\nby time stamps", self.one("#rendition-1 .facts").text)
        self.server.say("event 360p lost It cannot be reached")
        self.wait("another cause", lambda: [line.text for line in self.all("#alerts p")]
                  == ["Lost news / 360p It cannot be reached"])
        self.server.say("state 360p running")
        self.wait("it is back", lambda: not self.all("#alerts p"))
        source = "#rendition-1 .source"
        self.assertEqual(self.text(source), "x264enc bitrate=400")
        for value in (300, 200):
            self.server.say(f"event 360p changed bitrate = {value}")
            self.wait("the change", lambda: self.text(source) == f"x264enc bitrate=400 · now bitrate = {value}")
        self.server.say("event 360p retry Next attempt in 1 s")
        self.wait("it begins anew", lambda: self.text(source) == "x264enc bitrate=400")
        self.check_console()

    def test_says_what_is_slower_than_its_stream(self):
        self.open()
        for place in ("#rendition-0 .slow", "#rendition-1 .slow"):
            self.assertFalse(self.one(place).is_displayed(), place)
        amber = "rgb(138, 90, 0)"
        fact = "#rendition-0 .facts div:nth-child(5) dd"
        self.server.say("rate 720p 29.5 30")
        self.wait("of how many", lambda: self.text(fact) == "29.5 of 30")
        self.assertNotEqual(self.style(fact, "color"), amber)
        self.server.say("rate 720p 5.44 30")
        self.wait("it is slow", lambda: self.text("#rendition-0 .badges") == "Scoring Slower than the stream")
        self.assertEqual(self.text("#tiles li:first-child .badges"), "Scoring Slower than the stream")
        self.assertEqual(self.text(fact), "5.4 of 30")
        self.assertEqual(self.style(fact, "color"), amber)
        self.assertTrue(self.text("#rendition-0 .slow").startswith("Slower than the stream: 5.4 of 30 frames/s are scored"))
        self.assertEqual(self.text("#rendition-1 .badges"), "Connecting")
        self.server.say("rate 720p 30 30")
        self.wait("it keeps up", lambda: self.text("#rendition-0 .badges") == "Scoring")
        self.assertFalse(self.one("#rendition-0 .slow").is_displayed())
        self.check_console()

    def test_worst_frames_and_their_pictures(self):
        self.open()
        rows = self.all("#rendition-0 .worst tbody tr")
        self.assertEqual([row.text.split("\n")[0] for row in rows], ["41.50", "51.50", "61.50"])
        self.assertIn("no picture", rows[2].text)
        self.assertRegex(rows[0].text, r"^41\.50\nat \d\d:\d\d:\d\d\n0:00:00\.040 in the stream")
        heads = [cell.text for cell in self.all("#rendition-0 .worst thead th")]
        self.assertEqual(heads, ["Score", "Reference", "Distorted", "Difference ×16"])
        names = "return [...document.querySelectorAll('#rendition-0 .worst tr:nth-child(2) img')].map((i) => i.alt)"
        self.assertEqual(self.js(names), ["Reference, frame of score 51.50, enlarge", "Distorted, frame of score 51.50, enlarge",
                                          "Difference ×16, frame of score 51.50, enlarge"])
        self.js("document.querySelector('#rendition-0 .worst').scrollIntoView({behavior: 'instant'})")
        loaded = "return [...document.querySelectorAll('#rendition-0 .worst img')].map((i) => i.complete && i.naturalWidth)"
        self.wait("thumbnails", lambda: self.js(loaded) == [240] * 8)
        self.server.say("worst 720p 20.5")
        self.wait("a worse one", lambda: self.all("#rendition-0 .worst tbody tr")[0].text.startswith("20.50"))
        self.js("document.querySelector('#rendition-0 .thumbnail').focus()")
        self.server.say("score 720p 77.75")
        self.wait("an update", lambda: self.text("#tiles li:first-child .score") == "77.8")
        self.assertEqual(self.js("return document.activeElement.className"), "thumbnail", "the focus stays")
        self.browser.switch_to.active_element.send_keys(Keys.ENTER)
        self.wait("the large pictures", lambda: self.js(
            "return [...document.querySelectorAll('#viewer[open] img')].filter((i) => i.naturalWidth === 240).length === 3"))
        self.assertRegex(self.one("#viewer").text, r"^news / 720p: score 20\.50 at \d\d:\d\d:\d\d, 1:02:03\.480 in the stream")
        self.assertIn("Difference ×16", self.one("#viewer").text)
        self.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.wait("closed by Escape", lambda: not self.all("#viewer[open]"))
        self.assertEqual(self.browser.switch_to.active_element.get_attribute("class"), "thumbnail")
        self.check_console()

    def test_keyboard_goes_through_in_order(self):
        self.open()
        seen = []
        for _ in range(40):
            self.browser.switch_to.active_element.send_keys(Keys.TAB)
            seen.append(self.js(
                "const e = document.activeElement; const card = e.closest('.card');"
                "return (card ? card.id + ' ' : '') + (e.name || e.className || e.getAttribute('href') || e.tagName)"))
            outline = self.js("const e = document.activeElement.matches('input') ? document.activeElement.nextElementSibling"
                              " : document.activeElement; return getComputedStyle(e).outlineStyle")
            self.assertNotEqual(outline, "none", f"no one sees that the focus is at {seen[-1]}")
            if "/api/state" in seen[-1]:
                break
        expected = (
            ["skip", "span", "#rendition-0", "#rendition-1", "rendition-0 SUMMARY"] + ["rendition-0 thumbnail"] * 8
            + ["rendition-0 scroll", "rendition-0 scroll", "rendition-1 SUMMARY", "rendition-1 scroll", "rendition-1 scroll"]
            + ["/report", "/metrics", "/api/state"]
        )
        self.assertEqual(seen, expected)
        # The table by Enter, and the span of time by arrow keys.
        self.one("#rendition-0 summary").send_keys(Keys.ENTER)
        self.wait("the table", lambda: len(self.all("#rendition-0 details table tbody tr")) > 5)
        self.one("input[name=span][value='600']").send_keys(Keys.ARROW_LEFT)
        self.assertTrue(self.one("input[name=span][value='60']").is_selected())

        def shorter():
            self.server.say("score 720p 90")  # again and again: a slow machine may take more than that minute
            return 0 < len(self.drawn(0)) < 100

        if CHART_JS.exists():
            self.wait("a shorter stretch", shorter)

    def test_screen_readers(self):
        self.open()
        self.assertEqual(self.one("html").get_attribute("lang"), "en")
        self.assertEqual(self.one("#connection").get_attribute("role"), "status")
        self.assertEqual(self.one("#alerts").get_attribute("aria-live"), "polite")
        self.assertEqual(self.one("#news").get_attribute("aria-live"), "polite")
        self.assertEqual(len(self.all("main")), 1)
        self.assertEqual(len(self.all("h1")), 1)
        tree = self.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]

        def named(role):
            return [node.get("name", {}).get("value", "") for node in tree
                    if node.get("role", {}).get("value") == role and not node.get("ignored")]

        self.assertEqual([name for name in named("region") if "/" not in name], ["Channel news", "720p", "360p"])
        self.assertIn("Pooled scores of news / 720p", named("region"))
        self.assertEqual(named("navigation"), ["Renditions"])
        for name in ("Pooled scores and features of the present run", "Worst frames of the last six hours, one of a moment"):
            self.assertEqual(named("table").count(name), 2, named("table"))
        for role in ("button", "link", "radio", "image", "img"):
            self.assertNotIn("", named(role), f"a {role} without name")
        if CHART_JS.exists():
            name = re.compile(r"Score of news / 720p from \d\d:\d\d:\d\d to \d\d:\d\d:\d\d: now 91\.3, worst \d+\.\d")
            self.wait("the chart's name",
                      lambda: name.fullmatch(self.one("#rendition-0 canvas[role=img]").get_attribute("aria-label")))
        # What happens is told, once.
        self.server.say("event 360p lost no data for 10 s")
        self.wait("the news", lambda: self.text("#news") == "news / 360p: Lost no data for 10 s")
        # Colour is never all: each badge has words.
        self.assertNotIn("", [badge.text for badge in self.all(".badge")])

    def test_nothing_overflows_on_a_phone(self):
        self.open("3")
        for width in (360, 768):
            self.emulate(width, 740)
            # A chart takes its new size only after the page has.
            for selector in ("#rendition-0", "#rendition-4"):
                self.js("document.querySelector(arguments[0]).scrollIntoView({behavior: 'instant'})", selector)
                self.wait(f"a page of {width} pixels", lambda: self.js("return document.documentElement.scrollWidth") <= width)
                self.wait("nothing wider", lambda: not self.js(
                    "return [...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll, .quiet, .skip, dialog')"
                    " && e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.tagName + '.' + e.className)"))
        self.shoot("many")

    def test_tables_fit_and_their_columns_line_up(self):
        self.open()
        for width in (1280, 1024):
            self.emulate(width, 900)
            for place in ("#rendition-0", "#rendition-1"):
                scrolled = f"const e = document.querySelector('{place} .pooled').parentElement; return e.scrollWidth - e.clientWidth"
                self.wait(f"all columns at {width} pixels", lambda: self.js(scrolled) <= 0)
        rows = [row.text.split() for row in self.all("#rendition-0 .pooled tbody tr")]
        self.assertEqual([row[0] for row in rows], ["vmaf", "integer_adm2", "integer_motion2", "integer_vif_scale0"])
        for row, decimals in zip(rows, (2, 4, 2, 4)):
            for value in row[1:]:
                self.assertRegex(value, rf"^(–|\d+\.\d{{{decimals}}})$", row)
        self.assertIn("tabular-nums", self.style("#rendition-0 .pooled", "fontVariantNumeric"))

    def test_says_that_it_waits(self):
        """Before the first answer there is a word, and before the first window is over."""
        self.browser.execute_cdp_cmd("Network.enable", {})
        self.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/api/*"]})
        self.server = PageServer(0, "fresh")
        self.browser.get(self.server.address)
        self.wait("a word", lambda: self.one("#hint").text == "Waiting for the monitor…")
        self.assertEqual(self.all("noscript *"), [])
        self.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
        self.wait("the page is live", lambda: self.text("#connection") == "Live")
        if CHART_JS.exists():
            self.assertTrue(self.one("#hint").get_property("hidden"))
        self.assertIn("Window mean\n–", self.one("#rendition-1 .facts").text)
        self.server.say("score 360p 88")
        self.wait("its first score", lambda: "Window mean\nafter 10 s" in self.one("#rendition-1 .facts").text)
        self.assertEqual(self.text("#tiles li:nth-child(2) a > .hint"), "window mean after 10 s")

    @unittest.skipUnless(CHART_JS.exists(), "needs libjs-chart.js")
    def test_the_time_axis_begins_at_the_first_score(self):
        self.open("fresh")
        # Five minutes of scores in a span of ten.
        self.wait("the history is drawn", lambda: len(self.drawn(0)) > 100)
        first = self.drawn(0)[0][0]
        (begin, end), scores, texts = self.axes(0)
        points = 2000  # that are drawn may stand for two seconds, on a machine that takes minutes for this
        self.assertAlmostEqual(begin, first, delta=points)
        self.assertGreaterEqual(end - begin, 300_000 - 1000)
        self.assertEqual(len(set(texts)), len(texts), "a time stands once")
        # No score yet: a minute, as empty as it is.
        (begin, end), scores, texts = self.axes(1)
        self.assertAlmostEqual(end - begin, 60_000, delta=1)
        self.assertEqual(scores, [0, 100])
        self.assertGreater(begin, (time.time() - 3600) * 1000, "and not in 1970")
        # Some scores.
        now = time.time() * 1000
        self.server.say("score 360p 90")
        self.wait("it is drawn", lambda: len(self.drawn(1)) > 0)
        (begin, end), scores, texts = self.axes(1)
        self.assertAlmostEqual(begin, self.drawn(1)[0][0], delta=points)
        self.assertLess(abs(begin - now), 60_000)
        self.assertGreaterEqual(end - begin, 10_000)
        self.assertEqual(scores, [70, 100])
        # Another span has the same beginning, unless the span begins later.
        self.one("input[name=span][value='21600']").send_keys(Keys.SPACE)
        self.wait("the beginning", lambda: abs(self.axes(0)[0][0] - first) <= points)
        self.one("input[name=span][value='60']").send_keys(Keys.SPACE)
        self.wait("a later beginning", lambda: self.axes(0)[0][0] > first + points)

    def test_higher_may_be_worse(self):
        self.open("errors")
        card = "#rendition-2"
        self.assertIn("Window max\n7.3", self.one(f"{card} .facts").text)
        self.assertNotIn("Window min", self.one(f"{card} .facts").text)
        self.assertEqual(self.text("#tiles li:nth-child(3) a > .hint"), "last 10 s: mean 2.5 · max 7.3")
        self.check_console()
        if CHART_JS.exists():
            _, scores, _ = self.axes(2)
            self.assertEqual(scores, [0, 10])
            worst = re.compile(r".*: now 2\.5, worst (8|9)\.\d")
            self.wait("the worst", lambda: worst.fullmatch(self.one(f"{card} canvas").get_attribute("aria-label")))
            # The zone lies above the threshold of 6: a pixel there is redder than one below.
            red = self.js(
                f"const canvas = document.querySelector('{card} canvas'), chart = window.Chart.getChart(canvas);"
                "const {chartArea: area, scales: {y}} = chart, ratio = chart.currentDevicePixelRatio;"
                "return [9.7, 5.2].map((score) => canvas.getContext('2d')"
                "  .getImageData((area.left + 90) * ratio, y.getPixelForValue(score) * ratio, 1, 1).data[3])")
            self.assertGreater(red[0], 0, "the zone")
            self.assertEqual(red[1], 0, "nothing there")

    @unittest.skipUnless(CHART_JS.exists(), "needs libjs-chart.js")
    def test_follows_a_clock_that_is_set(self):
        self.open()
        self.wait("the history is drawn", lambda: len(self.drawn(0)) > 100)
        for step, ahead in ((-3600, -3600), (3 * 3600, 2 * 3600)):
            self.server.say(f"clock {step}")

            def arrived():
                self.server.say("score 720p 33.25")
                drawn, wanted = self.drawn(0), (time.time() + ahead) * 1000
                return drawn and all(abs(at - wanted) < 120_000 for at in (drawn[-1][0], self.axes(0)[0][1]))

            self.wait(f"a point of a clock that is {ahead} s ahead", arrived)
            last = self.drawn(0)[-1][0]
            self.wait("and points after it", lambda: arrived() and self.drawn(0)[-1][0] > last + 2000)
            times = [x for x, _ in self.drawn(0)]
            self.assertEqual(times, sorted(set(times)))
            if step < 0:
                self.assertGreater(len(times), 100, "the history has moved along")
        self.check_console()

    def test_the_report_can_be_read_on_a_phone(self):
        self.server = PageServer(0, "errors")
        self.emulate(360, 740)
        self.browser.get(self.server.address + "report")
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 360)
        right = "return [...document.querySelectorAll('caption span, h3, p')].map((e) => e.getBoundingClientRect().right)"
        self.assertLessEqual(max(self.js(right)), 360, "headings stand outside of what is scrolled")
        heights = self.js("return [...document.querySelectorAll('svg text')].map((e) => e.getBoundingClientRect().height)")
        self.assertGreater(min(heights), 8)
        self.shoot("report")

    def test_names_are_text(self):
        self.open("hostile")
        self.wait("the channel", lambda: len(self.all(".card")) == 3)
        self.assertIn("onerror=alert(1)", self.one("#rendition-2 h3").text)
        self.assertIn("evil.example", self.one("#rendition-2 .events").text)
        self.assertEqual(self.js("return document.querySelectorAll('main script, main link, .card img[onerror]').length"), 0)
        self.assertEqual(self.browser.title, "Video quality monitor")
        self.check_console()

    def test_survives_a_restart_of_the_server(self):
        self.open()
        self.one("#rendition-0 summary").click()
        port = self.server.port
        self.server.stop()
        self.server = None
        self.wait("the loss is shown", lambda: self.text("#connection") == "Connection lost, trying again")
        self.assertEqual(self.text("#rendition-0 .badges"), "No connection", "nobody knows")
        self.assertEqual(self.text("#tiles li:first-child .badges"), "No connection")
        self.server = PageServer(port)
        self.server.say("state 360p ended")
        self.wait("it is live again", lambda: self.text("#connection") == "Live")
        self.wait("the new state", lambda: self.text("#rendition-1 .badges") == "Ended")
        self.assertEqual(len(self.all(".card")), 2)
        self.assertTrue(self.one("#rendition-0 details").get_property("open"), "what was opened stays open")
        self.server.say("alert 720p 60 1")
        self.wait("events arrive", lambda: len(self.all("#alerts p")) == 1)

    def test_still_where_motion_is_not_wanted(self):
        self.open()
        self.assertEqual(self.style("html", "scrollBehavior"), "smooth")
        self.emulate(1280, 900, motion="reduce")
        self.assertEqual(self.style("html", "scrollBehavior"), "auto")

    def test_is_legible_in_both_schemes(self):
        """Contrast of 4.5 at least, of every text with what is behind it."""
        for scheme in ("light", "dark"):
            self.emulate(1280, 900, scheme)
            self.open()
            self.server.say("alert 360p 62.5 1")
            self.server.say("event 360p retry after 1 s")
            self.wait("the alert", lambda: len(self.all("#alerts p")) == 1)
            self.assertEqual(self.js(CONTRAST), [], scheme)
            self.browser.get("about:blank")
            self.server.stop()
            self.server = None


CONTRAST = """
const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4))
  .reduce((sum, v, n) => sum + v * [.2126, .7152, .0722][n], 0);
const wrong = [];
for (const element of document.querySelectorAll('body *')) {
  if (element.closest('.quiet, .skip, dialog, noscript, canvas')) continue;
  if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
  let behind = element;
  const solid = (e) => { const c = channels(getComputedStyle(e).backgroundColor); return c.length < 4 || c[3] === 1; };
  while (behind && !solid(behind)) behind = behind.parentElement;
  const [a, b] = [light(channels(getComputedStyle(element).color)), light(channels(getComputedStyle(behind).backgroundColor))];
  const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (contrast < 4.5) wrong.push(`${element.tagName}.${element.className} "${element.textContent.trim().slice(0, 30)}" ${contrast.toFixed(2)}`);
}
return wrong;
"""


if __name__ == "__main__":
    main(__doc__)
