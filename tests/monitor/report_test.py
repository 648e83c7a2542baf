#!/usr/bin/env python3
"""The report is one file that needs nothing else: well-formed, without scripts, without any address that a browser would
load, and names are text however they are spelled.

    report_test.py PAGE_SERVER
"""
import html.parser
import re
import subprocess
import sys
import urllib.request

VOID = {"meta", "img", "br", "hr", "link", "input"}
SVG_EMPTY = {"line", "rect", "polyline", "polygon"}  # written as <line …/>
LOADING = {"src", "href", "data", "action", "poster", "srcset", "background", "xlink:href"}


class Checker(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.problems, self.tags, self.text = [], [], set(), ""

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.check(tag, attributes)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in SVG_EMPTY:
            self.problems.append(f"<{tag}/>")
        self.check(tag, attributes)

    def check(self, tag, attributes):
        names = [name for name, _ in attributes]
        if len(names) != len(set(names)):
            self.problems.append(f"<{tag}> has an attribute twice: {names}")
        for name, value in attributes:
            if name.startswith("on"):
                self.problems.append(f"<{tag} {name}> runs a script")
            if name in LOADING and not value.startswith("data:image/png;base64,"):
                self.problems.append(f"<{tag} {name}={value[:60]}> loads something")
            if name == "style":
                self.problems.append(f"<{tag}> has a style of its own")
        if tag == "img" and not dict(attributes).get("alt"):
            self.problems.append("a picture without alt")
        if tag == "th" and dict(attributes).get("scope") not in ("row", "col"):
            self.problems.append("a heading of a table without scope")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.text += data


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    server = subprocess.Popen([sys.argv[1], "0", "hostile"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(address + "report", timeout=60) as answer:
            page = answer.read().decode()
            policy = answer.headers["Content-Security-Policy"]
    finally:
        server.stdin.close()
        server.wait()

    checker = Checker()
    checker.feed(page)
    checker.close()
    problems = checker.problems
    if checker.open:
        problems.append(f"left open: {checker.open}")
    for tag in {"script", "link", "iframe", "object", "embed", "base", "form"} & checker.tags:
        problems.append(f"there is a <{tag}>")
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    if "url(" in style or "@import" in style or "\\" in style:
        problems.append("the style loads something")
    for words in ["<script>document.title='attacked'</script>", '"><img src=x onerror=alert(1)>',
                  "</title></style></svg><link rel=stylesheet href=//evil.example/a.css>", "' onload='x&y;"]:
        if words not in checker.text:
            problems.append(f"not shown as text: {words}")
    if "default-src 'none'" not in policy or policy.split(";")[0] not in page:
        problems.append(f"policy: {policy}")
    if {"svg", "table", "img", "h1", "h2", "caption"} - checker.tags:
        problems.append(f"missing: {checker.tags}")
    sys.exit("\n".join(problems) if problems else 0)


if __name__ == "__main__":
    main()
