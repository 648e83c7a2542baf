#!/usr/bin/env python3
"""Compares what examples/quickstart.sh printed with what score_yuv printed for the same pictures.

    compare_scores.py QUICKSTART_OUTPUT SCORE_YUV_OUTPUT FRAMES

Both must have exactly FRAMES frames, and every score of quickstart's lines and table must be score_yuv's to 0.001.
"""
import math
import re
import sys

TOLERANCE = 0.001
POOLS = ("mean", "min", "max", "harmonic-mean")
NUMBER = re.compile(r"-?(\d+\.\d+|inf|nan)$")


def read_quickstart(lines):
    """frames: [{name: value}], pooled: {(name, pool): value}"""
    frames, pooled, columns = {}, {}, None
    for line in lines:
        words = line.split()
        if len(words) >= 2 and words[0] == "frame":
            if int(words[1]) in frames:
                sys.exit(f"frame {words[1]} came twice")
            frames[int(words[1])] = {
                name: float(value) for name, value in zip(words, words[1:]) if NUMBER.match(value) and not name[0].isdigit()
            }
        elif words[:1] == ["score"]:
            columns = words[1:]
        elif columns is not None and len(words) == len(columns) + 1 and all(map(NUMBER.match, words[1:])):
            for column, value in zip(columns, words[1:]):
                if column in POOLS:
                    pooled[words[0], column] = float(value)
    return frames, pooled


def read_score_yuv(lines):
    frames, pooled = {}, {}
    for line in lines:
        kind, name, *words = line.split()
        values = dict(zip(words[::2], map(float, words[1::2])))
        if kind == "frame":
            frames[int(name)] = values
        else:
            pooled.update({(name, pool): value for pool, value in values.items()})
    return frames, pooled


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        frames, pooled = read_quickstart(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        expected_frames, expected_pooled = read_score_yuv(file)
    wanted = list(range(int(sys.argv[3])))
    for source, found in (("quickstart", frames), ("score_yuv", expected_frames)):
        if list(found) != wanted:
            sys.exit(f"{source} scored the frames {list(found)}, the video has {len(wanted)}")

    pairs = [(f"frame {i}, {name}", value, expected_frames[i].get(name)) for i in wanted for name, value in frames[i].items()]
    models = {name for frame in frames.values() for name in frame}
    if len(pairs) != len(wanted) * len(models) or not models:
        sys.exit(f"a frame lacks a score: {len(pairs)} values of {sorted(models)} in {len(wanted)} frames")
    for model in models:
        for pool in POOLS:
            if (model, pool) not in pooled:
                sys.exit(f"the table lacks the {pool} of {model}")
    pairs += [(" ".join(key), value, expected_pooled.get(key)) for key, value in pooled.items()]

    worst, bad = 0.0, 0
    for what, value, expected in pairs:
        difference = math.inf if expected is None else abs(value - expected)
        if not difference <= TOLERANCE:
            print(f"{what}: quickstart says {value}, score_yuv {expected}")
            bad += 1
        worst = max(worst, difference)
    print(f"{len(wanted)} frames, {len(pairs)} values, largest difference {worst:.2g}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
