#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What softening adds to the FMM's error, and what it costs to keep that small.

    perf/scripts/softening.py build/fmm_forces --report perf/results/DEVICE-softening.json [--n 1e5]

Softening lengths of 0 to ten mean spacings: N^(-1/3) in the cube, the mean spacing of the inner half of the bodies in
the Plummer sphere. For each the spline, whose far field is exact, Plummer softening as it is, and with no distance
kept for it. Errors are against softened direct sums in double, at 1000 bodies; pairs are those of a body. Runs are
kept in the file, and those that are there are not measured again.
"""
import math

from common.runs import Runs
from common.scans import line_of, parser_of, row_of
from common.tables import print_table

SPACINGS = [0, 0.1, 0.3, 1, 3, 10]
KINDS = {"spline": ["--softening-kind", "spline"], "Plummer": [],
         "Plummer, no distance kept": ["--softening-error", "1e9"]}
SETTING = ["--precision", "double", "--order", "4", "--theta", "0.3"]


def spacing_of(model, n):
    """The inner half of a Plummer sphere of scale length 1 lies within 1.305 (Plummer 1911)."""
    volume = {"cube": 1, "plummer": 2 * 4 / 3 * math.pi * 1.3048**3}[model]
    return (volume / n) ** (1 / 3)


def main():
    parser = parser_of(__doc__.splitlines()[0], 10**5, ["cube", "plummer"], ["double"], 1)
    parser.set_defaults(check=1000)
    options = parser.parse_args()
    runs = Runs(options.report, "softening", options.again)
    results = []
    for model in options.models:
        table = []
        for kind, words in KINDS.items():
            rows = []
            for spacings in SPACINGS:
                softening = f"{spacings * spacing_of(model, options.n):.4g}"
                line = line_of(options, model, [*SETTING, "--softening", softening, *words])
                entry, = runs.run(options.program, line, "--report")
                rows.append({**row_of(entry), "kind": kind, "spacings": spacings, "softening": float(softening),
                             "pairs_per_body": entry["interactions"]["p2p_pairs"] / entry["n"]})
            table.append([kind, *(f"{row['force_l2']:.1e}" for row in rows)])
            table.append(["pairs", *(f"{row['pairs_per_body']:.0f}" for row in rows)])
            results += rows
        print(f"\n{rows[0]['device']}: {model}, N = {options.n:,}")
        print_table(["softening in mean spacings", *map(str, SPACINGS)], table)
    runs.data["results"] = results
    runs.save()


if __name__ == "__main__":
    main()
