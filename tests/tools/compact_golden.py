#!/usr/bin/env python3
"""Turns libvmaf's golden figures, one JSON file a clip, into the text form of tests/golden.

    compact_golden.py JSON_FOLDER TEXT_FOLDER           writes TEXT_FOLDER/<case>.txt for every JSON file
    compact_golden.py --check JSON_FOLDER TEXT_FOLDER   reads the text back and compares every value, to the bit

tests/golden/README.md defines the text form.
"""
import argparse
import json
import math
import pathlib
import struct
import sys

FORMAT = "vmafhip-golden 1"
PARAMETERS = ["name", "clip", "seed", "width", "height", "frames", "depth", "chroma", "md5_ref", "md5_dis"]
NUMBERS = {"seed", "width", "height", "frames", "depth"}
POOLS = ["min", "max", "mean", "harmonic_mean"]
WORDS = {"inf", "-inf", "nan", "-nan"}


def to_text(value):
    """The shortest decimal that reads back as the same double."""
    if isinstance(value, str):
        if value not in WORDS:
            raise ValueError(f"not a number: {value!r}")
        return value
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def same(a, b):
    """Bit for bit, and the words by their spelling: NaN has a sign here."""
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return struct.pack("<d", a) == struct.pack("<d", b)


# ------------------------------------------------------------------------------------------- writing --


def score_lines(run, default):
    """One line a score name; runs of names that equal the default section are one '=' line."""
    names = list(run["frames"][0])
    if list(run["pooled"]) != names or any(list(frame) != names for frame in run["frames"]):
        raise ValueError("frames and pooled values must have the same names in the same order")
    values = {
        name: (
            [to_text(frame[name]) for frame in run["frames"]],
            [to_text(run["pooled"][name][pool]) for pool in POOLS],
        )
        for name in names
    }
    lines = []
    for name in names:
        if default is not None and default.get(name) == values[name]:
            if not lines or not lines[-1].startswith("= "):
                lines.append("=")
            lines[-1] += " " + name
        else:
            frames, pooled = values[name]
            lines.append(f"{name} {' '.join(frames)} | {' '.join(pooled)}")
    return lines, values


def to_lines(data):
    unknown = set(data) - {"case", "oracle", "frames", "pooled", "aggregate", "models", "variants", "fork", "errors",
                           "unstable"}
    if unknown or list(data["case"]) != PARAMETERS:
        raise ValueError(f"unknown layout: {sorted(unknown) or list(data['case'])}")
    lines = [FORMAT]
    lines += [f"{key} {data['case'][key]}" for key in PARAMETERS]
    lines += [f"oracle.{key} {text}" for key, text in data["oracle"].items()]

    def section(title, run, default):
        if set(run) - {"frames", "pooled", "aggregate", "case", "oracle", "models", "variants", "fork", "errors",
                       "unstable"}:
            raise ValueError(f"unknown keys in {title}")
        scores, values = score_lines(run, default)
        lines.extend(["", f"[{title}]"] + scores)
        if run.get("aggregate"):
            lines.extend(["", f"[{title} aggregate]"])
            lines.extend(f"{name} {to_text(value)}" for name, value in run["aggregate"].items())
        return values

    default = section("default", data, None)
    for name, run in data["models"].items():
        section(f"model {name}", run, default)
    for name, run in data["variants"].items():
        section(f"variant {name}", run, default)
    section("fork", data["fork"], default)
    if data["errors"]:
        lines.extend(["", "[errors]"] + [f"{key} -> {text}" for key, text in data["errors"].items()])
    if data["unstable"]:
        lines.extend(["", "[unstable]"])
        for extractor, scores in data["unstable"].items():
            lines.extend(f"{extractor} {name} {to_text(value)}" for name, value in scores.items())
    if any("\n" in line for line in lines):
        raise ValueError("a line break inside a value")
    return lines


# ------------------------------------------------------------------------------------------- reading --


def from_text(word):
    return word if word in WORDS else float(word)


def from_lines(lines):
    """The JSON's structure, rebuilt from the text alone."""
    if lines[0] != FORMAT:
        raise ValueError(f"first line is not '{FORMAT}'")
    data = {
        "case": {}, "oracle": {}, "frames": [], "pooled": {}, "aggregate": {}, "models": {}, "variants": {},
        "fork": {}, "errors": {}, "unstable": {},
    }
    title, run = None, None
    for line in lines[1:]:
        if not line:
            continue
        if line.startswith("["):
            title = line[1:-1]
            kind, _, name = title.partition(" ")
            if title in ("errors", "unstable"):
                continue
            if title.endswith(" aggregate"):
                run["aggregate"] = {}
                continue
            run = data if kind == "default" else {}
            if kind in ("model", "variant"):
                data[kind + "s"][name] = run
            elif kind == "fork":
                data["fork"] = run
            run["frames"] = [{} for _ in range(data["case"]["frames"])]
            run["pooled"] = {}
            if kind == "fork":
                run["aggregate"] = {}
        elif title is None:
            key, _, text = line.partition(" ")
            if key.startswith("oracle."):
                data["oracle"][key[7:]] = text
            else:
                data["case"][key] = int(text) if key in NUMBERS else text
        elif title == "errors":
            key, _, text = line.partition(" -> ")
            data["errors"][key] = text
        elif title == "unstable":
            extractor, name, word = line.split(" ")
            data["unstable"].setdefault(extractor, {})[name] = from_text(word)
        elif title.endswith(" aggregate"):
            name, word = line.split(" ")
            run["aggregate"][name] = from_text(word)
        elif line.startswith("= "):
            for name in line.split(" ")[1:]:
                for frame, other in zip(run["frames"], data["frames"]):
                    frame[name] = other[name]
                run["pooled"][name] = data["pooled"][name]
        else:
            head, _, pooled = line.partition(" | ")
            name, *words = head.split(" ")
            if len(words) != len(run["frames"]):
                raise ValueError(f"[{title}] {name}: {len(words)} values for {len(run['frames'])} frames")
            for frame, word in zip(run["frames"], words):
                frame[name] = from_text(word)
            run["pooled"][name] = dict(zip(POOLS, map(from_text, pooled.split(" "))))
    return data


def differences(expected, actual, where=""):
    """Yields the places where the two structures differ; key order counts."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if list(expected) != list(actual):
            yield f"{where}: keys {list(expected)} became {list(actual)}"
            return
        for key in expected:
            yield from differences(expected[key], actual[key], f"{where}/{key}")
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{where}: {len(expected)} entries became {len(actual)}"
            return
        for index, (a, b) in enumerate(zip(expected, actual)):
            yield from differences(a, b, f"{where}/{index}")
    elif isinstance(expected, str) or isinstance(actual, str):
        if expected != actual:
            yield f"{where}: {expected!r} became {actual!r}"
    elif not same(float(expected), float(actual)):
        yield f"{where}: {expected!r} became {actual!r}"


def count_numbers(data):
    if isinstance(data, dict):
        return sum(map(count_numbers, data.values()))
    if isinstance(data, list):
        return sum(map(count_numbers, data))
    return 1 if data in WORDS or isinstance(data, (int, float)) and math.isfinite(data) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("json_folder", type=pathlib.Path)
    parser.add_argument("text_folder", type=pathlib.Path)
    arguments = parser.parse_args()

    sources = sorted(arguments.json_folder.glob("*.json"))
    if not sources:
        sys.exit(f"no JSON file in {arguments.json_folder}")
    if arguments.check:
        failed = numbers = 0
        stems = {path.stem for path in sources}
        for path in sorted(arguments.text_folder.glob("*.txt")):
            if path.stem not in stems:
                print(f"{path.name}: has no JSON file")
                failed += 1
        for path in sources:
            expected = json.loads(path.read_text())
            text = arguments.text_folder / (path.stem + ".txt")
            try:
                found = list(differences(expected, from_lines(text.read_text().splitlines())))
            except (OSError, ValueError, KeyError, IndexError) as error:
                found = [f"cannot be read: {error}"]
            for difference in found[:10]:
                print(f"{text.name}: {difference}")
            failed += bool(found)
            numbers += count_numbers(expected)
        print(f"{len(sources)} cases, {numbers} numbers, {failed} files differ")
        sys.exit(1 if failed else 0)
    arguments.text_folder.mkdir(parents=True, exist_ok=True)
    for path in sources:
        lines = to_lines(json.loads(path.read_text()))
        (arguments.text_folder / (path.stem + ".txt")).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
