#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How the error depends on order, theta, distribution and precision, and which setting is the fastest.

    perf/scripts/accuracy.py build/fmm_forces --report perf/results/DEVICE-accuracy.json [--n 1e5]

Runs the FMM (dual traversal, radii and theta, softening 0) at every order and theta, in the unit cube, the
Plummer sphere, on the shell and in the disk, in float, mixed and double. A line of fmm_forces each: errors
are against direct sums in double; seconds are the median of the repeats. Prints, for each distribution and
precision, the fastest setting that keeps each error. Runs are kept in the file, and those that are there are
not measured again. perf/scripts/plot.py --all draws it.
"""
from common.scans import parser_of, scan
from common.tables import print_table

ORDERS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16]
THETAS = [0.4, 0.5, 0.6, 0.7, 0.8]
MODELS = ["cube", "plummer", "shell", "disk"]
PRECISIONS = ["float", "mixed", "double"]
ERRORS = [10.0**-k for k in range(2, 13)]


def row_of_setting(entry, _):
    return {"theta": entry["theta"],
            **{key: entry["error"][key] for key in ("force_max", "potential_l2")}}


def fastest(rows, error):
    """The fastest of the rows whose force errs by at most that, or None."""
    return min((row for row in rows if row["force_l2"] <= error), key=lambda row: row["seconds"],
               default=None)


def print_rows(rows):
    first = rows[0]
    print(f"\n{first['device']}: {first['model']}, N = {first['n']:,}, {first['precision']}")
    best = [(error, fastest(rows, error)) for error in ERRORS]
    print_table(["force L2 <=", "order", "theta", "seconds", "force L2", "p99", "max", "potential L2"],
                [[f"{error:.0e}", str(row["order"]), f"{row['theta']:g}", f"{row['seconds']:.3g}",
                  f"{row['force_l2']:.1e}", f"{row['force_p99']:.1e}", f"{row['force_max']:.1e}",
                  f"{row['potential_l2']:.1e}"] for error, row in best if row])


def main():
    parser = parser_of(__doc__.splitlines()[0], 10**5, MODELS, PRECISIONS, 3)
    parser.add_argument("--orders", type=int, nargs="+", default=ORDERS)
    parser.add_argument("--thetas", type=float, nargs="+", default=THETAS)
    options = parser.parse_args()
    settings = [(order, "radius", "theta", theta) for order in options.orders for theta in options.thetas]
    scan(options, "accuracy", lambda _: settings, row_of_setting, print_rows)


if __name__ == "__main__":
    main()
