#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How the error depends on order, theta, distribution and precision, and which setting is the fastest.

    perf/accuracy.py build/fmm_forces --report perf/results/DEVICE-accuracy.json [--n 1e5]

Runs the FMM (dual traversal, radii and theta, softening 0) at every order and theta, in the unit cube, the
Plummer sphere, on the shell and in the disk, in float, mixed and double. A line of fmm_forces each: errors
are against direct sums in double; seconds are the median of the repeats. Prints, for each distribution and
precision, the fastest setting that keeps each error. Runs are kept in the file, and those that are there are
not measured again. perf/plot.py --all draws it.
"""
import argparse

from experiments import print_table
from runs import Failed, Runs

ORDERS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16]
THETAS = [0.4, 0.5, 0.6, 0.7, 0.8]
MODELS = ["cube", "plummer", "shell", "disk"]
PRECISIONS = ["float", "mixed", "double"]
ERRORS = [10.0**-k for k in range(2, 13)]


def words_of(options, model, precision, order, theta):
    return ["--backend", options.backend, "--model", model, "--n", str(options.n), "--method", "fmm",
            "--traversal", "dual", "--criterion", "radius", "--precision", precision, "--order", str(order),
            "--theta", f"{theta:g}", "--repeat", str(options.repeat), "--check", str(options.check)]


def row_of(entry):
    """A run in the words of the table and the figure."""
    errors = {key: entry["error"][key] for key in ("force_l2", "force_p99", "force_max", "potential_l2")}
    return {"model": entry["input"], **errors, "seconds": entry["seconds"]["total"],
            **{key: entry[key] for key in ("n", "precision", "order", "theta", "device", "backend",
                                           "threads", "commit")}}


def fastest(rows, error):
    """The fastest of the rows whose force errs by at most that, or None."""
    return min((row for row in rows if row["force_l2"] <= error), key=lambda row: row["seconds"],
               default=None)


def print_rows(rows):
    if not rows:
        return
    first = rows[0]
    print(f"\n{first['device']}: {first['model']}, N = {first['n']:,}, {first['precision']}")
    cells = []
    for error in ERRORS:
        row = fastest(rows, error)
        if row:
            cells.append([f"{error:.0e}", str(row["order"]), f"{row['theta']:g}", f"{row['seconds']:.3g}",
                          f"{row['force_l2']:.1e}", f"{row['force_p99']:.1e}", f"{row['force_max']:.1e}",
                          f"{row['potential_l2']:.1e}"])
    print_table(["force L2 <=", "order", "theta", "seconds", "force L2", "p99", "max", "potential L2"],
                cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--report", required=True, help="JSON file for all that was measured")
    parser.add_argument("--n", type=lambda text: int(float(text)), default=10**5)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS)
    parser.add_argument("--orders", type=int, nargs="+", default=ORDERS)
    parser.add_argument("--thetas", type=float, nargs="+", default=THETAS)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--check", type=int, default=4096, help="targets of the direct sum")
    parser.add_argument("--again", action="store_true", help="measure what is in the file anew")
    options = parser.parse_args()

    runs = Runs(options.report, "accuracy", options.again)
    results = []
    for model in options.models:
        for precision in options.precisions:
            rows = []
            for order in options.orders:
                for theta in options.thetas:
                    try:
                        entry, = runs.run(options.program,
                                          words_of(options, model, precision, order, theta), "--report")
                        rows.append(row_of(entry))
                    except Failed:
                        continue  # said when it was run, and kept in the file
            print_rows(rows)
            results += rows
    runs.data["results"] = results
    runs.save()


if __name__ == "__main__":
    main()
