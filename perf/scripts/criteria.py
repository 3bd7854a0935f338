#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each acceptance criterion of the dual traversal costs at the error that it gives.

    perf/scripts/criteria.py build/fmm_forces --report perf/results/DEVICE-criteria.json [--n 1e6]

Scans every criterion's parameter for the FMM in the unit cube and the Plummer sphere, in float and in double
at one order each. A line of fmm_forces a value: seconds are the median of the repeats, the relative criterion's
without the step before; errors are against direct sums in double; pairs are those of a body. At the end, for
each error, what each criterion takes for it, between two of its values by their errors' logarithms. Runs are kept in
the file, and those that are there are not measured again. perf/scripts/plot.py --all draws it.
"""
from common.curves import interpolate
from common.scans import parser_of, scan
from common.tables import print_table

ORDERS = {"float": 5, "double": 8}
ERRORS = {"float": [1e-4, 2e-5, 6e-6], "double": [1e-5, 1e-6, 1e-7, 1e-8]}
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


def row_of_setting(entry, setting):
    _, criterion, parameter, value = setting
    pairs = entry["interactions"]
    return {"criterion": criterion, "parameter": parameter, "value": value,
            **{f"{name}_per_body": pairs[key] / entry["n"]
               for name, key in (("m2l", "m2l"), ("m2p", "m2p"), ("p2l", "p2l"), ("p2p", "p2p_pairs"))}}


def print_rows(rows):
    first = rows[0]
    print(f"\n{first['device']}: {first['model']}, N = {first['n']:,}, {first['precision']}, "
          f"order {first['order']}")
    print_table(["criterion", "parameter", "seconds", "force L2", "force p99", "M2L", "M2P", "P2L",
                 "P2P"],
                [[r["criterion"], f"{r['parameter']} {r['value']:g}", f"{r['seconds']:.3g}",
                  f"{r['force_l2']:.1e}", f"{r['force_p99']:.1e}", f"{r['m2l_per_body']:.3g}",
                  f"{r['m2p_per_body']:.3g}", f"{r['p2l_per_body']:.3g}",
                  f"{r['p2p_per_body']:.4g}"] for r in rows])


def seconds_at(error, known):
    """Seconds for an error, from pairs of an error and seconds: between the two next to it. Of all of them the least,
    if all hold it; None if none does."""
    curve = sorted(pair for pair in known if pair[0] > 0)
    if curve and error > curve[-1][0]:
        return min(seconds for _, seconds in curve)
    return interpolate(curve, error)


def print_times(results):
    """Milliseconds of each criterion for an error, a column for each model and criterion."""
    models = list(dict.fromkeys(row["model"] for row in results))
    for precision in dict.fromkeys(row["precision"] for row in results):
        rows = [row for row in results if row["precision"] == precision]
        print(f"\n{rows[0]['device']}: N = {rows[0]['n']:,}, {precision}, order {rows[0]['order']}; milliseconds")

        def time(model, criterion, key, error):
            seconds = seconds_at(error, [(row[key], row["seconds"]) for row in rows
                                         if row["model"] == model and row["criterion"] == criterion])
            return "-" if seconds is None else f"{1e3 * seconds:.3g}"

        print_table(["force error", *(f"{model}: {criterion}" for model in models for criterion in SCANS)],
                    [[f"{name} {error:.0e}", *(time(model, criterion, key, error) for model in models
                                               for criterion in SCANS)]
                     for name, key, factor in (("L2", "force_l2", 1), ("p99", "force_p99", 5))
                     for error in (factor * level for level in ERRORS[precision])])


def main():
    parser = parser_of(__doc__.splitlines()[0], 10**6, ["cube", "plummer"], list(ORDERS), 5)
    parser.add_argument("--orders", type=int, nargs=2, metavar=("FLOAT", "DOUBLE"),
                        default=list(ORDERS.values()))
    options = parser.parse_args()
    orders = dict(zip(ORDERS, options.orders))

    def settings_of(precision):
        return [(orders[precision], criterion, parameter, value)
                for criterion, (parameter, values) in SCANS.items() for value in values[precision]]

    print_times(scan(options, "criteria", settings_of, row_of_setting, print_rows))


if __name__ == "__main__":
    main()
