#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each acceptance criterion of the dual traversal costs at the error that it gives.

    perf/criteria.py build/fmm_forces --report perf/results/DEVICE-criteria.json [--n 1e6]

Scans every criterion's parameter for the FMM in the unit cube and the Plummer sphere, in float and in double
at one order each. A line of fmm_forces a value: seconds are the median of the repeats, the relative criterion's
without the step before; errors are against direct sums in double; pairs are those of a body. Runs are kept
in the file, and those that are there are not measured again. perf/plot.py --all draws it.
"""
import argparse

from experiments import print_table
from runs import Failed, Runs

ORDERS = {"float": 5, "double": 8}
THETAS = [0.85, 0.75, 0.65, 0.55, 0.45, 0.35]
# criterion: the option that is scanned, and its values in each precision
SCANS = {
    "radius": ("theta", {"float": THETAS, "double": THETAS}),
    "field": ("pair-error", {"float": [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5],
                             "double": [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]}),
    "power": ("pair-error", {"float": [1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6],
                             "double": [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]}),
    "relative": ("pair-error", {"float": [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5],
                                "double": [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]}),
}


def words_of(options, model, precision, criterion, value):
    return ["--backend", options.backend, "--model", model, "--n", str(options.n), "--method", "fmm",
            "--traversal", "dual", "--precision", precision, "--order", str(options.orders[precision]),
            "--criterion", criterion, f"--{SCANS[criterion][0]}", f"{value:g}",
            "--repeat", str(options.repeat), "--check", str(options.check)]


def row_of(entry, parameter, value):
    """A run in the words of the table and the figure."""
    pairs = entry["interactions"]
    return {"model": entry["input"], "n": entry["n"], "precision": entry["precision"],
            "order": entry["order"], "criterion": entry["criterion"], "parameter": parameter,
            "value": value, "seconds": entry["seconds"]["total"],
            "force_l2": entry["error"]["force_l2"], "force_p99": entry["error"]["force_p99"],
            **{f"{name}_per_body": pairs[key] / entry["n"]
               for name, key in (("m2l", "m2l"), ("m2p", "m2p"), ("p2l", "p2l"), ("p2p", "p2p_pairs"))},
            "device": entry["device"], "backend": entry["backend"], "threads": entry["threads"],
            "commit": entry["commit"]}


def scan(runs, options, model, precision):
    rows = []
    for criterion, (parameter, values) in SCANS.items():
        for value in values[precision]:
            try:
                entry, = runs.run(options.program,
                                  words_of(options, model, precision, criterion, value), "--report")
                rows.append(row_of(entry, parameter, value))
            except Failed:
                continue  # said when it was run, and kept in the file
    return rows


def print_rows(rows):
    if not rows:
        return
    first = rows[0]
    print(f"\n{first['device']}: {first['model']}, N = {first['n']:,}, {first['precision']}, "
          f"order {first['order']}")
    print_table(["criterion", "parameter", "seconds", "force L2", "force p99", "M2L", "M2P", "P2L",
                 "P2P"],
                [[r["criterion"], f"{r['parameter']} {r['value']:g}", f"{r['seconds']:.3g}",
                  f"{r['force_l2']:.1e}", f"{r['force_p99']:.1e}", f"{r['m2l_per_body']:.3g}",
                  f"{r['m2p_per_body']:.3g}", f"{r['p2l_per_body']:.3g}",
                  f"{r['p2p_per_body']:.4g}"] for r in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--report", required=True, help="JSON file for all that was measured")
    parser.add_argument("--n", type=lambda text: int(float(text)), default=10**6)
    parser.add_argument("--models", nargs="+", default=["cube", "plummer"])
    parser.add_argument("--precisions", nargs="+", choices=list(ORDERS), default=list(ORDERS))
    parser.add_argument("--orders", type=int, nargs=2, metavar=("FLOAT", "DOUBLE"),
                        default=list(ORDERS.values()))
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--check", type=int, default=4096, help="targets of the direct sum")
    parser.add_argument("--again", action="store_true", help="measure what is in the file anew")
    options = parser.parse_args()
    options.orders = dict(zip(ORDERS, options.orders))

    runs = Runs(options.report, "criteria", options.again)
    results = []
    for model in options.models:
        for precision in options.precisions:
            rows = scan(runs, options, model, precision)
            print_rows(rows)
            results += rows
    runs.data["results"] = results
    runs.save()


if __name__ == "__main__":
    main()
