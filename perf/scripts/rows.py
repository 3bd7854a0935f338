#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times of one force evaluation against the project's goals, row by row, on a GPU or a CPU.

    perf/scripts/rows.py build-cuda/fmm_forces --report rows.json [--seeds 1 2 3 4 5] [--rows 10^7]
    perf/scripts/rows.py build/fmm_forces --backend openmp --report rows.json

Each row is one line of fmm_forces, which is printed beside it: potential and force of every body from
unsorted bodies in the backend's memory to results in their order, the median of the repeats after a
warm-up, and the largest error over the seeds against direct sums in double at 4096 bodies.

On a GPU bodies are handed over in the precision of the sums, and one setting serves every row of the same
method and error, whatever its N, distribution and seed: most are the program's own choice. Bytes are those on
the device, of the caller's positions, charges and results, too. A second table has the rates of P2P and M2L,
from the stages of such runs.

On a CPU every row has a setting of its own, and beside it the rate of all pairs, measured right before: the
machines that there are differ, and have neighbours. Time x rate / N is what a body costs in pairs.
"""
import argparse
import json
import subprocess

from common.runs import report_of

# The program's own choice, but for what a smaller error asks for.
SETTINGS = {
    ("fmm", "1e-3"): ["--order", "4", "--pair-error", "6e-3"],
    ("fmm", "1e-4"): ["--pair-error", "2.4e-4"],  # the program's own
    ("fmm", "1e-5"): ["--order", "7", "--pair-error", "4.5e-5"],
    ("fmm", "1e-9"): ["--order", "12", "--theta", "0.5"],
    ("treecode", "1e-4"): [],
    ("direct", "1e-4"): [],
}

# name, N, model, error at most, milliseconds, method
ROWS = [
    ("10^7 cube", 10**7, "cube", "1e-4", 15, "fmm"),
    ("10^7 Plummer", 10**7, "plummer", "1e-4", 20, "fmm"),
    ("10^7 cube", 10**7, "cube", "1e-5", 30, "fmm"),
    ("10^7 Plummer", 10**7, "plummer", "1e-5", 45, "fmm"),
    ("10^6 cube", 10**6, "cube", "1e-4", 2.5, "fmm"),
    ("10^6 Plummer", 10**6, "plummer", "1e-4", 4, "fmm"),
    ("10^8 cube", 10**8, "cube", "1e-4", 160, "fmm"),
    ("10^9 cube", 10**9, "cube", "1e-3", 2000, "fmm"),
    ("10^6 cube, double", 10**6, "cube", "1e-9", 25, "fmm"),
    ("10^5 cube", 10**5, "cube", "1e-4", 0.8, "fmm"),
    ("10^4 cube", 10**4, "cube", "1e-4", 0.3, "direct"),
    ("10^7 cube, treecode", 10**7, "cube", "1e-4", 50, "treecode"),
    ("10^7 Plummer, treecode", 10**7, "plummer", "1e-4", 80, "treecode"),
]

# on a CPU: name, N, model, error at most, seconds, settings
CPU_ROWS = [
    ("10^6 cube", 10**6, "cube", "1e-4", 0.45, ["--order", "6", "--theta", "0.78"]),
    ("10^6 Plummer", 10**6, "plummer", "1e-4", 0.55, ["--order", "6", "--theta", "0.75"]),
    ("10^7 cube", 10**7, "cube", "1e-4", 6, ["--order", "6", "--theta", "0.80"]),
    ("10^6 cube, double", 10**6, "cube", "5e-7", 1.2, ["--order", "10", "--theta", "0.69"]),
    ("10^6 Plummer, double", 10**6, "plummer", "6e-7", 1.5,
     ["--order", "12", "--theta", "0.75", "--leaf", "160"]),
    ("10^6 cube, double", 10**6, "cube", "2e-10", 2.2,
     ["--order", "16", "--theta", "0.595", "--leaf", "192"]),
    ("10^6 Plummer, double", 10**6, "plummer", "2e-10", 3.0,
     ["--order", "16", "--criterion", "power", "--pair-error", "4.2e-10", "--leaf", "256"]),
]

# name, N, settings, stage, its count, a second at least
RATES = [
    ("all pairs, float", 2 * 10**6, ["--method", "direct", "--direct-limit", "60"], "p2p", "p2p_pairs",
     1.9e12),
    ("all pairs, double", 10**6,
     ["--method", "direct", "--direct-limit", "60", "--precision", "double"], "p2p", "p2p_pairs",
     0.65e12),
    ("P2P of the FMM, 1e-4", 10**7, ["--method", "fmm", *SETTINGS["fmm", "1e-4"]], "p2p", "p2p_pairs",
     1.5e12),
    ("M2L, p = 6", 10**7, ["--method", "fmm", *SETTINGS["fmm", "1e-4"]], "m2l", "m2l", 1.1e10),
    ("M2L, p = 4", 10**7, ["--method", "fmm", *SETTINGS["fmm", "1e-3"]], "m2l", "m2l", 2e10),
]


def in_double(row):
    return "double" in row[0]


def precision_of(row):
    return ["--precision", "double" if in_double(row) else "float"]


def command(program, row, seed):
    _, n, model, error, _, method = row
    precision = ["--precision", "double"] if in_double(row) else ["--data", "float"]
    return [program, "--backend", "cuda", "--model", model, "--n", str(n), "--seed", str(seed),
            "--method", method, *SETTINGS[method, error], *precision, "--repeat",
            "3" if n > 10**8 else "10", "--check", "4096"]


def cpu_command(program, row, seed, backend):
    _, n, model, _, _, settings = row
    return [program, "--backend", backend, "--model", model, "--n", str(n), "--seed", str(seed),
            "--method", "fmm", *settings, *precision_of(row), "--repeat", "5", "--check", "4096"]


def all_pairs_rate(program, row, backend, entries):
    """Pairs a second of the machine as it is now."""
    n = min(row[1], 60000)
    entry = report_of([program, "--backend", backend, "--model", "cube", "--n", str(n), "--method",
                       "direct", *precision_of(row), "--repeat", "1", "--check", "0"])
    entries.append(entry)
    return entry["interactions"]["p2p_pairs"] / entry["seconds"]["stages"]["p2p"]


def print_cpu_rows(options, entries):
    print("| row | force L2 at most | goal | measured | force L2 | p99 / L2 | bytes a body | all pairs | "
          "pairs a body | line |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in CPU_ROWS:
        if options.rows not in row[0]:
            continue
        if options.n:
            row = (row[0], options.n, *row[2:])
        rate = all_pairs_rate(options.program, row, options.backend, entries)
        results = [report_of(cpu_command(options.program, row, seed, options.backend))
                   for seed in options.seeds]
        entries += results
        # positions and charges in double, and results
        seconds, error, tail, memory = summary_of(results, row, 64 if in_double(row) else 48)
        print(f"| {row[0]} | {row[3]} | {row[4]:g} s | {seconds:.3f} s | {error:.1e} "
              f"| {tail:.1f} | {memory:.0f} | {rate:.3g}/s | {seconds * rate / row[1]:.0f} "
              f"| `{' '.join(['fmm_forces', *cpu_command('', row, options.seeds[0], options.backend)[1:]])}` |",
              flush=True)


def summary_of(results, row, caller_bytes):
    """Median seconds; over the seeds the largest error, tail, and bytes a body with the caller's own."""
    times = sorted(entry["seconds"]["total"] for entry in results)
    errors = [entry["error"]["force_l2"] for entry in results]
    tails = [entry["error"]["force_p99"] / entry["error"]["force_l2"] for entry in results]
    return (times[len(times) // 2], max(errors), max(tails),
            max(entry["memory_bytes"] for entry in results) / row[1] + caller_bytes)


def print_rates(program, entries):
    """Of potential and force in the uniform cube; the stage is timed alone, between two fences."""
    print("| rate | goal | measured | line |")
    print("| --- | --- | --- | --- |")
    for name, n, settings, stage, count, goal in RATES:
        data = [] if "double" in name else ["--data", "float"]
        line = ["--backend", "cuda", "--model", "cube", "--n", str(n), "--seed", "1", *settings,
                *data, "--repeat", "1"]
        entry = report_of([program, *line])
        entries.append(entry)
        rate = entry["interactions"][count] / entry["seconds"]["stages"][stage]
        print(f"| {name} | {goal:.2g} | {rate:.3g} | `{' '.join(['fmm_forces', *line])}` |", flush=True)


def driver_version():
    """That of the GPU's driver, or None where nvidia-smi does not say."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.split("\n")[0].strip() or None if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--report", required=True, help="JSON file for all that was measured")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--rows", default="", help="only rows whose name contains this")
    parser.add_argument("--rates", action="store_true", help="only the table of rates (GPU)")
    parser.add_argument("--backend", choices=["cuda", "openmp", "serial"], default="cuda")
    parser.add_argument("--n", type=int, help="bodies in the place of each row's, to try this (CPU)")
    options = parser.parse_args()

    entries = []
    if options.backend != "cuda":
        print_cpu_rows(options, entries)
    else:
        if not options.rates:
            print_rows(options, entries)
        print_rates(options.program, entries)
    if options.backend == "cuda":
        driver = driver_version()
        for entry in entries:
            entry["versions"]["driver"] = driver
    with open(options.report, "w", encoding="utf-8") as file:
        json.dump(entries, file, indent=1)


def print_rows(options, entries):
    print("| row | force L2 at most | goal | measured | force L2 | p99 / L2 | bytes a body | line |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in ROWS:
        if options.rows not in row[0]:
            continue
        results = [report_of(command(options.program, row, seed)) for seed in options.seeds]
        entries += results
        # positions and field (N,3), charges and potential (N)
        seconds, error, tail, memory = summary_of(results, row, 64 if in_double(row) else 32)
        print(f"| {row[0]} | {row[3]} | {row[4]:g} ms | {1e3 * seconds:.2f} ms "
              f"| {error:.1e} | {tail:.1f} | {memory:.0f} "
              f"| `{' '.join(['fmm_forces', *command('', row, options.seeds[0])[1:]])}` |",
              flush=True)


if __name__ == "__main__":
    main()
