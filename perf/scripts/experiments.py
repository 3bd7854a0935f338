#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The three experiments of Yokota & Barba's chapter, on the unit cube in float.

    perf/scripts/experiments.py time --backend BACKEND [--same-depth]    time against N at L2 force error 1e-4
    perf/scripts/experiments.py breakdown --backend BACKEND              seconds of each stage at N = 10^7
    perf/scripts/experiments.py flops --backend BACKEND                  Gflop/s of P2P, M2P and M2L against N

Everything that is measured is a run of fmm_forces or fmm_bench, whose command line is printed and kept
with its report in FOLDER/<experiment>-<backend>.json: an experiment that was interrupted goes on where it
was. What the chapter states stands beside ours in the table at the end.
"""
import argparse
import math
import os
import re
import sys

from common.curves import CROSSOVERS, crossover, curve_of, extrapolate_direct, interpolate, sizes
from common.paths import ROOT
from common.runs import Failed, OutOfTime, load
from common.search import FIRST_LEAF, SAME_DEPTH, SETTINGS, Experiment, point
from common.tables import print_table, seconds_text

DIRECT_SECONDS = 30  # a direct sum that would take longer is extrapolated


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

    # what the machine can do is measured anew beside each N: neighbours come and go
    OPERATORS = r"^(peak|(P2P/(all|near)|M2P/order:4|M2L/(direct|rotation)/order:6)/float)/"

    def run(self):
        last = 10**6 if self.quick else 10**7
        results = []
        environment = ({"OMP_NUM_THREADS": str(self.all_cores)} if self.backend == "openmp" else {})
        try:
            for n in sizes(1000, self.options.last or last, 2 if self.quick else 4):
                print(f"N = {n}", flush=True)
                chosen = ["--benchmark_filter=" + self.OPERATORS, f"--fmm_n={n}",
                          f"--fmm_leaf={FIRST_LEAF[self.backend]}", "--fmm_model=cube"]
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
            found.append({"operator": operator, "n": None if operator.startswith("peak/") else n,
                          "seconds": 1e-3 * middle["real_time"],
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
        for peak in dict.fromkeys(r["operator"] for r in results if r["n"] is None):
            for key in ("issued_flops_per_second", "bytes_per_second"):
                most = max((r[key] for r in results if r["operator"] == peak and key in r), default=0)
                if most:
                    print(f"{peak}: {most:.3g} {key.replace('_per_second', '')}/s")

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
