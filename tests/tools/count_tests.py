#!/usr/bin/env python3
"""Adds up what `meson test` ran: each GoogleTest case is one test, each other test is one.

    count_tests.py FOLDER LOG.json...

FOLDER holds the result files that GoogleTest wrote in that run (NAME.xml), LOG.json is Meson's own log. Prints the
failed ones and, as the last line, "N passed, N failed" with ", N skipped" behind it if any were. Exit status 1
if one failed, 2 if nothing ran.

A GoogleTest program that Meson calls failed although no case in its result file is (it crashed, ran out of time, or
wrote no file) counts as one failure more.
"""
import json
import pathlib
import sys
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
            name, result = test["name"], test["result"]
            result_file = folder / f"{name}.xml"
            if "[==========] Running" in test.get("stdout", "") or result_file.exists():
                try:
                    cases = count_cases(result_file)
                except (OSError, ElementTree.ParseError) as error:
                    cases = (0, [f"{name}: no result file ({error.__class__.__name__})"], 0)
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


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    passed, failed, skipped = count(pathlib.Path(sys.argv[1]), sys.argv[2:])
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed else 0 if passed else 2)


if __name__ == "__main__":
    main()
