#!/usr/bin/python3
"""Makes the cases that content synchronisation is measured on.

    generate.py PICTURES JUDGE OUT [--held-out] [--only NAME_PART] [--jobs N]

PICTURES is the folder that fetch.sh filled, JUDGE the program that makes signatures, OUT gets a folder a case:
ref.sig and dist.sig (see case.h) and truth.txt:

    SAME TAGS PERIOD REF_RATE DIST_RATE OFFSET REACH REF_FRAMES DIST_FRAMES
    TIME FIRST LAST        of each reference frame: its time, and the run of frames that nobody can tell apart
    TIME SHOWN             of each distorted frame: its time, and the reference frame it shows (-1: none)

SAME is 1 if the distorted stream is the reference's. Tags: `constant` (constant offset, equal rates), `still` (nothing
moves). PERIOD is after how many frames the reference repeats itself, 0: never. REACH is the largest offset in s.

Letters: A offsets and compression, B half size, C rates, D levels, E drops, repeats, drift, G splices, H bars, logo,
crop, I static pictures, K noise, L black, M periodic, N unlike or still, S slides, P several at once, Q large offsets,
Z files in 1080p. R: drawn at random, for checking what was chosen on the others (--held-out).

Exit status: 0 made, 77 numpy is not here.
"""
import argparse
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import zlib

try:
    import numpy as np
except ImportError:
    print("python3-numpy is not here", file=sys.stderr)
    sys.exit(77)

H, W = 360, 640
LETTERBOX = "scale=640:268:flags=bicubic,pad=640:360:0:46:black"
PILLARBOX = "scale=480:360:flags=bicubic,pad=640:360:80:0:black"
HALF = "scale=320:180:flags=bicubic"
DECODE = ["-fps_mode", "passthrough", "-vf", "format=yuv420p,extractplanes=y", "-f", "rawvideo", "-pix_fmt", "gray", "-"]
FILE_NAME = str.maketrans({"/": "_", "%": "p", "<": "", ">": "", ":": "", ",": "."})
args = None


def rng(seed):
    return np.random.default_rng(zlib.crc32(str(seed).encode()))


# ---- sources: luma of n frames ----------------------------------------------------------------


def load(name):
    return np.memmap(args.pictures / f"{name}.y", np.uint8, "r").reshape(-1, H, W)


def photo(i):
    command = ["ffmpeg", "-v", "error", "-i", args.pictures / f"photo{i}.png", "-f", "rawvideo", "-pix_fmt", "gray", "-"]
    samples = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(samples, np.uint8).reshape(-1, 1400).astype(np.float32)


def pan(i, n, fps, seed, speed=60.0):
    """A photograph under a wandering camera (pixels a second), rendered at exact times."""
    image, r = photo(i), rng(seed)
    mx, my = image.shape[1] - W - 2, image.shape[0] - H - 2
    ph, f = r.uniform(0, 6.28, 6), r.uniform(0.08, 0.5, 3)
    out = np.empty((n, H, W), np.uint8)
    for k in range(n):
        t = k / fps
        x = mx / 2 + min(mx / 2, speed * 2.2) * (
            0.6 * np.sin(f[0] * t * 2 + ph[0]) + 0.3 * np.sin(f[1] * t * 3 + ph[1]) + 0.1 * np.sin(f[2] * t * 9 + ph[2])
        )
        y = my / 2 + min(my / 2, speed * 1.5) * (0.6 * np.sin(f[1] * t * 2 + ph[3]) + 0.4 * np.sin(f[2] * t * 3 + ph[4]))
        xi, yi = int(x), int(y)
        a, b = x - xi, y - yi
        q = image[yi : yi + H + 1, xi : xi + W + 1]
        top, bottom = (1 - a) * q[:H, :W] + a * q[:H, 1:], (1 - a) * q[1:, :W] + a * q[1:, 1:]
        out[k] = ((1 - b) * top + b * bottom + 0.5).astype(np.uint8)
    return out


def mix(seed, n, fps=25):
    """A programme: pieces of 1.5 to 4 s. '<X' and '>X' draw from disjoint halves of the sources."""
    r, out, have = rng(seed), [], 0
    half = {"<": ["city", "vtest", "screen", "pan"], ">": ["cockatoo", "rocket", "real", "birds", "pan"]}.get(seed[0])
    names = half or ["city", "cockatoo", "vtest", "rocket", "screen", "real", "birds", "pan"]
    while have < n:
        s, k = names[r.integers(len(names))], int(r.integers(int(1.5 * fps), 4 * fps))
        if s == "pan":
            which = int(r.integers(3)) + 3 * (seed[0] == ">") if half else int(r.integers(6))
            piece = pan(which, k, fps, f"{seed}{have}", float(r.uniform(20, 120)))
        else:
            v = load(s)
            k = min(k, len(v))
            a = int(r.integers(0, len(v) - k + 1))
            piece = v[a : a + k]
        out.append(np.asarray(piece))
        have += k
    return np.concatenate(out)[:n]


def repeated(clip, n):
    return np.concatenate([clip] * (n // len(clip) + 1))[:n]


def source(text, n, fps):
    kind, _, rest = text.partition(":")
    p = rest.split(",") if rest else []

    def take(name, first, count):
        return np.asarray(load(name)[first : first + count])

    if kind == "mix":
        return mix(p[0] if p else "m", n, fps)
    if kind == "pan":
        return pan(int(p[0]), n, fps, p[1] if len(p) > 1 else "s", float(p[2]) if len(p) > 2 else 60.0)
    if kind == "loop":
        return repeated(take(p[0], int(p[1]), int(p[2])), n)
    if kind == "pingpong":
        v = take(p[0], int(p[1]), int(p[2]))
        return repeated(np.concatenate([v, v[-2:0:-1]]), n)
    if kind == "still":
        return np.repeat(take(p[0], int(p[1]), 1), n, 0)
    if kind == "slides":
        frames = []
        for i in range(n // int(p[0]) + 1):
            left = 30 * i % 600
            frames += [photo(i % 6)[40 + 7 * i : 40 + 7 * i + H, left : left + W].astype(np.uint8)] * int(p[0])
        return np.stack(frames[:n])
    if kind == "black":
        return np.full((n, H, W), 16, np.uint8)
    if kind == "leader":  # seconds of black, then another source
        b = int(float(p[0]) * fps)
        return np.concatenate([np.full((b, H, W), 16, np.uint8), source(":".join(p[1].split("/")), n - b, fps)])
    if kind == "fade":
        v = source("mix:<f", n, fps).astype(np.float32)
        gain = np.clip(np.arange(n) / fps - 1, 0, 1)[:, None, None]
        return (16 + (v - 16) * gain).astype(np.uint8)
    return take(kind, int(p[0]) if p else 0, n)


# ---- the cases --------------------------------------------------------------------------------

cases = []


def case(name, src, offset, fr=25, fd=None, crf=28, sec=12, mode="hold", proc="", vf="", size=(W, H), other=None, period=0):
    """The distorted stream shows src `offset` s later. proc: what is done to its frames, see build()."""
    cases.append(dict(name=name, src=src, offset=offset, fr=fr, fd=fd or fr, crf=crf, sec=sec, mode=mode, proc=proc,
                      vf=vf, size=size, other=other, period=period))  # fmt: skip


def length(src, otherwise):
    return {"city": 7.5, "rocket": 7.5, "cockatoo": 11}.get(src, otherwise)


def list_cases():
    for s, t, q in [("mix:a", 0, 23), ("mix:b", -2, 38), ("mix:c", 2, 23), ("mix:d", 0.52, 38), ("mix:e", -0.333, 28),
                    ("city", 1.2, 23), ("city", -1.013, 38), ("cockatoo", 0.28, 23), ("cockatoo", -1.72, 38),
                    ("rocket", 0.8, 28), ("rocket", -0.507, 38), ("pan:0,x", 1.64, 23), ("pan:1,y", -0.96, 38),
                    ("pan:2,z,15", 0.6, 38), ("pan:3,w,200", -1.999, 28), ("pan:4,v,8", -0.4, 38)]:  # fmt: skip
        case(f"A-{s}-{t:+}-crf{q}", s, t, crf=q, sec=length(s, 12))
    for s, t, q in [("mix:g", -0.4, 23), ("mix:h", 1.5, 35), ("pan:5,a", 0.24, 28), ("cockatoo", -1.1, 38)]:
        case(f"B-half-{s}-{t:+}-crf{q}", s, t, crf=q, vf=HALF, size=(320, 180), sec=11)
    rates = [(50, 25, "hold"), (25, 50, "hold"), (60, 30, "hold"), (30, 60, "hold"), (50, 60, "hold"), (60, 50, "hold"),
             (25, 30, "hold"), (30, 25, "hold"), (24, 60, "hold"), (50, 60, "blend"), (25, 30, "blend"),
             (60, 50, "blend"), (30, 25, "blend"), (25, 50, "blend")]  # fmt: skip
    offsets = [0.3, -1.21, 0.77, -0.45, 1.9, -1.5, 0.123, -0.611, 1.0, -0.2, 0.84, -1.33, 0.4, -0.09]
    for i, ((fr, fd, m), t) in enumerate(zip(rates, offsets)):
        case(f"C-{fr}to{fd}-{m}-mix", f"mix:r{i}", t, fr, fd, mode=m, sec=11)
        if i % 2 == 0:
            case(f"C-{fr}to{fd}-{m}-pan", f"pan:{i%6},r{i}", -t, fr, fd, mode=m, sec=11, crf=33)
    case("C-60to25-hold-vtest", "vtest:0", 0.7, 60, 25, sec=12)
    case("C-59.94to50-hold-mix", "mix:q", -0.7, 59.94, 50, sec=11)
    for p, s, t in [("gain1.1", "mix:i", 0.36), ("gain0.9", "mix:j", -1.4), ("gain0.9", "pan:1,d", 1.04),
                    ("lift16", "mix:k", -0.72), ("gamma1.25", "mix:l", 0.2), ("contrast0.75", "cockatoo", -0.88)]:  # fmt: skip
        case(f"D-{p}-{s}", s, t, proc=p, sec=11)
    for p, s, t in [("dropgap", "mix:n", 0.44), ("dropgap", "pan:0,n", -0.8), ("droprun", "mix:o", -0.2),
                    ("droprun", "cockatoo", 0.64), ("dup", "mix:p", 1.0), ("dup", "pan:2,o", -1.24),
                    ("freeze", "mix:s", 0.16), ("first5", "mix:t", -0.52), ("first5", "cockatoo", 0.92),
                    ("dropheld", "mix:u", -1.6), ("dropheld", "city", 0.1), ("jitter", "mix:v", 0.5)]:  # fmt: skip
        case(f"E-{p}-{s}", s, t, proc=p, sec=7.5 if s == "city" else 11, crf=30)
    case("E-drift0.1%-mix", "mix:dr", 0.6, proc="drift1.001", sec=24)
    case("E-drift-0.1%-cockatoo", "cockatoo", -0.4, proc="drift0.999", sec=11)
    case("E-drift0.1%-pan", "pan:1,dr", 1.1, proc="drift1.001", sec=24)
    case("E-speed4%-mix", "mix:sp", 0.2, proc="drift1.04", sec=11)
    for p, s, t in [("jump10", "mix:w", 0.2), ("jump-18", "mix:x", -0.6), ("jump3", "pan:3,j", 1.0),
                    ("jump30", "cockatoo", -0.9), ("jump-10", "vtest:100", 0.4)]:  # fmt: skip
        case(f"G-{p}-{s}", s, t, proc=p, sec=11 if s == "cockatoo" else 16)
    case("G-ad4s-mix", "mix:<y", -0.48, proc="ad", sec=20)
    case("G-ad4s-pan", "pan:2,ad", 0.72, proc="ad", sec=20)
    case("H-letterbox-mix", "mix:lb", 0.6, vf=LETTERBOX)
    case("H-letterbox-crf38-pan", "pan:0,lb", -1.3, vf=LETTERBOX, crf=38)
    case("H-pillar-mix", "mix:pb", -0.24, vf=PILLARBOX)
    case("H-letterbox-cockatoo", "cockatoo", 1.4, vf=LETTERBOX, sec=11)
    case("H-letterbox-leader", "leader:1.5,mix/lz", 0.6, vf=LETTERBOX, sec=14)
    case("H-zoom3%-mix", "mix:zm", 0.6, vf="crop=620:348,scale=640:360")
    case("H-logo-mix", "mix:lg", -0.6, proc="logo")
    case("H-shift8px-pan", "pan:1,sh", 0.8, vf="crop=632:360:8:0,scale=640:360")
    for s, t, q in [("vtest:0", 0.4, 23), ("vtest:200", -1.52, 28), ("vtest:400", 1.88, 38), ("vtest:300", -0.1, 38),
                    ("screen", 0.6, 23), ("screen", -0.9, 38)]:  # fmt: skip
        case(f"I-{s}-{t:+}-crf{q}", s, t, crf=q, sec=12 if s[0] == "v" else 9.5)
    case("I-vtest50-half", "vtest:50", 0.94, 50, 50, sec=14, vf=HALF, size=(320, 180), crf=33)
    for p, s, t in [("noise8", "mix:n8", 0.32), ("noise15", "mix:n15", -1.0), ("noise8", "vtest:350", -0.6),
                    ("noise15", "cockatoo", 1.0)]:  # fmt: skip
        case(f"K-{p}-{s}", s, t, proc=p, crf=20, sec=11)
    case("L-leader2", "leader:2,mix/l2", 0.7, sec=14)
    case("L-leader4", "leader:4,cockatoo/0", -1.1, sec=14)
    case("L-fade-in", "fade:", 0.52)
    case("L-black", "black:", 0.4)
    for s, first, period in [("city", 0, 12), ("cockatoo", 40, 25), ("rocket", 60, 50)]:
        case(f"M-loop{period}-{s}", f"loop:{s},{first},{period}", 0.2, crf=23, period=period)
    case("M-loop110-cockatoo", "loop:cockatoo,40,110", 0.72, sec=16, period=110)
    case("M-pingpong-real", "pingpong:real,0,41", 0.4, period=80)
    for a, b in [("mix:<1", "mix:>2"), ("city", "cockatoo"), ("vtest:0", "vtest:450"), ("pan:0,1", "pan:3,2"),
                 ("screen", "rocket"), ("mix:>3", "pan:1,4"), ("leader:2,mix/<5", "leader:2,mix/>6"),
                 ("mix:<7", "mix:>8"), ("mix:<9", "mix:>10"), ("mix:<11", "mix:>12"), ("mix:>13", "mix:<14"),
                 ("fade:", "leader:1,mix/>6"), ("vtest:100", "vtest:600"),
                 ("leader:1,pan/0,q", "leader:1.5,pan/4,p"), ("slides:30", "mix:8"),
                 ("pan:2,a,150", "pan:2,b,150")]:  # fmt: skip
        case(f"N-{a}-vs-{b}", a, 0, other=b, sec=7.5 if "city" in a or "rocket" in b else 12)
    case("N-still-city", "still:city,50", 0.3)
    case("N-still-noise", "still:cockatoo,50", 0.3, proc="noise8", crf=20)
    case("N-still-crf38", "still:real,5", -0.5, crf=38)
    case("S-slides50", "slides:50", 0.6, sec=16)
    case("S-slides125", "slides:125", -0.8, sec=16)
    case("P-half-gain-drop", "mix:P", 0.9, proc="gain0.9+dropheld", vf=HALF, size=(320, 180), crf=35)
    case("P-lb-dup-50to25", "mix:Q", -1.1, 50, 25, vf=LETTERBOX, proc="dup", crf=34)
    case("P-noise-drift-60to50", "mix:R", 1.3, 60, 50, proc="noise8+drift1.001", crf=30)
    case("Q-off+3.6-mix", "mix:S", 3.6, sec=14)
    case("Q-off-4-cockatoo", "cockatoo", -4, sec=11)
    case("Q-off+4.4-pan", "pan:0,S", 4.4, sec=14)
    case("Q-off-5-vtest", "vtest:10", -5, sec=16)
    for ref, dist, shift in [("real_1080p_ref", "real_1080p_crf40", 7), ("real_1080p_ref", "real_1080p_half", 0),
                             ("real_1080p_ref", "real_1080p_crf30", 12), ("pan_1080p_ref", "pan_1080p_crf38", 10),
                             ("pan_1080p_ref", "pan_1080p_crf28", 3), ("pan_1080p_ref", "real_1080p_ref", 0)]:  # fmt: skip
        cases.append(dict(name=f"Z-{ref[:4]}-{dist}", files=(ref, dist), shift=shift))


def list_held_out(n=48):
    r = rng("held out")
    for i in range(n):
        s = [f"mix:R{i}", f"pan:{i % 6},R{i},{r.integers(10, 150)}", f"cockatoo:{r.integers(0, 60)}",
             f"vtest:{r.integers(0, 450)}", "city", "rocket", "screen", f"mix:T{i}"][r.integers(8)]  # fmt: skip
        fr = int(r.choice([25, 25, 30, 50, 60])) if s[:3] in ("mix", "pan") else 25
        fd = int(r.choice([25, 30, 50, 60])) if r.random() < 0.3 else fr
        p = str(r.choice(["", "", "", "gain1.1", "gain0.9", "lift10", "noise5", "dropgap", "droprun", "dropheld", "dup",
                          "first5", "drift1.001", "logo", "contrast0.9+dropheld"]))  # fmt: skip
        views = [("", (W, H)), ("", (W, H)), (HALF, (320, 180)), (LETTERBOX, (W, H)), (PILLARBOX, (W, H))]
        v, size = views[r.choice(5, p=[0.3, 0.3, 0.2, 0.1, 0.1])]
        t, crf = round(float(r.uniform(-2, 2)), 3), int(r.integers(20, 39))
        mode = str(r.choice(["hold", "blend"])) if fd != fr else "hold"
        sec = 7.5 if s in ("city", "rocket") else 8.5 if s[0] == "c" else 9.5 if s == "screen" else 12
        case(f"R{i:02d}-{s}-{fr}to{fd}-{p}", s, t, fr, fd, crf=crf, mode=mode, sec=sec, proc=p, vf=v, size=size)


# ---- making one -------------------------------------------------------------------------------


def sign(frames, path, fps, h=H, w=W):
    process = subprocess.Popen([args.judge, "sign", str(w), str(h), str(fps), path], stdin=subprocess.PIPE)
    for f in frames:
        process.stdin.write(np.ascontiguousarray(f).tobytes())
    process.stdin.close()
    if process.wait() != 0:
        raise RuntimeError(f"{path}: no signatures")


def decode(path, w, h):
    command = ["ffmpeg", "-v", "error", "-threads", "1", "-i", path] + DECODE
    return np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.uint8).reshape(-1, h, w)


def encode(frames, crf, vf, path):
    command = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{W}x{H}", "-r", "25",
               "-i", "-"] + (["-vf", vf] if vf else [])  # fmt: skip
    command += ["-c:v", "libx264", "-threads", "1", "-preset", "fast", "-crf", str(crf), path]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    chroma = np.full(H * W // 2, 128, np.uint8).tobytes()
    for f in frames:
        process.stdin.write(np.ascontiguousarray(f).tobytes())
        process.stdin.write(chroma)
    process.stdin.close()
    if process.wait() != 0:
        raise RuntimeError(f"{path}: not encoded")


def write_truth(folder, head, ref, dist):
    lines = [" ".join(str(x) for x in head + [len(ref), len(dist)])]
    lines += [f"{t:.6f} {first} {last}" for t, first, last in ref] + [f"{t:.6f} {shown:.4f}" for t, shown in dist]
    (folder / "truth.txt").write_text("\n".join(lines) + "\n")


def build_files(c, folder):
    fr, shift = 25, c["shift"]
    a, b = (decode(args.pictures / f"{f}.mp4", 1920, 1080) for f in c["files"])
    b = b[shift:]
    sign(a, folder / "ref.sig", fr, 1080, 1920)
    sign(b, folder / "dist.sig", fr, 1080, 1920)
    same = c["files"][0][:4] == c["files"][1][:4]
    write_truth(folder, [int(same), "constant", 0, fr, fr, shift / fr, shift / fr],
                [(i / fr, i, i) for i in range(len(a))],
                [(j / fr, j + shift if same else -1) for j in range(len(b))])  # fmt: skip


def changed(frame, procs, noise, logo):
    for p in procs:
        if p.startswith("gain"):
            frame = np.clip((frame.astype(np.float32) - 16) * float(p[4:]) + 16, 0, 255).astype(np.uint8)
        elif p.startswith("lift"):
            frame = np.clip(frame.astype(np.int16) + int(p[4:]), 0, 255).astype(np.uint8)
        elif p.startswith("gamma"):
            frame = (255 * (frame / 255.0) ** float(p[5:])).astype(np.uint8)
        elif p.startswith("contrast"):
            frame = (128 + (frame.astype(np.float32) - 128) * float(p[8:])).astype(np.uint8)
        elif p.startswith("noise"):
            frame = np.clip(frame + noise.normal(0, float(p[5:]), (H, W)), 0, 255).astype(np.uint8)
        elif p == "logo":
            frame = frame.copy()
            frame[20:60, 520:610] = logo
    return frame


def build(c):
    folder = args.out / c["name"].translate(FILE_NAME)
    if (folder / "truth.txt").exists():
        return c["name"]
    folder.mkdir(parents=True, exist_ok=True)
    if "files" in c:
        build_files(c, folder)
        return c["name"]
    fr, fd, offset, r = c["fr"], c["fd"], c["offset"], rng(c["name"])
    ref = source(c["src"], int(c["sec"] * fr), fr)
    n = len(ref)
    procs = c["proc"].split("+") if c["proc"] else []
    # Distorted frame j stands at t[j] and shows reference frame k[j], that of time t[j] + offset.
    t = np.arange(int(n / fr * fd)) / fd
    if fd == fr:
        t = t - (offset * fr - round(offset * fr)) / fr  # whole frames; the time stamps carry the fraction
    k = (t + offset) * fr
    if c["mode"] == "hold":
        k = np.floor(k + 1e-6)
    there = (k >= 0) & (k <= n - 1)
    t, k = t[there], k[there]
    for p in procs:
        u = r.random(len(k)) < 0.03
        u[:3] = False
        if p == "dropgap":  # frames are missing
            t, k = t[~u], k[~u]
        elif p == "droprun":  # ... and those behind have moved up
            k = k[~u]
            t = t[: len(k)]
        elif p == "dropheld":  # the frame before is shown again
            for j in np.flatnonzero(u):
                k[j] = k[j - 1]
        elif p == "dup":  # ... and those behind come later
            k = np.repeat(k, 1 + u)[: len(k)]
        elif p == "freeze":
            k[len(k) // 2 : len(k) // 2 + 13] = k[len(k) // 2]
        elif p == "first5":
            k = np.concatenate([[k[0]] * 5, k])[: len(k)]
        elif p == "jitter":
            t = t + r.uniform(-0.008, 0.008, len(t))
        elif p.startswith("jump"):
            k[len(k) // 2 :] += int(p[4:])
            there = (k >= 0) & (k <= n - 1)
            t, k = t[there], k[there]
        elif p.startswith("drift"):
            t = t * float(p[5:])
    foreign, other = np.zeros(len(k), bool), None
    if "ad" in procs:
        first = len(k) * 2 // 5
        foreign[first : first + int(4 * fd)] = True
        other = source("mix:>alien", n, fr)
    if c["other"]:
        foreign[:] = True
        other = source(c["other"], n, fr)
    logo = rng("logo").integers(60, 235, (40, 90)) if "logo" in procs else None

    def frames():
        noise = rng(c["name"] + "n")
        for j, x in enumerate(k):
            src = other if foreign[j] else ref
            i, w = min(int(x), len(src) - 1), x - int(x)
            frame = src[i]
            if w > 1e-3 and i + 1 < len(src):
                frame = (src[i] * (1 - w) + src[i + 1] * w + 0.5).astype(np.uint8)
            yield changed(frame, procs, noise, logo)

    coded = folder / "coded.mkv"
    encode(frames(), c["crf"], c["vf"], coded)
    dist = decode(coded, *c["size"])
    coded.unlink()
    if len(dist) != len(k):
        raise RuntimeError(f"{c['name']}: {len(dist)} of {len(k)} frames came back")
    sign(ref, folder / "ref.sig", fr)
    sign(dist, folder / "dist.sig", fd, c["size"][1], c["size"][0])
    # Reference frames that nobody can tell apart: runs with a mean absolute change below 0.02.
    change = [0.0] + [float(np.abs(ref[i].astype(np.int16) - ref[i - 1]).mean()) for i in range(1, n)]
    first, last = list(range(n)), list(range(n))
    for i in range(1, n):
        if change[i] < 0.02:
            first[i] = first[i - 1]
    for i in range(n - 2, -1, -1):
        if change[i + 1] < 0.02:
            last[i] = last[i + 1]
    kinds = {re.sub(r"[-0-9.]+$", "", p) for p in procs}
    constant = fr == fd and not kinds & {"droprun", "dropheld", "dup", "freeze", "first", "jump", "drift", "ad"}
    still = c["src"].startswith(("still", "black"))
    tags = [tag for tag, on in (("constant", constant), ("still", still)) if on] or ["-"]
    write_truth(folder, [int(not c["other"]), ",".join(tags), c["period"], fr, fd, offset, abs(offset)],
                [(i / fr, first[i], last[i]) for i in range(n)],
                [(t[j], -1 if foreign[j] else k[j]) for j in range(len(k))])  # fmt: skip
    return f"{c['name']}: {n} and {len(k)} frames"


def main():
    global args
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", type=pathlib.Path)
    parser.add_argument("judge", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    if args.held_out:
        list_held_out()
    else:
        list_cases()
    with multiprocessing.Pool(args.jobs) as pool:
        for line in pool.imap_unordered(build, [c for c in cases if args.only in c["name"]]):
            print(line, flush=True)


if __name__ == "__main__":
    main()
