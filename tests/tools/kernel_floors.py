#!/usr/bin/env python3
"""How near kernels come to what an NVIDIA GPU can do: Nsight Compute's counters of each, as a table for NEWS.md.

    kernel_floors.py BENCH FOLDER WHAT...      measure, and keep ncu's tables as FOLDER/<what>.csv
    kernel_floors.py --read FOLDER WHAT...     the table of what was measured before

WHAT: an extractor, or models as "model=NAME,...", and @DEPTH if it is not 8 bits. BENCH is vmafhip-bench. Pairs lie in
the GPU's memory and are measured in batches, of which the full ones count. Two floors are stated for each kernel: the
time that its bytes take, those that it has to read and write once where BYTES has them and else those that went to
memory with cold caches; and the time in which the schedulers issue its instructions, one a cycle each.

Exit status: 0, 1 if something could not be measured, 77 if there is no ncu.
"""
import argparse
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

TIME, MEMORY, INSTRUCTIONS, ISSUED, CYCLES, WARPS = (
    "gpu__time_duration.sum", "dram__bytes.sum", "smsp__inst_executed.sum", "smsp__inst_executed.avg",
    "sm__cycles_elapsed.max", "sm__warps_active.avg.pct_of_peak_sustained_active")  # fmt: skip
OF_PEAK = ".avg.pct_of_peak_sustained_elapsed"
BUSY = {
    "memory": "dram__throughput" + OF_PEAK,
    "L2": "lts__throughput" + OF_PEAK,
    "issue": "sm__issue_active" + OF_PEAK,
    "ALU": "sm__pipe_alu_cycles_active" + OF_PEAK,
    "FMA": "sm__pipe_fma_cycles_active" + OF_PEAK,
    "multiplier": "sm__pipe_fmaheavy_cycles_active" + OF_PEAK,
    "doubles": "sm__pipe_fp64_cycles_active" + OF_PEAK,
    "matrix units": "sm__pipe_tensor_cycles_active" + OF_PEAK,
    "conversions": "sm__inst_executed_pipe_xu" + OF_PEAK,
    "loads and stores": "sm__inst_executed_pipe_lsu" + OF_PEAK,
}
METRICS = [TIME, MEMORY, INSTRUCTIONS, ISSUED, CYCLES, WARPS, *BUSY.values()]

# Launches that two full batches need, with those of the first frames, which are alone; DEFAULT where nothing stands here.
LAUNCHES = {"cambi": 48, "float_ms_ssim": 48, "float_vif": 36, "float_adm": 32, "speed_chroma": 40, "speed_temporal": 40,
            "psnr_hvs": 24, "ssimulacra2": 24, "model": 44}  # fmt: skip
DEFAULT_LAUNCHES = 15

# Pairs of a batch, where memory for as many as --batch says would be more than a session takes.
BATCHES = {"ssimulacra2": 4}

# Bytes that a kernel reads and writes at least, by pixel of the luma and pair, of samples of one byte and of two. Low bands
# of ADM have 16 bits at a quarter of the size, then 32; VIF's scales 16.
BYTES = {
    r"vif_scale0_.*8(_limits)?": 2 + 2 * 2 / 4,
    r"vif_scale0_.*1[26](_limits)?": 4 + 2 * 2 / 4,
    r"vif_scale1.*": 2 * 2 / 4 + 2 * 2 / 16,
    r"vif_scale2.*": 2 * 2 / 16 + 2 * 2 / 64,
    r"vif_scale3.*": 2 * 2 / 64,
    r"adm_scale0_8.*": 2 + 2 * 2 / 4,
    r"adm_scale0_16.*": 4 + 2 * 2 / 4,
    r"adm_scale1.*": 2 * 2 / 4 + 2 * 4 / 16,
    r"adm_scale2.*": 2 * 4 / 16 + 2 * 4 / 64,
    r"adm_scale3.*": 2 * 4 / 64,
    r"motion_8|psnr_moments_8|ansnr_rows_8|motion_float_5_8|speed_qa_8": 2,
    r"motion_16|psnr_moments_16|ansnr_rows_16|motion_float_5_16|speed_qa_16": 4,
    r"ciede_pixels_8": 3 + 4,
    r"ciede_pixels_16": 6 + 4,
    r"ciede_rows": 4,
    # 4 floats of XYB a pixel and picture and 14 of what is blurred: channels and scales that weigh nothing are left out.
    r"ssimulacra2_colours_8": 3 + 2 * 4 * 4,
    r"ssimulacra2_colours_16": 6 + 2 * 4 * 4,
    r"ssimulacra2_rows|ssimulacra2_columns": 2 * 4 * 4 + 14 * 4,
}


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def launches(path):
    """Rows of ncu's table: a dictionary each, numbers as such."""
    lines = [line for line in path.read_text(errors="replace").splitlines() if line.startswith('"')]
    rows = csv.DictReader(lines)
    for row in rows:
        if not row.get("ID"):  # units
            continue
        grid = [int(n) for n in re.findall(r"\d+", row["Grid Size"])]
        values = {key: number(value) for key, value in row.items() if "__" in key and value}
        kernel = row["Kernel Name"].split("(")[0]
        # Which of the grid's dimensions has the pairs.
        yield {"kernel": kernel, "grid": grid, "pairs": grid[1 if re.match(r"adm_scale\d", kernel) else 2], **values}


def kernels(rows, batch):
    """Of each kernel, what its launches for one full batch take together, in the order in which they come."""
    deepest, order = {}, []
    for row in rows:
        if row["kernel"] not in deepest:
            order.append(row["kernel"])
        deepest[row["kernel"]] = max(deepest.get(row["kernel"], 0), row["pairs"])
    if not any(depth % batch == 0 for depth in deepest.values()):
        return
    full = [row for row in rows if row["pairs"] == deepest[row["kernel"]]]
    places = {}  # launches by kernel and size of the grid
    for row in full:
        places.setdefault((row["kernel"], *row["grid"]), []).append(row)
    batches = min(len(of) for of in places.values())
    for kernel in order:
        total = {"kernel": kernel, "launches": 0, "units": {}}
        for (name, *_), of in places.items():
            if name != kernel:
                continue
            times = max(1, round(len(of) / batches))
            total["launches"] += times
            of = sorted(of, key=lambda row: row[TIME])
            median = of[len(of) // 2]
            for metric in (TIME, MEMORY, INSTRUCTIONS):
                total[metric] = total.get(metric, 0) + times * median[metric]
            total["issue"] = total.get("issue", 0) + times * median[TIME] * median[ISSUED] / median[CYCLES]
            if median[TIME] >= total.get("longest", 0):  # the rest is of its longest launch
                total["longest"] = median[TIME]
                total[WARPS] = median.get(WARPS)
                total["units"] = {unit: median[metric] for unit, metric in BUSY.items() if median.get(metric) is not None}
        yield total


def least_bytes(kernel):
    return next((each for pattern, each in BYTES.items() if re.fullmatch(pattern, kernel)), None)


def batch_of(what, options):
    return min(options.batch, BATCHES.get(re.match(r"\w+", what)[0], options.batch))


def table(what, rows, options):
    width, height = (int(n) for n in options.size.split("x"))
    pixels, batch = width * height, batch_of(what, options)
    found = list(kernels(rows, batch))
    of = what.removeprefix("model=").replace("|", " and ")
    for kernel in found:
        spent = kernel[TIME] / batch / 1000  # us a pair; ncu's base unit is the nanosecond
        least = least_bytes(kernel["kernel"])
        moved = least * pixels if least is not None else kernel[MEMORY] / batch
        by_bytes = moved / options.bandwidth / 1e6
        by_issue = kernel["issue"] / batch / 1000
        unit, busy = max(kernel["units"].items(), key=lambda of: of[1], default=("", 0))
        print(f"| {of} | `{kernel['kernel']}` | {spent:.2f} | {by_bytes:.2f}{'' if least is not None else '*'} | {by_issue:.2f} | "
              f"{max(by_bytes, by_issue) / spent * 100:.0f} | {32 * kernel[INSTRUCTIONS] / batch / pixels:.1f} | "
              f"{unit} {busy:.0f} %, warps {kernel[WARPS] or 0:.0f} % |")  # fmt: skip
    if found:
        whole = sum(kernel[TIME] for kernel in found) / batch / 1000
        print(f"| {of} | all | {whole:.2f} | | | | | {1e6 / whole:,.0f} pairs/s |")
    return bool(found)


def file_of(options, what):
    return pathlib.Path(options.folder) / (re.sub(r"[^\w.]+", "-", what) + ".csv")


def measure(ncu, options, what, limit):
    name, _, depth = what.partition("@")
    work = ["--model", name[6:]] if name.startswith("model=") else ["--model", "", "--features", name]
    path, batch = file_of(options, what), batch_of(what, options)
    launches_of = LAUNCHES.get(re.match(r"\w+", name)[0], DEFAULT_LAUNCHES)
    command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--log-file", path,
               "--metrics", ",".join(METRICS), "--launch-count", launches_of, options.bench, *work, "--backend", "hip", "--resident",
               "--size", options.size, "--depth", depth or 8, "--device", options.device, "--batch", batch,
               "--pictures", 2, "--frames", 3 * batch, "--warmup", 0]  # fmt: skip
    path.unlink(missing_ok=True)
    try:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=limit)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"stopped after {limit:.0f} s"
    if done.returncode == 0 and path.exists() and any(TIME in row for row in launches(path)):
        return None
    said = (done.stderr + (path.read_text(errors="replace") if path.exists() else "")).strip().splitlines()
    return said[-1] if said else f"status {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--read", action="store_true")
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120, help="for all together")
    parser.add_argument("--bandwidth", type=float, default=4.8, help="of the GPU's memory, TB/s")
    parser.add_argument("words", nargs="+", metavar="BENCH FOLDER WHAT")
    options = parser.parse_args()
    options.bench = None if options.read else options.words.pop(0)
    if not options.words:
        parser.error("no folder")
    options.folder, *whats = options.words
    ncu = None
    if not options.read:
        ncu = shutil.which("ncu", path=f"{os.environ.get('PATH', '')}:{os.environ.get('CUDA_HOME') or '/usr/local/cuda'}/bin")
        if not ncu:
            print("There is no ncu (Nsight Compute)")
            sys.exit(77)
        pathlib.Path(options.folder).mkdir(parents=True, exist_ok=True)
    end, failed = time.monotonic() + options.seconds, []
    fewer = "".join(f", {name} of {batch}" for name, batch in BATCHES.items() if batch < options.batch)
    print(f"{options.size}, batches of {options.batch}{fewer}; us a pair; memory {options.bandwidth} TB/s (*: bytes as measured)\n")
    print("| of | kernel | us | floor: bytes | floor: issue | reached % | instructions a pixel | busiest |")
    print("|---|---|---|---|---|---|---|---|")
    for what in whats:
        left = end - time.monotonic()
        why = None
        if ncu:
            why = measure(ncu, options, what, min(left, 40)) if left > 3 else "not done, out of time"
        path = file_of(options, what)
        if not why and not (path.exists() and table(what, list(launches(path)), options)):
            why = "no full batch was measured"
        if why:
            failed.append(f"{what}: {why}")
        sys.stdout.flush()
    for line in failed:
        print(line)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
