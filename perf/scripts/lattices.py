#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether a tolerance is held in lattices of ions, and what that costs.

    perf/scripts/lattices.py build/fmm_forces --report perf/results/DEVICE-lattices.json

Alternating charges at the points of cubic grids (rock salt), each moved along each axis by up to a
share of the spacing. There whole degrees of a cell's multipole vanish by symmetry, and the field of
all bodies cancels. Beside each lattice as many charges of random sign in a cube. Errors are those at
all bodies, against direct sums in double; times are medians. Runs are kept in the file, and those
that are there are not measured again. A tolerance that is refused is told with what can be had.
"""
import argparse
import os
import random
import statistics

from common.runs import Failed, Runs

TOLERANCES = {"double": ["1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-8", "1e-10"],
              "float": ["1e-2", "1e-3", "1e-4", "1e-5"]}


def write_salt(path, side, moved):
    """A text file with side^3 bodies, the same for the same arguments."""
    draw = random.Random(f"{side} {moved}")
    with open(path, "w", encoding="utf-8") as file:
        for i in range(side**3):
            place = (i // side**2, i // side % side, i % side)
            x, y, z = (k + moved * draw.uniform(-1, 1) for k in place)
            file.write(f"{x!r} {y!r} {z!r} {-1 if sum(place) % 2 else 1}\n")


def row_of(entry, **what):
    return {**what, "order": entry["order"], "criterion": entry["criterion"], "ms": 1e3 * entry["seconds"]["total"],
            "first_ms": 1e3 * entry["seconds"]["first"], "error": entry["error"]["force_l2"],
            "device": entry["device"], "threads": entry["threads"], "commit": entry["commit"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--report", required=True)
    parser.add_argument("--again", action="store_true", help="measure what is in the file once more")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--sides", type=int, nargs="+", default=[20, 28, 29, 32, 40])
    parser.add_argument("--moved", type=float, nargs="+", default=[0, 0.05, 0.3])
    parser.add_argument("--folder", default="build/lattices", help="of the bodies' files")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    runs = Runs(options.report, "lattices", options.again)
    results, refused = [], []
    for side in options.sides:
        sources = {"random": ["--model", "cube", "--n", str(side**3), "--charges", "mixed"]}
        for moved in options.moved:
            path = os.path.join(options.folder, f"salt-{side}-{moved}.txt")
            write_salt(path, side, moved)
            sources[moved] = ["--input", path]
        for precision, tolerances in TOLERANCES.items():
            for tolerance in tolerances:
                for moved, source in sources.items():
                    line = [*source, "--kernel", "laplace", "--precision", precision, "--tolerance", tolerance,
                            "--check", str(side**3), "--backend", options.backend]
                    what = {"side": side, "moved": moved, "precision": precision, "tolerance": float(tolerance)}
                    try:
                        entry, = runs.run(options.program, line, "--report")
                    except (Failed, SystemExit) as why:  # the program refuses with a status of wrong arguments
                        refused.append({**what, "why": str(why)})
                        continue
                    results.append(row_of(entry, **what))
    runs.data["results"], runs.data["refused"] = results, refused
    runs.save()

    lattices = [row for row in results if row["moved"] != "random"]
    of_random = {(row["side"], row["precision"], row["tolerance"]): row["ms"]
                 for row in results if row["moved"] == "random"}
    errors = [row["error"] / row["tolerance"] for row in lattices]
    times = [row["ms"] / of_random[row["side"], row["precision"], row["tolerance"]] for row in lattices]
    print(f"{len(lattices)} cases, {sum(error > 1 for error in errors)} over, {len(refused)} refused")
    print(f"error / tolerance: median {statistics.median(errors):.2f}, at most {max(errors):.2f}")
    print(f"time / time of random signs: median {statistics.median(times):.2f}, at most {max(times):.2f}")


if __name__ == "__main__":
    main()
