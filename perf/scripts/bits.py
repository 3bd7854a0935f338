#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The bits of potentials and fields over methods, criteria, translations, precisions, orders,
backends and distributions: whether a change that shall change no result changes none.

    perf/scripts/bits.py build/fmm_forces --report before.json [--backends serial openmp]
    perf/scripts/bits.py build/fmm_forces --report after.json
    perf/scripts/bits.py --compare before.json after.json

Each configuration is one run of fmm_forces. Its entry has a hash of all results with 17 digits, which
tell every double apart, and the numbers of pairs and translations. OpenMP runs with 1, 2 and 3 threads.
Runs are kept in the file. The comparison names what differs; it fails where numbers of pairs or
translations do, or the bits of more than a quarter of the configurations.
"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile

from common.runs import load, read, text_of

DUAL = ["--traversal", "dual", "--criterion"]
FMM, TREECODE, DIRECT = (["--method", method] for method in ("fmm", "treecode", "direct"))
MODELS = ["cube", "plummer", "shell", "disk", "clusters", "fractal"]
MIXED_SIGNS = ["--kernel", "laplace", "--charges", "mixed"]


def configurations(backends):
    """(words, environment) of every run."""
    runs = []

    def add(*words, backend="openmp", threads=2, model="plummer", n=4000):
        if backend not in backends:
            return
        environment = {"OMP_NUM_THREADS": str(threads)} if backend == "openmp" else {}
        runs.append((["--backend", backend, "--model", model, "--n", str(n), *words], environment))

    for backend, threads in [("serial", 1), ("openmp", 1), ("openmp", 2), ("openmp", 3), ("cuda", 1)]:
        for precision in ("float", "mixed", "double"):  # what runs everywhere
            more = ["--precision", precision]
            for words in ([*DIRECT], [*TREECODE, "--order", "4"], [*FMM, "--order", "6"],
                          [*FMM, "--order", "5", *DUAL, "power"]):
                add(*words, *more, backend=backend, threads=threads)
    for backend in ("openmp", "cuda"):
        for model in MODELS:
            add(*FMM, "--order", "6", model=model, backend=backend, n=20000)
            add(*FMM, "--tolerance", "1e-5", model=model, backend=backend, n=30000)
            add(*FMM, *MIXED_SIGNS, "--precision", "double", "--tolerance", "1e-6", model=model, backend=backend)
        for precision in ("float", "double"):
            more = ["--precision", precision]
            for translation in ("direct", "rotation"):
                for order in ("1", "4", "8", "12"):
                    add(*FMM, *more, "--translation", translation, "--order", order, backend=backend)
            for tree in ("uniform", "adaptive"):
                add(*FMM, *more, "--traversal", "lists", "--tree", tree, "--order", "4", backend=backend)
            for criterion in ("radius", "field", "relative"):
                add(*FMM, *more, *DUAL, criterion, "--order", "5", backend=backend)
                add(*TREECODE, *more, *DUAL, criterion, "--order", "5", backend=backend)
            for kind in ("plummer", "spline"):
                add(*FMM, *more, "--softening", "0.01", "--softening-kind", kind, "--order", "4", backend=backend)
                add(*DIRECT, *more, "--softening", "0.01", "--softening-kind", kind, backend=backend)
            add(*FMM, *more, *MIXED_SIGNS, "--order", "7", *DUAL, "power", backend=backend)
        add(*FMM, "--precision", "mixed", "--one-part", "--order", "6", backend=backend)
        for order in ("4", "8"):
            add(*FMM, "--translation", "gemm", "--order", order, backend=backend)
    return runs


def measure(program, words, environment):
    """The hash of the results, and the report's numbers."""
    with tempfile.TemporaryDirectory() as folder:
        output, report = os.path.join(folder, "out.csv"), os.path.join(folder, "report.json")
        done = subprocess.run([program, *words, "--repeat", "1", "--check", "0", "--output", output, "--report",
                               report], env={**os.environ, **environment}, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}\n{done.stderr}")
        with open(output, "rb") as file:
            bits = hashlib.sha256(file.read()).hexdigest()
        entry, = read(report)
        return {"bits": bits, "interactions": entry["interactions"], "depth": entry["depth"],
                "commit": entry["commit"], "device": entry["device"]}


def compare(before, after):
    """Words for what differs, and whether that is too much."""
    common = before.keys() & after.keys()
    lines, bits, counts = [], 0, 0
    for name in sorted(before.keys() ^ after.keys()):
        lines.append(f"only in one: {name}")
    for name in sorted(common):
        a, b = before[name], after[name]
        if (a["interactions"], a["depth"]) != (b["interactions"], b["depth"]):
            counts += 1
            lines.append(f"numbers differ: {name}: {a['interactions']} -> {b['interactions']}")
        if a["bits"] != b["bits"]:
            bits += 1
            lines.append(f"bits differ: {name}")
    lines.append(f"{len(common)} configurations: bits of {bits} differ, numbers of {counts}")
    return lines, counts > 0 or 4 * bits > len(common) or not common


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?")
    parser.add_argument("--report")
    parser.add_argument("--backends", nargs="+", choices=["serial", "openmp", "cuda"], default=["serial", "openmp"])
    parser.add_argument("--only", default="", help="configurations whose words have this")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args()
    if options.compare:
        lines, differs = compare(*(load(path) for path in options.compare))
        print("\n".join(lines))
        sys.exit(1 if differs else 0)
    if not options.program or not options.report:
        parser.error("a program and --report, or --compare")
    known = load(options.report) if os.path.exists(options.report) else {}
    for words, environment in configurations(options.backends):
        name = " ".join([f"{key}={value}" for key, value in environment.items()] + words)
        if options.only in name and name not in known:
            print(name, flush=True)
            known[name] = measure(options.program, words, environment)
            with open(options.report, "w", encoding="utf-8") as file:
                file.write(text_of(known))
    print(f"{len(known)} configurations in {options.report}")


if __name__ == "__main__":
    main()
