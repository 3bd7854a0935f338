#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What fmm_forces --tolerance costs against the fastest setting that a search by hand finds.

    perf/scripts/by_hand.py build/fmm_forces --report perf/results/DEVICE-by-hand.json [--n 1e5] [--tune]

The hand has the dual traversal by radii, and runs every order and theta. For each tolerance it takes the three
settings that are the fastest of those that hold it, and from each goes to leaves of other sizes as long as
these are faster and hold it, too. What holds it does so for 24 draws of the bodies: of so many settings one is
sure to be lucky with one draw. The fastest was lucky in time, too, and a machine may be slower an hour later: the
three fastest of all and the library are run again, in turns, and the seconds that are told are the medians of
these turns' repeats. Errors are against direct sums in double at 4096 bodies. With --tune the library searches, too;
with --norm p99 tolerances are of the bodies' own errors, but for a hundredth of them.
In float the hand computes in float, --tolerance in mixed precision. Runs are kept in the file, those that are there
are not measured again, and results of rows that this call has not asked for stay.
"""
import math
import statistics
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from common.runs import Failed, Runs
from common.scans import FOUND, line_of, parser_of, row_of, words_of, words_of_charges
from common.search import LEAVES, climb
from common.tables import print_table

ORDERS = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16]
THETAS = [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9]
TOLERANCES = {"l2": {"float": [1e-2, 1e-3, 1e-4, 1e-5],
                     "double": [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]},
              "p99": {"float": [1e-2, 1e-3, 1e-4], "double": [1e-3, 1e-4, 1e-5, 1e-6, 1e-8]}}
BEST = 3  # settings whose leaves are tried, and that are run again
TURNS = 3
TARGETS = 64  # of a direct sum in turns: errors are known


def with_value(words, option, value):
    """A run's words with another value of an option that they have."""
    at = words.index(option) + 1
    return [*words[:at], str(value), *words[at + 1:]]


class Hand:
    """The search for one model and precision."""

    def __init__(self, runs, options, model, precision):
        self.runs, self.options, self.model, self.precision = runs, options, model, precision
        self.norm = "force_" + options.norm
        self.grid = [row for order in options.orders for theta in options.thetas
                     if (row := self.row(order, theta)) is not None]

    def row(self, order, theta, leaf=None):
        """A setting's time and error; None if it failed."""
        words = self.words(order, theta, leaf)
        try:
            entry, = self.runs.run(self.options.program, words, "--report")
        except Failed:
            return None  # said when it was run, and kept in the file
        return {**row_of(entry), "theta": theta, "leaf": entry["leaf"]}

    def words(self, order, theta, leaf):
        words = words_of(self.options, self.model, self.precision, order, "radius", "theta", theta)
        return words + words_of_charges(self.options.charges) + (["--leaf", str(leaf)] if leaf else [])

    def error(self, row, seed):
        """A setting's error for other bodies of the model; infinite if the run failed."""
        words = with_value(self.words(row["order"], row["theta"], row["leaf"]), "--repeat", 1)
        try:
            entry, = self.runs.run(self.options.program, [*words, "--seed", str(seed)], "--report")
        except Failed:
            return math.inf  # said when it was run, and kept in the file
        return entry["error"][self.norm]

    def holds(self, row, tolerance):
        """Whether a setting's error is the tolerance at most for every draw of the bodies."""
        if row[self.norm] > tolerance:
            return False
        jobs, last = self.options.jobs, self.options.draws
        with ThreadPoolExecutor(jobs) as pool:
            for first in range(2, last + 1, jobs):
                seeds = range(first, min(first + jobs, last + 1))
                if any(error > tolerance for error in pool.map(lambda seed: self.error(row, seed), seeds)):
                    return False
        return True

    def fastest(self, tolerance):
        """The settings that hold the tolerance, the fastest ones, in a list that may be empty."""
        sorted_grid = sorted(self.grid, key=lambda row: row["seconds"])
        held = list(islice((row for row in sorted_grid if self.holds(row, tolerance)), BEST))
        for start in list(held):
            tried = {}

            def seconds(leaf):
                row = tried[leaf] = self.row(start["order"], start["theta"], leaf)
                if row is None or row[self.norm] > tolerance:
                    return None
                # a slower one is no place to stay at, whatever its other draws
                return row["seconds"] if row["seconds"] > start["seconds"] or self.holds(row, tolerance) else None

            first = min(LEAVES, key=lambda leaf: abs(leaf - start["leaf"]))
            leaf, _ = climb(first, LEAVES, seconds)
            if leaf is not None and self.holds(tried[leaf], tolerance):
                held.append(tried[leaf])
        different = {(row["order"], row["theta"], row["leaf"]): row for row in held}
        return sorted(different.values(), key=lambda row: row["seconds"])[:BEST]


def key_of(row):
    return row["model"], row.get("charges", "equal"), row["precision"], row["tolerance"], row.get("norm", "l2")


def by_tolerance(runs, options, model, precision, tolerance):
    """The words of the library's run, and what it took."""
    words = ["--precision", precision, "--tolerance", f"{tolerance:g}", *["--tune"] * options.tune,
             *["--error-norm", options.norm] * (options.norm != "l2"), *words_of_charges(options.charges)]
    words = line_of(options, model, words)
    entry, = runs.run(options.program, words, "--report")
    return words, {**row_of(entry), **{key: entry[key] for key in FOUND}}


def in_turns(runs, options, settings):
    """Median seconds of every setting, a list of words, over the repeats of all turns."""
    seconds = [[] for _ in settings]
    for turn in range(TURNS):
        for words, known in zip(settings, seconds):
            few = with_value(words, "--check", TARGETS)
            entry, = runs.run(options.program, few, "--report", {"TURN": str(turn + 1)})
            known += entry["seconds"]["all"]
    return [statistics.median(known) for known in seconds]


def compare(runs, options, hand, tolerance):
    """The hand's fastest setting beside the library's, or None if no setting holds the tolerance."""
    settings = hand.fastest(tolerance)
    if not settings:
        return None
    words, library = by_tolerance(runs, options, hand.model, hand.precision, tolerance)
    *of_hand, library["seconds"] = in_turns(
        runs, options, [hand.words(row["order"], row["theta"], row["leaf"]) for row in settings] + [words])
    best, seconds = min(zip(settings, of_hand), key=lambda pair: pair[1])
    return {"model": hand.model, "charges": options.charges, "precision": hand.precision, "norm": options.norm,
            "tolerance": tolerance, "draws": options.draws, "hand": {**best, "seconds": seconds}, "library": library,
            "ratio": library["seconds"] / seconds}


def main():
    parser = parser_of(__doc__.splitlines()[0], 10**5, ["cube", "plummer"], ["float", "double"], 3)
    parser.add_argument("--charges", choices=["equal", "mixed"], default="equal")
    parser.add_argument("--orders", type=int, nargs="+", default=ORDERS)
    parser.add_argument("--thetas", type=float, nargs="+", default=THETAS)
    parser.add_argument("--draws", type=int, default=24, help="of the bodies, for which a setting of the hand holds")
    parser.add_argument("--jobs", type=int, default=1, help="draws that run at once: only their errors count")
    parser.add_argument("--tolerances", type=float, nargs="+", help="all of a precision, if none is given")
    parser.add_argument("--tune", action="store_true", help="--tolerance with --tune")
    parser.add_argument("--norm", choices=list(TOLERANCES), default="l2")
    options = parser.parse_args()
    runs = Runs(options.report, "by hand", options.again)
    results, asked = [], set()
    for model in options.models:
        for precision in options.precisions:
            hand = Hand(runs, options, model, precision)
            tolerances = options.tolerances or TOLERANCES[options.norm][precision]
            rows = [row for tolerance in tolerances if (row := compare(runs, options, hand, tolerance)) is not None]
            asked |= {(model, options.charges, precision, tolerance, options.norm) for tolerance in tolerances}
            print(f"\n{model}, {options.charges} charges, N = {options.n:,}, {precision}")
            error = f"force {options.norm}"
            print_table(["tolerance", "order", "seconds", error, "by hand: order", "theta", "leaf",
                         "seconds", error, "ratio"],
                        [[f"{r['tolerance']:.0e}", str(r["library"]["order"]),
                          f"{r['library']['seconds']:.3g}", f"{r['library'][hand.norm]:.1e}",
                          str(r["hand"]["order"]), f"{r['hand']['theta']:g}", str(r["hand"]["leaf"]),
                          f"{r['hand']['seconds']:.3g}", f"{r['hand'][hand.norm]:.1e}",
                          f"{r['ratio']:.2f}"] for r in rows])
            results += rows
    others = [row for row in runs.data.get("results", []) if key_of(row) not in asked]
    runs.data["results"] = others + results
    runs.save()
    if results:
        print(f"\nlargest ratio {max(row['ratio'] for row in results):.2f}")


if __name__ == "__main__":
    main()
