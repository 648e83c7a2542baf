#!/usr/bin/env python3
"""tests/tools/kernel_floors.py on a table of counters that is known, from an ncu and a bench that are small scripts here.

    kernel_floors_test.py SOURCE_ROOT
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from expectations import expect, finish  # noqa: E402

TOOL = pathlib.Path(sys.argv[1]) / "tests/tools/kernel_floors.py"
HEAD = ["ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "dram__bytes.sum", "gpu__time_duration.sum", "smsp__inst_executed.sum",
        "smsp__inst_executed.avg", "sm__cycles_elapsed.max", "sm__warps_active.avg.pct_of_peak_sustained_active",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed", "sm__issue_active.avg.pct_of_peak_sustained_elapsed",
        "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed"]  # fmt: skip


def csv_of(rows):
    lines = [HEAD, [""] * 5 + ["byte", "ns", "inst", "inst", "cycle", "%", "%", "%", "%"]]
    for number, (kernel, grid, *values) in enumerate(rows):
        lines.append([number, 7, kernel, "(256, 1, 1)", grid, *values])
    text = "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines)
    return "==PROF== Connected to process 7\n" + text + "\n==PROF== Disconnected from process 7\n"


# Two full batches of four pairs behind a single pair: a kernel that is told by its bytes, and one that runs twice a batch and
# is told by its instructions. 100 x 80 pixels.
FULL = [
    ("motion_8(MotionArgs)", "(3, 2, 4)", "70,000", "4,000", "2000", "10", "4000", "50", "30", "60", "55"),
    ("cambi_digit", "(5, 1, 8)", "9600", "3000", "1000", "3000", "6000", "40", "20", "70", "35"),
    ("cambi_digit", "(5, 1, 8)", "9600", "3000", "1000", "3000", "6000", "40", "20", "70", "35"),
]
SINGLE = [("motion_8(MotionArgs)", "(3, 2, 1)", "16000", "3900", "600", "3", "3900", "9", "30", "60", "55")]


def run(folder, *words, text=None, status=0):
    environment = dict(os.environ, PATH=f"{folder}/bin", CUDA_HOME="/nowhere")
    (folder / "bin").mkdir(exist_ok=True)
    ncu = folder / "bin/ncu"
    ncu.unlink(missing_ok=True)
    if text is not None:
        (folder / "csv").write_text(text)
        ncu.write_text(
            f"""#!/bin/sh
echo "$@" >>{folder}/calls
while [ "$1" != --log-file ]; do shift; done
/bin/cp {folder}/csv "$2"
exit {status}
"""
        )
        ncu.chmod(0o755)
    done = subprocess.run([sys.executable, TOOL, "--size", "100x80", "--batch", "4", "--bandwidth", "0.02", *words],
                          capture_output=True, text=True, env=environment)  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def row_of(text, kernel):
    line = next((line for line in text.splitlines() if f"| `{kernel}` |" in line), "")
    return [cell.strip() for cell in line.strip("|").split("|")]


def check(folder):
    status, text, error = run(folder, "bench", str(folder / "out"), "motion@10", text=csv_of(SINGLE + FULL + FULL))
    expect(status == 0, f"status {status}: {text}{error}")
    # 4000 ns of four pairs; two bytes a pixel at 0.02 TB/s; 10 instructions in 4000 cycles; 2000 * 32 / 4 / 8000.
    expect(row_of(text, "motion_8") == ["motion@10", "`motion_8`", "1.00", "0.80", "0.00", "80", "2.0",
                                        "issue 60 %, warps 50 %"], f"by its bytes: {text}")  # fmt: skip
    # Twice 3000 ns; bytes as measured, 2 * 9600 / 4 at 0.02 TB/s; half of the cycles issue.
    expect(row_of(text, "cambi_digit")[2:7] == ["1.50", "0.24*", "0.75", "50", "2.0"], f"by its instructions: {text}")
    expect("| all | 2.50 |" in text, f"of all: {text}")
    calls = (folder / "calls").read_text().splitlines()
    expect(len(calls) == 1 and "bench --model  --features motion --backend hip --resident --size 100x80 --depth 10" in calls[0],
           f"the bench: {calls}")  # fmt: skip

    # A kernel whose grid has pairs in the second dimension, and of a single pair more in the third.
    adm = [("adm_scale1(AdmScaleArgs)", "(9, 1, 45)", "16000", "900", "600", "3", "3900", "9", "30", "60", "55"),
           *2 * [("adm_scale1(AdmScaleArgs)", "(9, 4, 20)", "16000", "4000", "600", "3", "3900", "9", "30", "60", "55")]]  # fmt: skip
    grid = run(folder, "bench", str(folder / "out"), "adm", text=csv_of(adm))
    expect(grid[0] == 0 and row_of(grid[1], "adm_scale1")[2] == "1.00", f"pairs elsewhere in the grid: {grid}")

    # Batches of four of an extractor that takes much memory, also where others have more.
    (folder / "calls").unlink()
    few = run(folder, "--batch", "16", "bench", str(folder / "out"), "ssimulacra2", "motion", text=csv_of(SINGLE + FULL + FULL))
    expect(row_of(few[1], "motion_8")[:3] == ["ssimulacra2", "`motion_8`", "1.00"], f"smaller batches: {few}")
    expect(few[0] == 1 and "motion: no full batch was measured" in few[1], f"motion in batches of 16: {few}")
    calls = (folder / "calls").read_text().splitlines()
    expect("--batch 4 --pictures 2 --frames 12" in calls[0] and "--batch 16 --pictures 2 --frames 48" in calls[1], f"batches: {calls}")

    again = run(folder, "--read", str(folder / "out"), "motion@10")
    expect(again[:2] == (0, text), f"read again: {again}")
    models = run(folder, "bench", str(folder / "out"), "model=a|b:name=c", text=csv_of(FULL))
    expect(models[0] == 0 and row_of(models[1], "motion_8")[0] == "a and b:name=c", f"two models: {models}")
    alone = run(folder, "bench", str(folder / "out"), "motion", text=csv_of(SINGLE))
    expect(alone[0] == 1 and "motion: no full batch was measured" in alone[1], f"no full batch: {alone}")
    broken = run(folder, "bench", str(folder / "out"), "motion", text="==ERROR== no permission\n", status=1)
    expect(broken[0] == 1 and "motion: ==ERROR== no permission" in broken[1], f"ncu fails: {broken}")
    late = run(folder, "--seconds", "0", "bench", str(folder / "out"), "motion", text=csv_of(FULL))
    expect(late[0] == 1 and "motion: not done, out of time" in late[1], f"out of time: {late}")
    none = run(folder, "bench", str(folder / "out"), "motion")
    expect(none[0] == 77 and "There is no ncu" in none[1], f"no ncu: {none}")


with tempfile.TemporaryDirectory() as folder:
    check(pathlib.Path(folder))
finish()
