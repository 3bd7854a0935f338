#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What mixed precision and double cost in units of float, at one setting of the FMM.

    perf/scripts/precisions.py build/fmm_forces --report perf/results/DEVICE-precisions.json [--n 1e6]

The dual traversal of order 6 with theta 0.7 and leaves of 96. Seconds are the median of the repeats, those of P2P
are of the one run whose stages are timed; errors are against direct sums in double. Runs are kept in the file, and
those that are there are not measured again.
"""
from common.runs import Runs
from common.scans import line_of, parser_of, row_of
from common.tables import print_table

PRECISIONS = {"float": ["--precision", "float"], "mixed": ["--precision", "mixed"],
              "mixed in one part": ["--precision", "mixed", "--one-part"], "double": ["--precision", "double"]}
SETTING = ["--traversal", "dual", "--order", "6", "--criterion", "radius", "--theta", "0.7", "--leaf", "96"]


def main():
    parser = parser_of(__doc__.splitlines()[0], 10**6, ["cube", "plummer", "shell"], list(PRECISIONS), 5)
    options = parser.parse_args()
    runs = Runs(options.report, "precisions", options.again)
    results = []
    for model in options.models:
        rows = []
        for name in options.precisions:
            entry, = runs.run(options.program, line_of(options, model, PRECISIONS[name] + SETTING), "--report")
            rows.append({**row_of(entry), "precision": name, "p2p_seconds": entry["seconds"]["stages"]["p2p"]})
        first = rows[0]
        print(f"\n{first['device']}: {model}, N = {first['n']:,}, order {first['order']}; "
              f"in units of {first['precision']}")
        print_table(["precision", "seconds", "all", "P2P", "force L2"],
                    [[row["precision"], f"{row['seconds']:.3g}", f"{row['seconds'] / first['seconds']:.2f}",
                      f"{row['p2p_seconds'] / first['p2p_seconds']:.2f}", f"{row['force_l2']:.1e}"] for row in rows])
        results += rows
    runs.data["results"] = results
    runs.save()


if __name__ == "__main__":
    main()
