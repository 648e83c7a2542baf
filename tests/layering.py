#!/usr/bin/env python3
"""Checks that every include keeps to the architecture's table of who may include whom.

    layering.py SOURCE_ROOT     prints each include that breaks a rule, exit status 1 if there is one
    layering.py --self-test     plants violations of every rule in a scratch tree and sees that each is caught

A file that no rule covers is a violation too, so that a new folder gets its rule with its first file.
"""
import pathlib
import re
import sys
import tempfile

# Folders whose code is checked. Tests and examples may include anything.
CODE = ["engine", "gst", "kernels"]
SUFFIXES = {".h", ".cpp", ".hip", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# The C++ standard library (and C's, by its C++ names), POSIX apart.
STANDARD = set(
    """algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
    clocale cmath compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio
    cstdlib cstring ctime cuchar cwchar deque exception execution filesystem forward_list fstream functional future
    initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource
    mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set
    shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view syncstream
    system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant
    vector version""".split()
)
# What arithmetic may use: types and bits, no containers, no library functions that a GPU lacks.
BARE = {"array", "bit", "climits", "cmath", "cstddef", "cstdint", "limits", "type_traits", "utility"}
POSIX = {"fcntl.h", "unistd.h", "sys/mman.h", "sys/stat.h", "sys/types.h", "dlfcn.h", "poll.h", "pthread.h", "sys/eventfd.h"}
# What Linux has for dma-bufs.
DMA_BUFS = {"linux/dma-buf.h", "linux/kcmp.h", "sys/ioctl.h", "sys/syscall.h", "sys/vfs.h"}
SIMD = {"immintrin.h", "x86intrin.h", "cpuid.h"}
JSON = {"nlohmann/json.hpp", "nlohmann/json_fwd.hpp"}


def top(name):
    """A header directly in engine/."""
    return re.fullmatch(r"engine/[a-z0-9_]+\.h", name) is not None


def under(name, *folders):
    return any(name.startswith(folder + "/") for folder in folders)


def arith(file, name, system):
    return name in BARE if system else under(name, "engine/arith")


def cpu(file, name, system):
    if system:
        return name in STANDARD | SIMD
    return under(name, "engine/arith", "engine/cpu") or name in {
        "engine/gain_limits.h", "engine/heat_maps.h", "engine/metric.h", "engine/options.h", "engine/picture.h", "engine/registry.h", "engine/scaler.h", "engine/status.h",
    }


def hip(file, name, system):
    if system:
        return name in STANDARD | POSIX
    return under(name, "engine/arith", "engine/hip") or re.fullmatch(r"kernels/([a-z0-9_]+_)?args\.h", name) is not None or top(name)


def extractors(file, name, system):
    return name in STANDARD if system else top(name) or under(name, "engine/arith", "engine/extractors")


def model(file, name, system):
    return name in STANDARD | JSON | POSIX if system else top(name) or under(name, "engine/model")


def engine(file, name, system):
    if system:
        if file == "engine/view.cpp" and name == "emmintrin.h":
            return True  # SSE2, which every x86-64 has: stores past the caches
        return name in STANDARD | JSON | POSIX or (file == "engine/dmabuf.cpp" and name in DMA_BUFS)
    if under(name, "engine/cpu", "engine/hip", "engine/extractors"):
        return file == "engine/registry.cpp"
    return top(name) or under(name, "engine/model")


def content(file, name, system):
    return name in STANDARD if system else under(name, "gst/vmafhip/content")


def kernels(file, name, system):
    if file == "kernels/device.h" and name in {"hip/hip_runtime.h", "simt.h"}:
        return True  # what each compiler brings of the dialect
    return name in BARE if system else under(name, "engine/arith", "kernels")


def gst(file, name, system, public=frozenset()):
    if system:
        return name in STANDARD | POSIX or name.startswith("gst/") or name in {"glib.h", "glib-object.h", "gmodule.h"}
    return under(name, "gst/vmafhip") or name in public


# The first folder that matches decides.
RULES = [
    ("engine/arith", arith, "engine/arith and bare headers such as <cstdint>"),
    ("engine/cpu", cpu, "engine/arith, engine/cpu, engine/{heat_maps,metric,options,picture,registry,scaler,status}.h, the standard library"),
    ("engine/hip", hip, "engine/arith, engine/hip, engine/*.h, kernels/args.h and kernels/<metric>_args.h, the standard library"),
    ("engine/extractors", extractors, "engine/arith, engine/extractors, engine/*.h, the standard library"),
    ("engine/model", model, "engine/model, engine/*.h, nlohmann/json, the standard library"),
    ("engine", engine, "engine/*.h, engine/model, nlohmann/json, the standard library; back ends only in engine/registry.cpp"),
    ("kernels", kernels, "engine/arith, kernels and bare headers such as <cstdint>"),
    ("gst/vmafhip/content", content, "gst/vmafhip/content and the standard library"),
    ("gst/vmafhip", gst, "engine/session.h, engine/results.h, engine/dmabuf.h, engine/descriptor.h and what they include, gst/vmafhip, GStreamer, the standard library"),
]


def includes(path):
    """(line, name, is it in angle brackets) of every include, comments aside."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), text, flags=re.DOTALL)
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(2), match.group(1) == "<"


def public_headers(root):
    """engine/session.h, engine/results.h, engine/dmabuf.h, engine/descriptor.h and all headers that they reach."""
    seen, waiting = set(), ["engine/session.h", "engine/results.h", "engine/dmabuf.h", "engine/descriptor.h"]
    while waiting:
        name = waiting.pop()
        if name in seen or not (root / name).is_file():
            continue
        seen.add(name)
        waiting += [included for _, included, system in includes(root / name) if not system]
    return seen


def violations(root):
    public = public_headers(root)
    for folder in CODE:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            file = path.relative_to(root).as_posix()
            rule = next((rule for rule in RULES if under(file, rule[0])), None)
            if rule is None:
                yield f"{file}: no rule in tests/layering.py covers this folder"
                continue
            _, allowed, words = rule
            for line, name, system in includes(path):
                extra = {"public": public} if allowed is gst else {}
                if not allowed(file, name, system, **extra):
                    yield f"{file}:{line}: includes {name}; this folder may include {words}"
                elif not system and not (root / name).is_file():
                    yield f"{file}:{line}: {name} is not a path from the source root"


def self_test():
    good = {
        "engine/session.h": '#include "engine/status.h"\n#include <memory>\n',
        "engine/results.h": '#include "engine/outlet.h"\n',
        "engine/outlet.h": "#include <string>\n",
        "engine/status.h": "#include <string>\n",
        "engine/metric.h": "#include <cstdint>\n",
        "engine/registry.h": "",
        "engine/registry.cpp": '#include "engine/registry.h"\n#include "engine/cpu/cpu.h"\n#include "engine/hip/hip.h"\n',
        "engine/arith/vif.h": "#include <cstdint>\n// #include <glib.h>\n/*\n#include <gst/gst.h>\n*/\n",
        "engine/cpu/cpu.h": '#include "engine/metric.h"\n#include "engine/arith/vif.h"\n#include <immintrin.h>\n',
        "engine/hip/hip.h": '#include "kernels/args.h"\n#include "engine/metric.h"\n#include <dlfcn.h>\n',
        "engine/extractors/vif.cpp": '#include "engine/arith/vif.h"\n#include "engine/registry.h"\n',
        "engine/model/model.cpp": '#include <nlohmann/json.hpp>\n#include "engine/status.h"\n',
        "kernels/args.h": "#include <cstdint>\n",
        "gst/vmafhip/content/search.cpp": '#include "gst/vmafhip/content/search.h"\n#include <vector>\n',
        "gst/vmafhip/content/search.h": "",
        "gst/vmafhip/element.cpp": '#include <gst/gst.h>\n#include "engine/session.h"\n#include "engine/outlet.h"\n',
    }
    bad = [  # file, one line that must be caught there
        ("engine/session.h", "#include <glib.h>"),
        ("engine/session.h", "#include <gst/gst.h>"),
        ("engine/session.h", "#include <hip/hip_runtime.h>"),
        ("engine/session.h", "#  include <cuda.h>"),
        ("engine/session.h", "#include <linux/dma-buf.h>"),
        ("engine/session.h", "#include <emmintrin.h>"),
        ("engine/session.h", '#include "engine/cpu/cpu.h"'),
        ("engine/session.h", '#include "engine/hip/hip.h"'),
        ("engine/session.h", '#include "gst/vmafhip/element.h"'),
        ("engine/session.h", '#include "engine/nothing.h"'),
        ("engine/arith/vif.h", "#include <vector>"),
        ("engine/arith/vif.h", "#include <immintrin.h>"),
        ("engine/arith/vif.h", '#include "engine/metric.h"'),
        ("engine/cpu/cpu.h", '#include "engine/session.h"'),
        ("engine/cpu/cpu.h", '#include "engine/hip/hip.h"'),
        ("engine/cpu/cpu.h", '#include "engine/extractors/vif.h"'),
        ("engine/hip/hip.h", '#include "engine/cpu/cpu.h"'),
        ("engine/hip/hip.h", "#include <hip/hip_runtime.h>"),
        ("engine/extractors/vif.cpp", '#include "engine/cpu/cpu.h"'),
        ("engine/extractors/vif.cpp", '#include "kernels/args.h"'),
        ("engine/model/model.cpp", '#include "engine/cpu/cpu.h"'),
        ("engine/model/model.cpp", "#include <glib.h>"),
        ("kernels/args.h", '#include "engine/metric.h"'),
        ("kernels/args.h", "#include <string>"),
        ("gst/vmafhip/element.cpp", '#include "engine/metric.h"'),
        ("gst/vmafhip/element.cpp", '#include "engine/arith/vif.h"'),
        ("gst/vmafhip/element.cpp", "#include <nlohmann/json.hpp>"),
        ("gst/vmafhip/content/search.cpp", "#include <glib.h>"),
        ("gst/vmafhip/content/search.cpp", '#include "engine/session.h"'),
        ("gst/vmafhip/content/search.cpp", '#include "gst/vmafhip/element.h"'),
        ("engine/fresh/file.cpp", '#include "engine/cpu/cpu.h"'),
        ("gst/other/file.cpp", "#include <gst/gst.h>"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)

        def write(name, text):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

        for name, text in good.items():
            write(name, text)
        found = list(violations(root))
        if found:
            sys.exit("a clean tree was refused:\n" + "\n".join(found))
        for name, line in bad:
            write(name, good.get(name, "") + line + "\n")
            found = list(violations(root))
            if len(found) != 1 or not found[0].startswith(name):
                sys.exit(f"{name} with {line} should give one violation there, gave: {found}")
            if name in good:
                write(name, good[name])
            else:
                (root / name).unlink()
    print(f"self-test: {len(bad)} planted violations caught, the clean tree passed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    if not (root / "engine" / "session.h").is_file():
        sys.exit(f"{root} is not the source root: there is no engine/session.h")
    found = list(violations(root))
    for violation in found:
        print(violation)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
