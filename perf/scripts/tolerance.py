#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether fmm_forces --tolerance holds what it says, and at what distance from it.

    perf/scripts/tolerance.py build/fmm_forces --cases 500 --report tolerance.json [--largest 1e5] [--check 4096]

Random cases: the program's models, one sign of charge and both, float and double, N from 10^3 on, tolerances over
all that the precision reaches; sizes and tolerances evenly spread on a logarithmic scale. Errors are against direct
sums in double at so many bodies (all, if there are fewer). Exits 1 if an error is over its tolerance.
"""
import argparse
import json
import math
import os
import random
import statistics
import sys

from common.runs import report_of
from common.scans import FOUND, words_of_charges

MODELS = ["cube", "plummer", "shell", "disk", "clusters", "fractal"]
REACH = {"float": (-2, math.log10(3e-6)), "double": (-2, -12)}


def run(program, backend, check, case):
    line = [program, "--model", case["model"], "--n", str(case["n"]), "--seed", str(case["seed"]),
            *words_of_charges("mixed" if case["mixed"] else "equal"),
            "--backend", backend, "--precision", case["precision"],
            "--tolerance", repr(case["tolerance"]), "--check", str(check), "--repeat", "1"]
    entry = report_of(line)
    return {**case, **{key: entry[key] for key in ("order", *FOUND)},
            "seconds": entry["seconds"]["total"],
            "error": entry["error"], "backend": entry["backend"], "device": entry["device"],
            "threads": entry["threads"], "versions": entry["versions"], "commit": entry["commit"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--largest", type=float, default=1e5, help="N at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--check", type=lambda text: int(float(text)), default=4096,
                        help="targets of the direct sum")
    parser.add_argument("--report", help="JSON file for all cases")
    options = parser.parse_args()

    rng = random.Random(options.seed)
    results = []
    for i in range(options.cases):
        precision = rng.choice(["float", "double"])
        case = {"model": MODELS[i % len(MODELS)], "mixed": rng.random() < 0.3,
                "precision": precision, "seed": rng.randrange(1 << 31),
                "n": int(1000 * (options.largest / 1000) ** rng.random()),
                "tolerance": 10 ** rng.uniform(*REACH[precision])}
        results.append(run(options.program, options.backend, options.check, case))
        ratio = results[-1]["error"]["force_l2"] / case["tolerance"]
        print(f"{i + 1:4} {case['model']:8} {'mixed' if case['mixed'] else 'equal'} "
              f"{precision:6} N {case['n']:8} tolerance {case['tolerance']:.1e} "
              f"order {results[-1]['order']:2}  error / tolerance {ratio:.3f}"
              f"{'  OVER' if ratio > 1 else ''}", flush=True)

    def ratios(keep):
        return [r["error"]["force_l2"] / r["tolerance"] for r in results if keep(r)]
    everything, large = ratios(lambda r: True), ratios(lambda r: r["n"] >= 30000)
    over = sum(ratio > 1 for ratio in everything)
    print(f"{len(everything)} cases, {over} over the tolerance; error / tolerance at most "
          f"{max(everything):.2f}, median {statistics.median(everything):.2f}"
          + (f", of {len(large)} cases with N >= 30000 {statistics.median(large):.2f}"
             if large else ""))
    if options.report:
        with open(options.report, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write(os.linesep)
    sys.exit(over > 0)


if __name__ == "__main__":
    main()
