#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The three experiments of Yokota & Barba's chapter, on the unit cube in float.

    perf/experiments.py time --backend BACKEND [--same-depth]    time against N at L2 force error 1e-4
    perf/experiments.py breakdown --backend BACKEND              seconds of each stage at N = 10^7
    perf/experiments.py flops --backend BACKEND                  Gflop/s of P2P, M2P and M2L against N

Everything that is measured is a run of fmm_forces or fmm_bench, whose command line is printed and kept
with its report in FOLDER/<experiment>-<backend>.json: an experiment that was interrupted goes on where it
was. What the chapter states stands beside ours in the table at the end.
"""
import argparse
import math
import os
import re
import subprocess
import sys

from curves import crossover, extrapolate_direct, interpolate, sizes
from runs import Failed, OutOfTime, Runs, load

TOLERANCE = 1e-4
DIRECT_SECONDS = 30  # a direct sum that would take longer is extrapolated
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
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

        leaf, _ = climb(first, LEAVES, cost)
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


def print_table(header, rows):
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
    print(flush=True)


def seconds_text(value):
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"


class Time(Experiment):
    """Time against N."""

    def __init__(self, options):
        super().__init__(options)
        self.variant = "same-depth" if options.same_depth else "best"
        self.points = []  # of this call: a file may have another variant's, too
        last = 10**6 if self.quick else 10**8 if self.backend == "cuda" else 10**7
        self.sizes = sizes(1000, options.last or last, 2 if self.quick else 4)

    def repeats(self, n, final):
        """Timed runs for the search, and for the result. A GPU's are over before the bodies are
        made."""
        if self.backend == "cuda":
            return 5 if n <= 10**7 else 3
        if final and not self.quick:
            return 5 if n <= 10**6 else 3
        return 3 if n <= 10**5 else 1

    def curve(self, method, resource, measured=False):
        return curve_of(self.points, self.variant, method, resource, measured)

    def measure_direct(self, n, resource):
        measured = self.curve("direct", resource, measured=True)
        limit = 3 if self.quick else DIRECT_SECONDS
        guess = extrapolate_direct(measured, n) if measured else 0
        if guess <= limit:
            entry = self.forces(self.line("direct", n, resource, self.repeats(n, True),
                                          "--direct-limit", "1e9"))
            return point(entry, self.variant, resource)
        last = [p for p in self.points if p["method"] == "direct" and p["resource"] == resource][-1]
        return {**last, "n": n, "seconds": guess, "all": [guess], "stages": {}, "flops": None,
                "interactions": None, "extrapolated": True}

    def choose(self, method, resource):
        """The fastest of the settings at the middle of the sizes, each with its own best leaf."""
        settings = SETTINGS[self.backend][method]
        settings = [s for s in settings if s["order"] in self.orders]
        if not settings:
            sys.exit(f"fmm_forces has none of the orders of {method} (CMake: FMM_ORDERS)")
        if self.quick:
            return settings[0], FIRST_LEAF[self.backend]
        n = 10**6 if self.backend == "cuda" else 10**5
        tuned = []
        for setting in settings:
            try:
                entry, tighter, leaf = self.tune_leaf(method, setting, n, resource,
                                                      FIRST_LEAF[self.backend], self.repeats(n, False))
                tuned.append((entry["seconds"]["total"], tighter, leaf))
            except Failed as failure:
                print(f"  {method} {setting}: {failure}")
        if not tuned:
            raise Failed(f"{method}: no setting could be run")
        return min(tuned, key=lambda t: t[0])[1:]

    def repeated(self, entry, setting, method, n, resource, *tree):
        """The entry of the tuned setting, with as many repeats as its result shall have."""
        if self.repeats(n, True) == self.repeats(n, False):
            return entry
        return self.forces(self.line(method, n, resource, self.repeats(n, True),
                                     *self.words_of(setting), *tree))

    def measure_best(self, n, resource, method, state):
        key = method, resource
        if key not in state:
            state[key] = self.choose(method, resource)
        setting, leaf = state[key]
        entry, tighter, leaf = self.tune_leaf(method, setting, n, resource, leaf,
                                              self.repeats(n, False))
        state[key] = setting, leaf
        entry = self.repeated(entry, tighter, method, n, resource, "--leaf", str(leaf))
        return point(entry, self.variant, resource)

    def measure_same_depth(self, n, resource):
        both, depth = self.tune_depth(SAME_DEPTH, n, resource, self.first_depth(n),
                                      self.repeats(n, False))
        return [point(self.repeated(entry, setting, method, n, resource, "--tree", "uniform",
                                    "--depth", str(depth)), self.variant, resource)
                for method, (entry, setting) in both.items()]

    def run(self):
        state = {}
        try:
            for n in self.sizes:
                for resource in self.resources():
                    print(f"N = {n}, {resource}, {self.variant}", flush=True)
                    self.measure(n, resource, state)
                    self.save()
        except OutOfTime:
            print("The time is over: run the same command again to go on.")
        if not self.options.dry_run:
            self.tables()

    def measure(self, n, resource, state):
        self.try_to(lambda: [self.measure_direct(n, resource)])
        if self.variant == "same-depth":
            self.try_to(lambda: self.measure_same_depth(n, resource))
            return
        for method in ("treecode", "fmm"):
            self.try_to(lambda: [self.measure_best(n, resource, method, state)])

    def try_to(self, measure):
        try:
            self.points += measure()
        except Failed as failure:
            print(f"    not measured: {failure}", flush=True)

    def save(self):
        others = [p for p in self.runs.data.get("results", []) if p["variant"] != self.variant]
        self.runs.data["results"] = others + self.points
        self.runs.save()

    # ---- tables ------------------------------------------------------------------------------

    def tables(self):
        for resource in self.resources():
            rows = []
            for n in sorted({p["n"] for p in self.points if p["resource"] == resource}):
                found = {p["method"]: p for p in self.points
                         if p["resource"] == resource and p["n"] == n}
                rows.append([f"{n}", *(self.cell(found.get(m))
                                       for m in ("direct", "treecode", "fmm"))])
            device = next((p["device"] for p in self.points), "")
            print(f"\n{device}, {resource}, {self.variant}: seconds (order, leaf or depth), force L2; "
                  "* extrapolated")
            print_table(["N", "direct", "treecode", "FMM"], rows)
        print_table(["crossover (bodies)", *self.resources()],
                    [[name, *(self.crossover(a, b, r) for r in self.resources())]
                     for name, a, b in CROSSOVERS])
        rows = statements(self.options.folder, self.quick, self.variant)
        print_table(["the chapter's statement", "chapter", "here"], rows)

    def cell(self, found):
        if not found:
            return "-"
        text = seconds_text(found["seconds"])
        if found["extrapolated"]:
            return text + "*"
        if found["method"] != "direct":
            tree = (f"depth {found['depth']}" if found["tree"] == "uniform"
                    else f"leaf {found['leaf']}")
            text += f" (p {found['order']}, {tree})"
        return f"{text}, {found['force_l2']:.1e}"

    def crossover(self, slower, faster, resource):
        found = crossover(self.curve(slower, resource), self.curve(faster, resource))
        measured = [n for n, _ in self.curve(slower, resource, measured=True)]
        guessed = found.between and measured and found.between[1] > measured[-1]
        return found.text() + (" (extrapolated)" if guessed else "")


CROSSOVERS = [("treecode below direct", "direct", "treecode"), ("FMM below direct", "direct", "fmm"),
              ("FMM below treecode", "treecode", "fmm")]


def curve_of(points, variant, method, resource, measured=False):
    return sorted((p["n"], p["seconds"]) for p in points
                  if p["variant"] == variant and p["method"] == method
                  and p["resource"] == resource and not (measured and p["extrapolated"]))


def statements(folder, quick, variant):
    """Rows (statement, chapter, ours) from the files of both backends, as far as they are there."""
    points = []
    for backend in ("openmp", "cuda"):
        path = os.path.join(folder, f"time-{backend}" + ("-quick" if quick else "") + ".json")
        if os.path.exists(path):
            points += load(path).get("results", [])

    def curve(method, resource):
        return curve_of(points, variant, method, resource)

    def speed_up(method):
        core, gpu = dict(curve(method, "1 core")), dict(curve(method, "GPU"))
        common = sorted(core.keys() & gpu.keys())
        if not common:
            return "-"
        return f"{core[common[-1]] / gpu[common[-1]]:.3g} (N = {common[-1]:.2g})"

    def gain(n):
        direct, fmm = (interpolate(curve(m, "GPU"), n) for m in ("direct", "fmm"))
        return f"{direct / fmm:.3g}" if direct and fmm else "-"

    rows = [[f"{method}, GPU over one core", chapter, speed_up(method)]
            for method, chapter in (("direct", "300"), ("treecode", "100"), ("fmm", "30"))]
    for resource, chapter in (("1 core", "3e3"), ("GPU", "2e4 .. 4e4")):
        for name, slower, faster in CROSSOVERS[:2]:
            rows.append([f"{name} from N, {resource}", chapter,
                         crossover(curve(slower, resource), curve(faster, resource)).text()])
    rows += [["FMM over direct on the GPU, N = 10^6", "15", gain(10**6)],
             ["FMM over direct on the GPU, N = 10^7", "150", gain(10**7)]]
    return rows


class Breakdown(Experiment):
    """Seconds of each stage of treecode and FMM, each at its own best and on one depth."""

    def run(self):
        n = self.options.last or (10**6 if self.quick else 10**7)
        resource = list(self.resources())[-1]
        repeat = 1 if self.quick else 3
        points = []
        try:
            for method in ("treecode", "fmm"):
                print(f"N = {n}, {resource}, {method}, its best leaf", flush=True)
                setting, leaf = self.known_best(method, n, resource)
                entry, _, _ = self.tune_leaf(method, setting, n, resource, leaf, repeat)
                points.append(point(entry, "best", resource))
            print(f"N = {n}, {resource}, both on one uniform depth", flush=True)
            both, _ = self.tune_depth(SAME_DEPTH, n, resource, self.first_depth(n), repeat)
            points += [point(entry, "same-depth", resource) for entry, _ in both.values()]
        except OutOfTime:
            print("The time is over: run the same command again to go on.")
        except Failed as failure:
            print(f"  not measured: {failure}")
        self.runs.data["results"] = points
        self.runs.save()
        if points and not self.options.dry_run:
            self.table(points, n, resource)

    def known_best(self, method, n, resource):
        """The setting and leaf that the experiment `time` found for the nearest N, or the first."""
        path = self.runs.path.replace("breakdown-", "time-")
        found = load(path).get("results", []) if os.path.exists(path) else []
        found = [p for p in found if p["method"] == method and p["resource"] == resource
                 and p["variant"] == "best" and p["order"] in self.orders]
        if found and not self.options.dry_run:
            nearest = min(found, key=lambda p: abs(math.log(p["n"] / n)))
            keys = ["traversal", "order", "theta" if nearest["pair_error"] is None else "pair_error"]
            return {key: nearest[key] for key in keys}, nearest["leaf"]
        return next(s for s in SETTINGS[self.backend][method]
                    if s["order"] in self.orders), FIRST_LEAF[self.backend]

    def table(self, points, n, resource):
        stages = [name for name in points[0]["stages"]
                  if any(p["stages"].get(name) for p in points)]
        rows = []
        for name in stages:
            row = [name]
            for p in points:
                value, total = p["stages"].get(name, 0), sum(p["stages"].values())
                row.append(f"{seconds_text(value)}, {100 * value / total:.0f} %" if value else "")
            rows.append(row)
        rows.append(["all", *(seconds_text(p["seconds"]) for p in points)])
        rows.append(["force L2", *(f"{p['force_l2']:.1e}" for p in points)])
        print(f"\n{points[0]['device']}, {resource}, N = {n}")
        print_table(["stage", *(f"{p['method']}, {p['variant']} (p {p['order']})" for p in points)],
                    rows)


class Flops(Experiment):
    """Gflop/s of P2P, M2P and M2L, as the chapter counts and as the library issues."""

    OPERATORS = r"^(P2P/(all|near)|M2P/order:4|M2L/(direct|rotation)/order:6)/float/"
    PEAKS = r"^peak/"

    def run(self):
        last = 10**6 if self.quick else 10**7
        results = []
        environment = ({"OMP_NUM_THREADS": str(self.all_cores)} if self.backend == "openmp" else {})
        try:
            for n in [None, *sizes(1000, self.options.last or last, 2 if self.quick else 4)]:
                print("peaks of the machine" if n is None else f"N = {n}", flush=True)
                chosen = (["--benchmark_filter=" + self.PEAKS] if n is None else
                          ["--benchmark_filter=" + self.OPERATORS, f"--fmm_n={n}",
                           f"--fmm_leaf={FIRST_LEAF[self.backend]}", "--fmm_model=cube"])
                repeats = ["--benchmark_repetitions=" + ("1" if self.quick else "5")]
                try:
                    report = self.runs.run(self.program("fmm_bench"), [*chosen, *repeats],
                                           "--benchmark_out={}", environment)
                except Failed as failure:
                    print(f"    not measured: {failure}")
                    continue
                results += self.rates(report, n)
                self.runs.data["results"] = results
                self.runs.save()
        except OutOfTime:
            print("The time is over: run the same command again to go on.")
        if results and not self.options.dry_run:
            self.table(results)

    def rates(self, report, n):
        """The median of the repeats of each operator."""
        repeats = {}
        for run in report["benchmarks"]:
            if run.get("run_type") == "iteration" and not run.get("error_occurred"):
                repeats.setdefault(run["run_name"], []).append(run)
        context = report["context"]
        facts = {key: context.get(key) for key in ("device", "space", "threads", "commit", "kokkos",
                                                   "kokkos_kernels", "compiler", "cuda")}
        found = []
        for name, runs in repeats.items():
            runs.sort(key=lambda run: run["real_time"])
            middle = runs[len(runs) // 2]
            operator = re.sub(r"/(float/)?cube/.*|/manual_time$", "", name)
            # all times are in milliseconds
            found.append({"operator": operator, "n": n, "seconds": 1e-3 * middle["real_time"],
                          "all": [1e-3 * run["real_time"] for run in runs], **facts,
                          **{key: middle[key] for key in middle if key.endswith("_per_second")}})
        return found

    def table(self, results):
        operators = [o for o in dict.fromkeys(r["operator"] for r in results)
                     if not o.startswith("peak/")]
        rows = []
        for n in sorted({r["n"] for r in results if r["n"]}):
            at = {r["operator"]: r for r in results if r["n"] == n}
            rows.append([n, *(self.cell(at.get(operator)) for operator in operators)])
        print(f"\n{results[0]['device']}: Gflop/s as the chapter counts (as issued)")
        print_table(["N", *operators], rows)
        for r in results:
            if r["operator"].startswith("peak/"):
                rates = (f"{r[key]:.3g} {key.replace('_per_second', '')}/s" for key in
                         ("issued_flops_per_second", "bytes_per_second") if key in r)
                print(f"{r['operator']}: {', '.join(rates)}")

        def largest(start):
            return max((r.get("flops_per_second", 0) for r in results
                        if r["operator"].startswith(start)), default=0)

        m2p, m2l = largest("M2P"), largest("M2L/direct")
        print()
        print_table(["the chapter's statement", "chapter", "here"],
                    [["P2P, largest", "300 Gflop/s", f"{largest('P2P') / 1e9:.3g} Gflop/s"],
                     ["M2P over M2L in the chapter's form, largest each", "well above 1",
                      f"{m2p / m2l:.3g}" if m2l else "-"]])

    @staticmethod
    def cell(found):
        if not found:
            return "-"
        listed = found.get("flops_per_second")
        issued = f"({found['issued_flops_per_second'] / 1e9:.3g})"
        return f"{listed / 1e9:.3g} {issued}" if listed else issued


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=["time", "breakdown", "flops"])
    parser.add_argument("--backend", choices=["serial", "openmp", "cuda"], required=True)
    parser.add_argument("--quick", action="store_true",
                        help="fewer and smaller sizes; ends within ten minutes, done or not")
    parser.add_argument("--same-depth", action="store_true",
                        help="time: treecode and FMM on the same uniform tree, as the chapter has "
                             "it, not each at its own best")
    parser.add_argument("--threads", type=int, help="what `all cores` means [those there are]")
    parser.add_argument("--last", type=lambda text: int(float(text)), metavar="N",
                        help="the largest N [time, flops: 10^7, time on a GPU 10^8, quick 10^6; "
                             "breakdown: 10^7, quick 10^6]")
    parser.add_argument("--minutes", type=float, help="end after so long [quick: 9.5]")
    parser.add_argument("--limit", type=float, default=900, help="seconds for a run [900]")
    parser.add_argument("--again", action="store_true", help="measure what is in the file anew")
    parser.add_argument("--build", help="folder of the programs [build-cuda or build]")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build", "experiments"),
                        help="where the JSON goes [build/experiments]")
    parser.add_argument("--dry-run", action="store_true",
                        help="print the command lines that a search could take, run none")
    options = parser.parse_args()
    if options.threads is not None and options.threads < 1:
        parser.error("--threads must be 1 or more")
    if options.last is not None and options.last < 1000:
        parser.error("--last must be 1000 or more")
    if options.same_depth and options.experiment != "time":
        parser.error("--same-depth is for time; breakdown always has both variants")
    experiment = {"time": Time, "breakdown": Breakdown, "flops": Flops}[options.experiment](options)
    try:
        experiment.run()
    except KeyboardInterrupt:
        sys.exit("\nInterrupted: run the same command again to go on.")
    if not options.dry_run:
        print(f"Data: {os.path.relpath(experiment.runs.path)}")


if __name__ == "__main__":
    main()
