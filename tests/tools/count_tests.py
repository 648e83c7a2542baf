#!/usr/bin/env python3
"""Adds up what `meson test` ran: each GoogleTest case is one test, each other test is one.

    count_tests.py FOLDER LOG.json...
    count_tests.py --self-test

FOLDER holds the result files that GoogleTest wrote in that run (NAME.xml), LOG.json is Meson's own log. Prints the
failed ones and, as the last line, "N passed, N failed" with ", N skipped" behind it if any were. Exit status 1
if one failed, 2 if nothing ran.

A GoogleTest program that Meson calls failed although no case in its result file is (it crashed, ran out of time, or
wrote no file) counts as one failure more.
"""
import json
import pathlib
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

GOOD = {"OK", "EXPECTEDFAIL"}


def count_cases(result_file):
    """(passed, failed names, skipped) of a GoogleTest result file."""
    passed, failed, skipped = 0, [], 0
    for suite in ElementTree.parse(result_file).getroot():
        for case in suite.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(f"{suite.get('name')}.{case.get('name')}")
            elif case.find("skipped") is not None or case.get("result") == "skipped":
                skipped += 1
            elif case.get("status") == "run":
                passed += 1
    return passed, failed, skipped


def count(folder, logs):
    passed, failed, skipped = 0, [], 0
    for log in logs:
        for line in pathlib.Path(log).read_text(encoding="utf-8").splitlines():
            test = json.loads(line)
            # Meson writes "project:suite / name" as soon as there is a suite.
            name, result = test["name"].rpartition(" / ")[2], test["result"]
            result_file = folder / f"{name}.xml"
            # Cases that a program runs once more, under valgrind, have no file: then the test counts as one.
            again = name.endswith("_memcheck")
            if not again and ("[==========] Running" in test.get("stdout", "") or result_file.exists()):
                try:
                    cases = count_cases(result_file)
                except (OSError, ElementTree.ParseError) as error:
                    cases = (0, [f"no result file ({error.__class__.__name__})"], 0)
                passed += cases[0]
                failed += [f"{name}: {case}" for case in cases[1]]
                skipped += cases[2]
                if result not in GOOD | {"SKIP"} and not cases[1]:
                    failed.append(f"{name}: {result}, exit status {test.get('returncode')}")
            elif result in GOOD:
                passed += 1
            elif result == "SKIP":
                skipped += 1
            else:
                failed.append(f"{name}: {result}, exit status {test.get('returncode')}")
    return passed, failed, skipped


def self_test():
    case = '<testcase name="%s" status="%s" result="%s">%s</testcase>'
    cases = (
        case % ("Good", "run", "completed", "")
        + case % ("Off", "notrun", "suppressed", "")
        + case % ("Elsewhere", "run", "skipped", '<skipped message="" />')
    )
    bad = case % ("Bad", "run", "completed", '<failure message="1" /><failure message="2" />')
    files = {
        "good.xml": cases, "bad.xml": cases + bad, "late.xml": cases, "broken.xml": None, "silent_gtest.xml": cases,
    }
    ran = "[==========] Running 3 tests from 1 test suite."
    tests = [
        ("good", "OK", ran), ("project / bad", "FAIL", ran), ("late", "TIMEOUT", ran), ("broken", "OK", ran),
        ("project:full / crash", "FAIL", ran), ("silent_gtest", "OK", ""), ("script", "OK", ""), ("skipped", "SKIP", ""),
        ("project / wrong", "FAIL", ""), ("expected", "EXPECTEDFAIL", ""), ("hung", "TIMEOUT", ""),
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in files.items():
            suite = "<testsuites" if text is None else f'<testsuites><testsuite name="S">{text}</testsuite></testsuites>'
            (folder / file).write_text(suite)
        lines = [json.dumps({"name": n, "result": r, "stdout": o, "returncode": 1}) for n, r, o in tests]
        (folder / "a.json").write_text("\n".join(lines[:4]) + "\n")
        (folder / "b.json").write_text("\n".join(lines[4:]) + "\n")
        passed, failed, skipped = count(folder, [folder / "a.json", folder / "b.json"])
    expected = [
        "bad: S.Bad", "late: TIMEOUT, exit status 1", "broken: no result file (ParseError)",
        "crash: no result file (FileNotFoundError)", "wrong: FAIL, exit status 1", "hung: TIMEOUT, exit status 1",
    ]
    # Passed: Good in four files, script, expected. Skipped: Elsewhere in four files, skipped.
    found = (passed, failed, skipped)
    if found != (6, expected, 5):
        sys.exit(f"self-test: counted {found}")
    print("self-test: counted right")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    passed, failed, skipped = count(pathlib.Path(sys.argv[1]), sys.argv[2:])
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed else 0 if passed else 2)


if __name__ == "__main__":
    main()
