#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the times of two result files, entry by entry, and fails on a regression.

    perf/scripts/compare.py before.json after.json [--factor 3] [--noise 0.02]

Files are reports of fmm_forces, experiments, or Google Benchmark's JSON. The noise is measured: the
relative standard deviation of an entry's repeats, or of those of the whole file where that is larger. An
entry is a regression if its median grew by more than `factor` times the noise of both files together.

Exit status: 0 no regression, 1 regressions, 2 files that cannot be compared.
"""
import argparse
import math
import statistics
import sys

from common.runs import read


class CannotCompare(Exception):
    pass


def entries_of(data):
    """{name: seconds of each repeat} of a file of any of the three kinds."""
    if isinstance(data, dict) and "benchmarks" in data:
        return of_benchmarks(data["benchmarks"])
    if isinstance(data, dict) and "experiment" in data:
        return {name_of_point(p): p["all"] for p in data.get("results", [])
                if not p.get("extrapolated")}
    if isinstance(data, list) and all(isinstance(e, dict) and "seconds" in e for e in data):
        return {name_of_report(e): e["seconds"].get("all") or [e["seconds"]["total"]]
                for e in data}
    raise CannotCompare("neither a report of fmm_forces nor an experiment nor benchmarks")


def of_benchmarks(runs):
    repeats = {}
    for run in runs:
        if run.get("run_type") == "iteration" and not run.get("error_occurred"):
            scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[run["time_unit"]]
            repeats.setdefault(run["run_name"], []).append(scale * run["real_time"])
    return repeats


def name_of_report(entry):
    keys = ("method", "traversal", "criterion", "translation", "order", "theta", "pair_error", "leaf",
            "tree", "kernel", "precision", "data", "backend", "threads", "input", "charges", "n",
            "seed")
    return ", ".join(f"{key} {entry[key]}" for key in keys if entry.get(key) is not None)


def name_of_point(p):
    """The setting of a tuned method is left out: what it reaches is compared."""
    keys = ("operator", "variant", "method", "resource", "n")
    return ", ".join(f"{key} {p[key]}" for key in keys if p.get(key) is not None)


def deviations(repeats):
    """Relative deviations of an entry's repeats from their mean; none of a single one."""
    if len(repeats) < 2:
        return []
    mean = statistics.fmean(repeats)
    return [(value - mean) / mean for value in repeats] if mean > 0 else []


def noise_of(entries):
    """The relative standard deviation of the repeats of all entries; None if there are no repeats."""
    squares, degrees = 0.0, 0
    for repeats in entries.values():
        found = deviations(repeats)
        squares += sum(d * d for d in found)
        degrees += max(0, len(found) - 1)
    return math.sqrt(squares / degrees) if degrees else None


def own_noise(repeats, common):
    found = deviations(repeats)
    own = math.sqrt(sum(d * d for d in found) / (len(found) - 1)) if len(found) > 1 else 0.0
    return max(own, common)


def compare(before, after, factor=3.0, noise=None):
    """Rows (name, median before, median after, allowed growth, verdict) of what both have.

    Raises CannotCompare if they have nothing in common, or no repeats to tell the noise by.
    """
    common = [name for name in before if name in after]
    if not common:
        raise CannotCompare("the files have no entry in common")
    noises = [noise if noise is not None else noise_of(entries) for entries in (before, after)]
    if all(value is None for value in noises):
        raise CannotCompare("no entry was repeated, so that the noise is not known: give --noise")
    noises = [max(v for v in noises if v is not None) if value is None else value
              for value in noises]
    rows = []
    for name in common:
        old, new = statistics.median(before[name]), statistics.median(after[name])
        allowed = factor * math.hypot(own_noise(before[name], noises[0]),
                                      own_noise(after[name], noises[1]))
        if old <= 0:
            raise CannotCompare(f"{name}: {old} seconds")
        growth = new / old - 1
        # as far the other way is a gain
        verdict = ("REGRESSION" if growth > allowed else
                   "faster" if old / new - 1 > allowed else "same")
        rows.append((name, old, new, allowed, verdict))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--factor", type=float, default=3.0,
                        help="how many times the noise a time may grow by [3]")
    parser.add_argument("--noise", type=float,
                        help="relative noise, for files whose entries have no repeats")
    options = parser.parse_args()
    try:
        before, after = (entries_of(read(name)) for name in (options.before, options.after))
        rows = compare(before, after, options.factor, options.noise)
    except (CannotCompare, OSError, ValueError, KeyError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    for name, old, new, allowed, verdict in sorted(rows, key=lambda row: row[2] / row[1]):
        print(f"{verdict:10}  {100 * (new / old - 1):+7.1f} % (noise {100 * allowed:.1f} %)  "
              f"{old:.4g} s -> {new:.4g} s  {name}")
    for file, names in ((options.before, before.keys() - after.keys()),
                        (options.after, after.keys() - before.keys())):
        for name in sorted(names):
            print(f"only in {file}: {name}")
    regressions = sum(row[4] == "REGRESSION" for row in rows)
    print(f"{len(rows)} entries compared, {regressions} regressions")
    return 1 if regressions else 0


if __name__ == "__main__":
    sys.exit(main())
