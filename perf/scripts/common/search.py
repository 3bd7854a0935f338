# SPDX-License-Identifier: BSD-3-Clause
"""The search for a method's fastest setting at a given error: what the experiments have in common."""
import math
import os
import re
import subprocess
import sys

from common.paths import ROOT
from common.runs import Failed, Runs

TOLERANCE = 1e-4
LEAVES = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]
ORDERS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16]

# Where the search for a method's best setting begins: one line for each that may win, none of which may
# err by much more than 1e-4 (calibration tightens those that do). The first is that of the quick setting.
SETTINGS = {
    "openmp": {
        "treecode": [{"traversal": "barnes-hut", "order": 4, "theta": 0.65},
                     {"traversal": "barnes-hut", "order": 3, "theta": 0.5},
                     {"traversal": "barnes-hut", "order": 5, "theta": 0.7}],
        "fmm": [{"traversal": "dual", "order": 5, "theta": 0.65},
                {"traversal": "dual", "order": 4, "theta": 0.54},
                {"traversal": "dual", "order": 6, "theta": 0.75}],
    },
    "cuda": {
        "treecode": [{"traversal": "dual", "order": 4, "pair_error": 5e-4},
                     {"traversal": "dual", "order": 3, "pair_error": 5e-4},
                     {"traversal": "dual", "order": 5, "pair_error": 5e-4}],
        "fmm": [{"traversal": "dual", "order": 6, "pair_error": 2.4e-4},
                {"traversal": "dual", "order": 5, "pair_error": 2.4e-4},
                {"traversal": "dual", "order": 7, "pair_error": 4e-4}],
    },
}
SETTINGS["serial"] = SETTINGS["openmp"]
# Treecode and FMM on one uniform tree, as the chapter has it: its lists for the FMM.
SAME_DEPTH = {"treecode": {"traversal": "barnes-hut", "order": 4, "theta": 0.65},
              "fmm": {"traversal": "lists", "order": 6}}
FIRST_LEAF = {"serial": 64, "openmp": 64, "cuda": 96}


def tightened(setting, orders):
    """The next setting that errs less; None if there is none."""
    setting = dict(setting)
    higher = [order for order in orders if order > setting["order"]]
    if "pair_error" in setting:
        setting["pair_error"] = float(f"{0.7 * setting['pair_error']:.3g}")
        return setting if setting["pair_error"] > 1e-6 else None
    if "theta" in setting and setting["theta"] > 0.35:
        setting["theta"] = round(0.94 * setting["theta"], 3)
        return setting
    if not higher:
        return None
    setting["order"] = higher[0]
    return setting


def climb(first, steps, cost):
    """The step of the least cost, going downhill from `first`; (None, None) if none has a cost.
    `cost(step)` is None for what cannot be run."""
    known = {}

    def at(index):
        if not 0 <= index < len(steps):
            return math.inf
        if index not in known:
            known[index] = cost(steps[index])
        return math.inf if known[index] is None else known[index]

    best = steps.index(first)
    while True:
        step = min((best, best + 1, best - 1), key=at)
        if step == best:
            return (steps[best], at(best)) if at(best) < math.inf else (None, None)
        best = step


class Experiment:
    """What the three have in common: programs, resources, and runs that are kept."""

    def __init__(self, options):
        self.options = options
        self.backend, self.quick = options.backend, options.quick
        self.name = f"{options.experiment}-{self.backend}" + ("-quick" if self.quick else "")
        minutes = options.minutes or (9.5 if self.quick else None)
        self.runs = Runs(os.path.join(options.folder, self.name + ".json"), options.experiment,
                         options.again, minutes and 60 * minutes, options.limit,
                         self.pretend if options.dry_run else None)
        self.all_cores = options.threads or len(os.sched_getaffinity(0))
        self.orders = ORDERS if options.dry_run else self.compiled_orders()
        self.runs.data["orders"] = self.orders

    def program(self, name):
        if self.options.build:
            return os.path.join(self.options.build, name)
        own = {"cuda": ["build-cuda"], "serial": ["build-serial"] * (name == "fmm_bench")}
        folders = own.get(self.backend, []) or ["build"]
        paths = [os.path.join(ROOT, folder, name) for folder in folders]
        return next((path for path in paths if os.path.exists(path)), paths[-1])

    def compiled_orders(self):
        """As the refusal of another one tells."""
        program = self.program("fmm_forces")
        kept = self.runs.data.get("orders")
        if kept and not os.path.exists(program):
            return kept  # enough to print the tables of a file that is complete
        try:
            done = subprocess.run([program, "--model", "cube", "--order", "999"],
                                  capture_output=True, text=True)
        except OSError as error:
            sys.exit(f"{program} cannot be run ({error}): build it, or name its folder by --build")
        found = re.search(r"one of ([0-9, ]+) \(compiled in\)", done.stderr)
        if not found:
            sys.exit(f"{program} does not say its orders: {done.stderr.strip()}")
        return [int(order) for order in found[1].split(",")]

    def resources(self):
        """Name and arguments of what is measured on: GPU, or one core and all."""
        if self.backend == "cuda":
            return {"GPU": ["--data", "float"]}
        if self.backend == "serial":
            return {"Serial": []}
        one = {"1 core": ["--threads", "1"]}
        if self.all_cores > 1:
            one[f"{self.all_cores} cores"] = ["--threads", str(self.all_cores)]
        return one

    def line(self, method, n, resource, repeat, *more):
        return ["--backend", self.backend, *self.resources()[resource], "--model", "cube", "--n",
                str(n), "--seed", "1", "--method", method, *more, "--repeat", str(repeat),
                "--check", "4096" if self.backend == "cuda" else "1000"]

    def forces(self, words):
        return self.runs.run(self.program("fmm_forces"), words, "--report")[0]

    def pretend(self, words):
        """An entry of fmm_forces or a report of fmm_bench from a rough model of the cost, for
        --dry-run: it is what the search goes by, and is never shown."""
        if "--n" not in words:
            return {"benchmarks": [], "context": {}}
        option = dict(zip(words, words[1:]))
        n, method, leaf = int(option["--n"]), option["--method"], int(option.get("--leaf", 64))
        if "--depth" in option:
            leaf = n / 8 ** int(option["--depth"])
        cost = n * n if method == "direct" else n * (30 * leaf + 2e5 / leaf) * (
            math.log(n) / 4 if method == "treecode" else 1)
        seconds = cost / (1e12 if self.backend == "cuda" else
                          3e9 * float(option.get("--threads", 1)))
        return [{"method": method, "n": n, "seconds": {"total": seconds, "all": [seconds],
                                                       "stages": {}},
                 "error": {"force_l2": 5e-5}, "order": int(option.get("--order", 0)), "theta": None,
                 "pair_error": None, "criterion": None, "traversal": None, "tree": None,
                 "leaf": leaf, "depth": None, "commit": None, "device": None, "threads": None,
                 "versions": {}, "flops": 0, "interactions": {}, "memory_bytes": 0}]

    # ---- the search for the best setting -----------------------------------------------------

    def words_of(self, setting):
        words = ["--traversal", setting["traversal"], "--order", str(setting["order"])]
        for key in ("theta", "pair_error"):
            if key in setting:
                words += ["--" + key.replace("_", "-"), f"{setting[key]:g}"]
        return words

    def within_tolerance(self, setting, run):
        """run(setting)'s entry and the setting, tightened until its error is allowed. Raises
        Failed."""
        while True:
            entry = run(setting)
            if entry["error"]["force_l2"] <= TOLERANCE:
                return entry, setting
            setting = tightened(setting, self.orders)
            if setting is None:
                raise Failed(f"no setting errs by {TOLERANCE:g} at most")

    def tune_leaf(self, method, setting, n, resource, first, repeat):
        """The fastest leaf capacity for a setting: (entry, setting as it was tightened, leaf)."""
        found = {}

        def cost(leaf):
            try:
                entry, tighter = self.within_tolerance(
                    setting, lambda s: self.forces(self.line(
                        method, n, resource, repeat, *self.words_of(s), "--leaf", str(leaf))))
            except Failed:
                return None
            found[leaf] = entry, tighter
            return entry["seconds"]["total"]

        # larger ones make a direct sum of it
        leaves = [leaf for leaf in LEAVES if 8 * leaf <= n]
        leaf, _ = climb(min(first, leaves[-1]), leaves, cost)
        if leaf is None:
            raise Failed(f"{method}, N = {n}: no leaf capacity could be run")
        return (*found[leaf], leaf)

    def tune_depth(self, settings, n, resource, first, repeat):
        """The depth of a uniform tree at which the product of both methods' times is the least:
        ({method: (entry, setting)}, depth)."""
        found = {}

        def cost(depth):
            try:
                found[depth] = {
                    method: self.within_tolerance(
                        settings[method], lambda s: self.forces(self.line(
                            method, n, resource, repeat, *self.words_of(s), "--tree", "uniform",
                            "--depth", str(depth))))
                    for method in settings}
            except Failed:
                return None
            return math.prod(entry["seconds"]["total"] for entry, _ in found[depth].values())

        depth, _ = climb(first, list(range(1, 9)), cost)
        if depth is None:
            raise Failed(f"N = {n}: no depth could be run")
        return found[depth], depth

    def first_depth(self, n):
        return min(8, max(1, round(math.log(n / FIRST_LEAF[self.backend], 8))))


def point(entry, variant, resource):
    """What the tables, plots and comparisons need of a report's entry."""
    keys = ("method", "n", "order", "theta", "pair_error", "criterion", "traversal", "tree", "leaf",
            "depth", "device", "threads", "versions", "commit", "flops", "interactions",
            "memory_bytes")
    return {"variant": variant, "resource": resource, **{key: entry.get(key) for key in keys},
            "seconds": entry["seconds"]["total"], "all": entry["seconds"]["all"],
            "stages": entry["seconds"]["stages"], "force_l2": entry["error"]["force_l2"],
            "extrapolated": False}
