#!/usr/bin/env python3
"""examples/scores.py on messages as gst-launch-1.0 1.22 prints them.

    scores_test.py SOURCE_ROOT
"""
import pathlib
import re
import subprocess
import sys
import time

FRAME = (
    'Got message #%d from element "v" (element): vmafhip, type=(string)frame, index=(guint64)%d, '
    "stream-time=(guint64)%d, duration=(guint64)40000000, distance=(gint64)-5, score=(double)97.099999999999994, "
    r'models=(structure)"vmafhip-models\,\ vmaf_v0.6.1\=\(double\)97.123456789000002\,\ b\=\(double\)9.9999999999999995e-08\;", '
    r'features=(structure)"vmafhip-features\,\ integer_adm2\=\(double\)1\;", repeated=(boolean)%s, model-source=(string)file;'
)
POOL = (
    r"\(structure\)\"pool\\\,\\\ mean\\\=\\\(double\\\)%s\\\,\\\ min\\\=\\\(double\\\)1.5\\\,\\\ "
    r"harmonic-mean\\\=\\\(double\\\)3\\\;\""
)
POOLED = (
    'Got message #40 from element "v" (element): vmafhip, type=(string)pooled, frames=(guint64)2, '
    r'backend=(string)"cpu\ \(scalar\)\,\ 2\ threads\ \303\244", dist-unmatched=(guint64)3, repeated=(guint64)0, '
    r'models=(structure)"vmafhip-models\,\ vmaf_v0.6.1\=' + POOL % "97.099999999999994" + r'\;", '
    r'features=(structure)"vmafhip-features\,\ integer_adm2\=' + POOL % "1" + r'\,\ integer_vif_scale0_egl_1\=' + POOL % "1e-3" + r'\;", '
    r'aggregates=(structure)"aggregates\,\ apsnr_y\=\(double\)41.25\;";'
)
WINDOW = (
    'Got message #41 from element "v" (element): vmafhip, type=(string)window, frames=(guint64)%s, '
    "pool-method=(string)mean, %sstart=(guint64)1000000000, stop=(guint64)2000000000;"
)
ALERT = (
    'Got message #42 from element "v" (element): vmafhip, type=(string)alert, state=(string)%s, '
    "source=(string)vmaf_v0.6.1, running-time=(guint64)1500000000, since=(guint64)%d%s;"
)
SYNC = (
    'Got message #43 from element "v" (element): vmafhip, type=(string)sync, state=(string)%s, offset=(gint64)%d, '
    "confidence=(double)%s, frames=(guint64)69;"
)
OTHER = [
    "Setting pipeline to PAUSED ...",
    'Got message #35 from element "pipeline0" (stream-start): GstMessageStreamStart, group-id=(uint)1;',
    'Got message #99 from element "progressreport0" (element): progress, percent=(int)100;',
    "WARNING: from element /GstPipeline:pipeline0/GstVmafHip:v: frames are not simultaneous",
    "Additional debug info:",
    "../gst/vmafhip/comparer.cpp(7): say (): /GstPipeline:pipeline0/GstVmafHip:v:",
    "use one frame rate",
]


def run(root, lines, *arguments):
    return subprocess.run(
        [sys.executable, root / "examples" / "scores.py", *arguments],
        input="\n".join(lines) + "\n", capture_output=True, encoding="utf-8", check=False,
    )


def expect(actual, expected, what):
    if actual != expected:
        sys.exit(f"{what}:\n{actual!r}\nshould be\n{expected!r}")


def several_elements(root):
    other = [line.replace('element "v"', 'element "w"') for line in (FRAME % (41, 0, 0, "false"), POOLED)]
    result = run(root, [FRAME % (38, 0, 0, "false"), other[0], ALERT % ("raised", 0, ""), other[1], POOLED])
    expect(result.returncode, 0, "exit status of two elements")
    lines = result.stdout.splitlines()
    expect(lines[1:3], ["w: frame     0  0:00:00.000  vmaf_v0.6.1 97.123457  b 0.000000",
                        "v: ALERT raised 0:00:01.500  vmaf_v0.6.1  (since 0:00:00.000)"], "lines of two elements")
    expect([line for line in lines if line in ("v", "w")], ["w", "v"], "titles of their tables")
    expect(run(root, [FRAME % (38, 0, 0, "false"), *other]).returncode, 1, "exit status if one has no pooled scores")
    # In a given order, with a line each; "x" has not ended.
    result = run(root, [FRAME % (38, 0, 0, "false"), *other, POOLED], "--order", " v x w ")
    lines = result.stdout.splitlines()
    expect([line for line in lines if line in ("v", "w")], ["v", "w"], "titles of tables in order")
    expect(lines[-4:], ["mean of    vmaf_v0.6.1", "v            97.100000", "x                    -", "w            97.100000"],
           "a line for each")


def languages(root):
    """gst-launch-1.0's translations, as German, French, Chinese (of both kinds), Basque and Hungarian have them."""
    heads = ["Nachricht #%s wurde von Element »%s« (element) erhalten: ", "Message n° %s reçu de l’élément «\xa0%s\xa0» (element)\xa0: ",
             "從element \"{1}\"(element) 中得到訊息#{0}:", "从组件“{1}”获得消息 #{0}（element）： ",
             '"{1}" (element) elementuaren {0}. mezua jaso da: ', "%s számú üzenet érkezett a következő elemtől: „%s” (element)."]
    for head in heads:
        filled = head.format("7", "v") if "{" in head else head % ("7", "v")
        lines = [re.sub(r"^Got .*?\): (?=vmafhip)", lambda _: filled, line) for line in (FRAME % (38, 0, 0, "false"), POOLED)]
        expect([line[:len(filled)] for line in lines], [filled] * 2, "translated messages")
        result = run(root, lines)
        expect((result.returncode, result.stderr), (0, ""), f"exit status with {filled}")
        expect("vmaf_v0.6.1                   97.100000" in result.stdout, True, f"table with {filled}")


def progress_line(root):
    """Of several elements the slowest counts; without a terminal there is one line at the end."""
    frames = [FRAME % (n, n, 400000000 * n, "false") for n in range(2)]
    late = FRAME.replace('element "v"', 'element "w"') % (5, 0, 160000000, "false")
    result = run(root, frames + [late, POOLED, POOLED.replace('element "v"', 'element "w"')], "--progress", "--duration", "1")
    expect(result.stderr, " 20 %  1 frames  v: vmaf_v0.6.1 97.123457  b 0.000000  w: vmaf_v0.6.1 97.123457  b 0.000000\n", "progress")
    expect("frame " in result.stdout, False, "lines of frames beside progress")
    result = run(root, frames + [POOLED], "--progress", "--frames", "2")
    expect(result.stderr, "100 %  2 frames  vmaf_v0.6.1 97.123457  b 0.000000\n", "progress by frames")
    result = run(root, frames + [POOLED], "--progress")
    expect(result.stderr, "2 frames  vmaf_v0.6.1 97.123457  b 0.000000\n", "progress of unknown length")
    # How long the rest takes goes by the time that the part before took.
    with subprocess.Popen([sys.executable, root / "examples" / "scores.py", "--duration", "100"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8") as program:
        for number, line in enumerate(frames):
            time.sleep(0.3 * number)
            program.stdin.write(line + "\n")
            program.stdin.flush()
            shown = program.stdout.readline()
        program.stdin.close()
    left = re.search(r"^frame     1    0 %  0:([0-9:]+) left  0:00:00.400", shown)
    expect(bool(left) and 60 * int(left[1][:2]) + int(left[1][3:]) + 1 >= 0.3 * (100 - 0.44) / 0.44, True, f"time left in {shown!r}")


def main():
    root = pathlib.Path(sys.argv[1])
    lines = OTHER + [FRAME % (38, 0, 0, "false"), FRAME % (39, 1, 3661040000000, "true"), POOLED]
    result = run(root, lines)
    expect(result.returncode, 0, "exit status")
    expect(result.stderr, OTHER[3] + "\n  use one frame rate\n", "warnings and their explanation")
    expect(
        result.stdout.splitlines(),
        [
            "frame     0  0:00:00.000  vmaf_v0.6.1 97.123457  b 0.000000",
            "frame     1  1:01:01.040  vmaf_v0.6.1 97.123457  b 0.000000  (repeated)",
            "",
            "score                              mean            min  harmonic-mean",
            "vmaf_v0.6.1                   97.100000       1.500000       3.000000",
            "integer_adm2                   1.000000       1.500000       3.000000",
            "integer_vif_scale0_egl_1       0.001000       1.500000       3.000000",
            "apsnr_y                       41.250000",
            "",
            "2 frames, 3 dist-unmatched, backend: cpu (scalar), 2 threads ä",
        ],
        "output",
    )
    result = run(root, [FRAME % (38, 9, 460000000, "false")], "--duration", "1.0")
    expect(result.stdout, "frame     9   50 %  0:00:00.460  vmaf_v0.6.1 97.123457  b 0.000000\n", "progress")
    expect(result.returncode, 1, "exit status without pooled scores")
    expect(run(root, [POOLED.replace("frames=(guint64)2", "frames=(guint64)0")]).returncode, 1, "status of no frame")
    stretches = [
        WINDOW % (25, "score=(double)71.5, "), WINDOW % (0, ""),
        ALERT % ("raised", 1000000000, ", score=(double)65.25"), ALERT % ("cleared", 2**64 - 1, ""),
    ]
    expect(
        run(root, stretches).stdout.splitlines(),
        [
            "window 0:00:01.000 - 0:00:02.000  25 frames  mean 71.500000",
            "window 0:00:01.000 - 0:00:02.000  0 frames  mean none",
            "ALERT raised 0:00:01.500  vmaf_v0.6.1  65.250000  (since 0:00:01.000)",
            "ALERT cleared 0:00:01.500  vmaf_v0.6.1  (since -)",
        ],
        "windows and alerts",
    )
    expect(
        run(root, [SYNC % ("searching", 0, "0"), SYNC % ("locked", -400343924, "0.58711600093652871")]).stdout.splitlines(),
        ["sync searching", "sync locked  offset -0.400 s  confidence 0.59"],
        "what is known of the offset",
    )
    # Why there is no table.
    expect("-m only" in run(root, ["Setting pipeline to PLAYING ..."]).stderr, True, "without -m")
    expect("message-name" in run(root, ["Setting pipeline to PLAYING ...", OTHER[1], POOLED.replace("vmafhip, ", "VMAF, ")]).stderr, True, "other name")
    expect("with -e" in run(root, [FRAME % (38, 0, 0, "false")]).stderr, True, "cut off")
    failed = run(root, ["ERROR: from element /GstPipeline:pipeline0/Vmafhip:v: there is no model"])
    expect(failed.stderr.count("\n"), 1, "lines about an error")
    failed = run(root, ["WARNING: erroneous pipeline: could not link a to v, v can't handle caps video/x-raw"])
    expect(failed.stderr.count("\n"), 1, "lines about a pipeline that cannot be")
    # What is told on gst-launch's standard error needs no guess at its cause.
    failed = run(root, ["Setting pipeline to PAUSED ...", OTHER[1], "Setting pipeline to NULL ...", "Freeing pipeline ..."])
    expect((failed.returncode, failed.stderr), (1, ""), "a pipeline that does not start")
    expect("2 late" in run(root, [POOLED.replace("dist-un", "late=(guint64)2, dist-un")]).stdout, True, "counters")
    several_elements(root)
    languages(root)
    progress_line(root)
    print("scores.py reads what gst-launch-1.0 prints")


if __name__ == "__main__":
    main()
