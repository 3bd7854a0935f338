#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of what measures: arithmetic on curves, comparisons, runs that are kept, the experiments and
figures, and fmm_bench. The environment variable FMM_BUILD names the folder with the programs.
Arguments: as of unittest (names of the classes below)."""
import json
import math
import os
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(ROOT, "perf", "scripts")
sys.path[:0] = [SCRIPTS, os.path.join(ROOT, "tests")]

import accuracy  # noqa: E402
import bits  # noqa: E402
import compare  # noqa: E402
import criteria  # noqa: E402
import tolerance  # noqa: E402
from cases import FolderCase, backends_in  # noqa: E402
from common import curves, runs, search  # noqa: E402
from common.bounds import Platform, table_of  # noqa: E402

BUILD = os.environ.get("FMM_BUILD", os.path.join(ROOT, "build"))
QUICK = ("time", "--backend", "openmp", "--quick", "--threads", "2")


def host_backend():
    """OpenMP, or Serial where Kokkos has no OpenMP."""
    done = subprocess.run([os.path.join(BUILD, "fmm_forces"), "--model", "cube", "--backend", "none"],
                          capture_output=True, text=True)
    return "openmp" if "openmp" in backends_in(done.stderr) else "serial"


class Case(FolderCase):
    def write(self, name, data):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(data, file)
        return self.path(name)

    def script(self, name, *arguments, python=sys.executable):
        return subprocess.run([python, os.path.join(SCRIPTS, name), *map(str, arguments)],
                              capture_output=True, text=True)

    def measured_once(self, script, *arguments):
        """The data that the script writes, and what it prints; called again it runs no line and keeps the data."""
        report = self.path("report.json")
        line = (os.path.join(BUILD, "fmm_forces"), "--report", report, *arguments, "--backend", host_backend())
        done = self.script(script, *line)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        data = runs.load(report)
        again = self.script(script, *line)
        self.assertNotIn("--method", again.stdout)
        self.assertEqual(runs.load(report), data)
        return data, done.stdout


def power(factor, exponent, sizes):
    return [(n, factor * n**exponent) for n in sizes]


class Curves(Case):
    SIZES = curves.sizes(1000, 10**6, 4)

    def test_sizes(self):
        self.assertEqual(self.SIZES[:5], [1000, 1778, 3162, 5623, 10000])
        self.assertEqual((self.SIZES[-1], len(self.SIZES)), (10**6, 13))
        self.assertEqual(curves.sizes(1000, 31623, 2), [1000, 3162, 10000, 31623])
        self.assertEqual(curves.sizes(1000, 1000, 4), [1000])

    def test_a_crossover_is_found_between_points(self):
        for where in (2345, 31416, 999999):
            found = curves.crossover(power(1, 2, self.SIZES), power(where, 1, self.SIZES))
            self.assertAlmostEqual(found.n / where, 1, places=9)
            self.assertLessEqual(found.between[0], where)
            self.assertGreater(found.between[1], where)

    def test_the_last_crossing_counts(self):
        slower = [(1, 1.0), (10, 1.0), (100, 1.0), (1000, 1.0)]
        faster = [(1, 0.5), (10, 2.0), (100, 2.0), (1000, 0.5)]
        self.assertAlmostEqual(curves.crossover(slower, faster).n, 10**2.5, places=6)

    def test_no_crossing(self):
        low, high = power(1, 1, self.SIZES), power(2, 1, self.SIZES)
        self.assertTrue(curves.crossover(high, low).always)
        self.assertTrue(curves.crossover(low, high).never)
        self.assertTrue(curves.crossover(low, low).never)
        self.assertEqual(curves.crossover(high, low).text(), "below 1e+03")
        self.assertEqual(curves.crossover(low, high).text(), "above 1e+06")
        self.assertEqual(curves.crossover([], low).text(), "-")

    def test_only_common_sizes_are_compared(self):
        found = curves.crossover(power(1, 2, [10, 1000]), power(100, 1, [10, 50, 1000, 5000]))
        self.assertAlmostEqual(found.n, 100, places=6)

    def test_direct_sums_are_extrapolated_by_pairs(self):
        measured = [(n, 3e-9 * n * (n - 1) + (1 if n == 10 else 0)) for n in (10, 1000, 20000)]
        for n in (50000, 10**8):
            self.assertAlmostEqual(curves.extrapolate_direct(measured, n) / (3e-9 * n * (n - 1)), 1)

    def test_interpolation(self):
        curve = power(2, 1.5, [100, 1000, 10000])
        for n in (100, 250, 1000, 7000, 10000):
            self.assertAlmostEqual(curves.interpolate(curve, n) / (2 * n**1.5), 1)
        self.assertIsNone(curves.interpolate(curve, 99))
        self.assertIsNone(curves.interpolate(curve, 10001))
        self.assertIsNone(curves.interpolate([], 1))

    def test_portability_is_a_harmonic_mean(self):
        self.assertAlmostEqual(curves.portability([0.5, 0.25]), 1 / 3)
        self.assertAlmostEqual(curves.portability([0.7]), 0.7)
        self.assertEqual(curves.portability([0.5, None]), 0)
        self.assertEqual(curves.portability([]), 0)


def report(seconds, **changes):
    middle = sorted(seconds)[len(seconds) // 2]
    return [{"method": "fmm", "traversal": "dual", "order": 5, "theta": 0.6, "n": 1000, "seed": 1,
             "seconds": {"total": middle, "all": seconds}, **changes}]


class Comparison(Case):
    BEFORE = [1.00, 1.01, 0.99, 1.00, 1.02]

    def compared(self, before, after, *more):
        done = self.script("compare.py", self.write("a.json", before), self.write("b.json", after),
                           *more)
        return done.returncode, done.stdout + done.stderr

    def test_noise_is_no_regression(self):
        code, text = self.compared(report(self.BEFORE), report([1.02, 1.03, 1.01, 1.02, 1.03]))
        self.assertEqual(code, 0, text)
        self.assertIn("1 entries compared, 0 regressions", text)

    def test_a_regression_fails(self):
        code, text = self.compared(report(self.BEFORE), report([1.10, 1.11, 1.09, 1.10, 1.12]))
        self.assertEqual(code, 1, text)
        self.assertIn("REGRESSION", text)
        # the same growth in the noise of a busy machine is none
        code, text = self.compared(report([0.8, 1.0, 1.2, 0.9, 1.1]),
                                   report([0.9, 1.1, 1.3, 1.0, 1.2]))
        self.assertEqual(code, 0, text)

    def test_a_gain_passes(self):
        code, text = self.compared(report(self.BEFORE), report([0.80, 0.81, 0.79]))
        self.assertEqual(code, 0, text)
        self.assertIn("faster", text)

    def test_one_of_many_entries(self):
        before = [entry for n in (1, 2, 3) for entry in report(self.BEFORE, n=n)]
        after = [entry for n in (1, 2, 3)
                 for entry in report([t * (1.5 if n == 2 else 1) for t in self.BEFORE], n=n)]
        code, text = self.compared(before, after)
        self.assertEqual(code, 1, text)
        self.assertIn("3 entries compared, 1 regressions", text)
        self.assertEqual([line.endswith("n 2, seed 1") for line in text.splitlines()
                          if line.startswith("REGRESSION")], [True])

    def test_entries_without_repeats_take_the_files_noise(self):
        before = report(self.BEFORE) + report([1.0], n=2)
        self.assertEqual(self.compared(before, report(self.BEFORE) + report([1.03], n=2))[0], 0)
        self.assertEqual(self.compared(before, report(self.BEFORE) + report([1.2], n=2))[0], 1)

    def test_what_cannot_be_compared(self):
        code, text = self.compared(report([1.0]), report([1.1]))
        self.assertEqual(code, 2)
        self.assertIn("--noise", text)
        self.assertEqual(self.compared(report([1.0]), report([1.1]), "--noise", "0.1")[0], 0)
        self.assertEqual(self.compared(report([1.0]), report([1.1]), "--noise", "0.01")[0], 1)
        self.assertEqual(self.compared(report(self.BEFORE), report(self.BEFORE, n=7))[0], 2)
        self.assertEqual(self.compared({"other": 1}, report(self.BEFORE))[0], 2)
        done = self.script("compare.py", self.path("missing"), self.path("missing"))
        self.assertEqual(done.returncode, 2)

    def test_benchmarks(self):
        def file(times):
            runs_ = [{"run_type": "iteration", "run_name": "M2L/n:3", "real_time": t,
                      "time_unit": "ms"} for t in times]
            return {"context": {}, "benchmarks": runs_ + [
                {"run_type": "aggregate", "run_name": "M2L/n:3", "real_time": 99,
                 "time_unit": "ms"}]}

        self.assertEqual(compare.entries_of(file([1, 2])), {"M2L/n:3": [0.001, 0.002]})
        self.assertEqual(self.compared(file(self.BEFORE), file(self.BEFORE))[0], 0)
        self.assertEqual(self.compared(file(self.BEFORE), file([2 * t for t in self.BEFORE]))[0], 1)

    def test_experiments(self):
        def file(times):
            point = {"variant": "best", "method": "fmm", "resource": "GPU", "n": 5, "all": times,
                     "extrapolated": False, "leaf": len(times)}
            return {"experiment": "time", "results": [
                point, {**point, "method": "direct", "extrapolated": True}]}

        self.assertEqual(len(compare.entries_of(file([1]))), 1)
        self.assertEqual(self.compared(file(self.BEFORE), file(self.BEFORE[:4]))[0], 0)
        self.assertEqual(self.compared(file(self.BEFORE), file([2 * t for t in self.BEFORE]))[0], 1)


class Running(Case):
    """Runs are kept, whatever ends the experiment."""

    PROGRAM = """#!{python}
import json, sys, time
open({log!r}, "a").write(" ".join(sys.argv[1:3]) + "\\n")
if sys.argv[1] == "--fail":
    sys.exit("out of memory")
if sys.argv[1] == "--sleep":
    time.sleep(60)
json.dump([int(sys.argv[2])], open(sys.argv[4], "w"))
"""

    def setUp(self):
        super().setUp()
        self.program = self.path("program")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(self.PROGRAM.format(python=sys.executable, log=self.path("log")))
        os.chmod(self.program, 0o755)

    def calls(self):
        with open(self.path("log"), encoding="utf-8") as file:
            return file.read().splitlines()

    def kept(self, **options):
        return runs.Runs(self.path("kept.json"), "time", **options)

    def run_it(self, kept, *words):
        return kept.run(self.program, list(words), "--report")

    def test_a_line_runs_once(self):
        for _ in range(2):
            kept = self.kept()
            for _ in range(2):
                self.assertEqual(self.run_it(kept, "--n", "7"), [7])
        self.assertEqual(self.calls(), ["--n 7"])
        kept = self.kept(again=True)
        for _ in range(2):
            self.assertEqual(self.run_it(kept, "--n", "7"), [7])
        self.assertEqual(self.calls(), ["--n 7"] * 2)

    def test_lines_run_at_once(self):
        kept = self.kept()
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda n: self.run_it(kept, "--n", str(n)), range(16)))
        self.assertEqual(found, [[n] for n in range(16)])
        self.assertEqual(len(runs.load(self.path("kept.json"))["runs"]), 16)
        self.assertEqual(sorted(self.calls()), sorted(f"--n {n}" for n in range(16)))

    def test_failures_are_kept(self):
        for _ in range(2):
            with self.assertRaisesRegex(runs.Failed, "out of memory"):
                self.run_it(self.kept(), "--fail", "1")
        self.assertEqual(len(self.calls()), 1)

    def test_a_run_has_a_limit(self):
        with self.assertRaisesRegex(runs.Failed, "longer than"):
            self.run_it(self.kept(limit=1), "--sleep", "1")

    def test_the_end_of_the_time_loses_nothing(self):
        kept = self.kept(seconds=1.5)
        self.assertEqual(self.run_it(kept, "--n", "7"), [7])
        with self.assertRaises(runs.OutOfTime):
            self.run_it(kept, "--sleep", "1")
        with self.assertRaises(runs.OutOfTime):
            self.run_it(kept, "--n", "8")
        kept = self.kept()
        self.assertEqual(self.run_it(kept, "--n", "7"), [7])
        self.assertEqual(self.calls(), ["--n 7", "--sleep 1"])

    def test_the_file_of_another_experiment_stays(self):
        self.write("kept.json", {"experiment": "flops", "runs": {}})
        with self.assertRaises(SystemExit):
            self.kept()


class Experiments(Case):
    def test_settings_are_tightened_to_the_end(self):
        for start in ({"order": 4, "theta": 0.65}, {"order": 6},
                      {"order": 6, "pair_error": 2.4e-4}):
            setting, steps = start, 0
            while setting is not None:
                last, setting = setting, search.tightened(setting, [4, 5, 6, 8])
                steps += 1
                self.assertLess(steps, 100)
            if "pair_error" in start:
                self.assertLess(last["pair_error"], 2e-6)
            else:
                self.assertEqual(last["order"], 8)

    def test_climbing_finds_the_valley(self):
        asked = []

        def cost(step):
            asked.append(step)
            return None if step > 30 else abs(step - 21) + 1

        self.assertEqual(search.climb(10, list(range(40)), cost), (21, 1))
        self.assertEqual(len(asked), len(set(asked)))
        self.assertEqual(search.climb(25, list(range(40)), cost), (21, 1))
        self.assertEqual(search.climb(0, [0], lambda _: None), (None, None))

    def test_dry_runs(self):
        for arguments in (QUICK, QUICK + ("--same-depth",), ("time", "--backend", "cuda"),
                          ("breakdown", "--backend", "cuda"), ("flops", "--backend", "serial")):
            done = self.script("experiments.py", *arguments, "--dry-run", "--folder", self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
            self.assertNotIn("the chapter's statement", done.stdout)  # nothing was measured
            self.assertEqual(os.listdir(self.folder), [])
            if arguments[0] == "time":
                for method in ("direct", "treecode", "fmm"):
                    self.assertIn(f"--method {method} ", done.stdout)
                self.assertIn("--n 1000 ", done.stdout)
                last = 10**6 if "--quick" in arguments else 10**8
                self.assertIn(f"--n {last} ", done.stdout)

    def test_the_script_is_the_same(self):
        arguments = ("--dry-run", "--folder", self.folder)
        script = subprocess.run([os.path.join(ROOT, "scripts", "experiments"), *QUICK, *arguments],
                                capture_output=True, text=True)
        self.assertEqual((script.returncode, script.stderr), (0, ""))
        self.assertEqual(script.stdout,
                         self.script("experiments.py", *QUICK, *arguments).stdout)

    def test_wrong_arguments(self):
        for arguments in ((), ("time",), ("time", "--backend", "abacus"),
                          ("flops", "--backend", "openmp", "--same-depth"),
                          (*QUICK, "--last", "10"), (*QUICK, "--threads", "0")):
            self.assertEqual(self.script("experiments.py", *arguments).returncode, 2, arguments)

    def quick(self, backend, *more):
        done = self.script("experiments.py", "time", "--backend", backend, "--quick", "--threads", 2,
                           "--last", 3162, "--build", BUILD, "--folder", self.folder, *more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_experiment_and_its_restart(self):
        backend = host_backend()
        text = self.quick(backend)
        self.assertIn("treecode below direct", text)
        name = self.path(f"time-{backend}-quick.json")
        data = runs.load(name)
        points = data["results"]
        resources = 2 if backend == "openmp" else 1
        self.assertEqual(len(points), 2 * resources * 3)  # sizes, resources, methods
        for point in points:
            self.assertLessEqual(point["force_l2"], search.TOLERANCE)
            self.assertEqual(point["seconds"], sorted(point["all"])[len(point["all"]) // 2])
        again = self.quick(backend)
        self.assertNotIn("--method", again)  # no line is run
        self.assertEqual(runs.load(name), data)
        self.quick(backend, "--same-depth")
        both = runs.load(name)["results"]
        self.assertEqual(len(both), 2 * len(points))
        depths = {}
        for point in both:
            if point["variant"] == "same-depth" and point["method"] != "direct":
                self.assertEqual(point["tree"], "uniform")
                depths.setdefault((point["n"], point["resource"]), set()).add(point["depth"])
        self.assertEqual({len(found) for found in depths.values()}, {1})


    def test_rows_of_a_cpu(self):
        name = self.path("rows.json")
        done = self.script("rows.py", os.path.join(BUILD, "fmm_forces"), "--report", name, "--n", 3000,
                           "--rows", "10^6 cube", "--backend", host_backend())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [[cell.strip() for cell in line.strip("| ").split("|")]
                for line in done.stdout.splitlines()[2:]]
        self.assertEqual([row[0] for row in rows],
                         ["10^6 cube", "10^6 cube, double", "10^6 cube, double"])
        for row in rows:
            self.assertLess(float(row[4]), 10 * float(row[1]))
        with open(name, encoding="utf-8") as file:
            self.assertEqual([entry["method"] for entry in json.load(file)], ["direct", "fmm"] * 3)

    def test_accuracy(self):
        data, _ = self.measured_once("accuracy.py", "--models", "cube", "--n", 3000, "--precisions", "float",
                                     "double", "--orders", 2, 4, 8, "--thetas", 0.5, 0.7, "--repeat", 1, "--check", 500)
        errors = {(row["precision"], row["order"], row["theta"]): row["force_l2"]
                  for row in data["results"]}
        self.assertEqual(len(errors), 12)
        for theta in (0.5, 0.7):
            self.assertLess(errors["double", 8, theta], 0.1 * errors["double", 4, theta])
            self.assertLess(errors["double", 4, theta], 0.3 * errors["double", 2, theta])
        for order in (2, 4, 8):
            self.assertLess(errors["double", order, 0.5], errors["double", order, 0.7])
        rows = data["results"]
        best = accuracy.fastest(rows, 1e-3)
        self.assertLessEqual(best["force_l2"], 1e-3)
        self.assertEqual(best["seconds"],
                         min(row["seconds"] for row in rows if row["force_l2"] <= 1e-3))
        self.assertIsNone(accuracy.fastest(rows, 0))

    def test_by_hand(self):
        data, printed = self.measured_once("by_hand.py", "--models", "cube", "--n", 1500, "--precisions", "float",
                                           "--orders", 3, 6, "--thetas", 0.5, 0.7, "--repeat", 1, "--check", 300,
                                           "--draws", 4, "--jobs", 2)
        rows = data["results"]
        self.assertEqual([row["tolerance"] for row in rows], sorted((row["tolerance"] for row in rows),
                                                                    reverse=True))
        self.assertGreaterEqual(len(rows), 2)
        for row in rows:
            self.assertLessEqual(row["hand"]["force_l2"], row["tolerance"])
            self.assertLessEqual(row["library"]["force_l2"], row["tolerance"])
            self.assertIn(row["hand"]["order"], (3, 6))
            self.assertEqual(row["ratio"], row["library"]["seconds"] / row["hand"]["seconds"])
            setting = f"--order {row['hand']['order']} --criterion radius --theta {row['hand']['theta']:g} "
            draws = [run[0] for words, run in data["runs"].items() if setting in words and "--seed" in words
                     and f"--leaf {row['hand']['leaf']} " in words]
            self.assertGreaterEqual(len(draws), 3)
            for entry in draws:
                self.assertLessEqual(entry["error"]["force_l2"], row["tolerance"])
        self.assertIn("largest ratio", printed)

    def test_by_hand_of_own_errors(self):
        data, _ = self.measured_once("by_hand.py", "--models", "cube", "--n", 1500, "--precisions", "double",
                                     "--orders", 4, "--thetas", 0.4, 0.6, "--repeat", 1, "--check", 300, "--draws", 2,
                                     "--norm", "p99", "--tolerances", 1e-2)
        row, = data["results"]
        self.assertEqual((row["norm"], row["tolerance"]), ("p99", 1e-2))
        for who in ("hand", "library"):
            self.assertLessEqual(row[who]["force_p99"], 1e-2)
        self.assertTrue(any("--error-norm p99" in words for words in data["runs"]))

    def test_precisions(self):
        data, _ = self.measured_once("precisions.py", "--models", "cube", "--n", 3000, "--repeat", 1, "--check", 500)
        errors = {row["precision"]: row["force_l2"] for row in data["results"]}
        self.assertEqual(list(errors), ["float", "mixed", "mixed in one part", "double"])
        self.assertNotEqual(errors["mixed"], errors["mixed in one part"])
        for row in data["results"]:
            self.assertLess(0, row["p2p_seconds"])
            self.assertLess(row["force_l2"], 1e-3)

    def test_softening(self):
        data, _ = self.measured_once("softening.py", "--n", 2000, "--check", 300)
        rows = {(row["model"], row["kind"], row["spacings"]): row for row in data["results"]}
        self.assertEqual(len(rows), 36)
        for model in ("cube", "plummer"):
            self.assertLess(rows[model, "Plummer", 10]["force_l2"], 1e-6)
            self.assertGreater(rows[model, "Plummer, no distance kept", 10]["force_l2"], 3e-3)
            self.assertLess(rows[model, "spline", 1]["pairs_per_body"], rows[model, "Plummer", 1]["pairs_per_body"])

    def test_time_at_an_error(self):
        known = [(1e-6, 4.0), (1e-4, 1.0), (1e-5, 2.0)]
        self.assertAlmostEqual(criteria.seconds_at(1e-5, known), 2)
        self.assertAlmostEqual(criteria.seconds_at(10**-4.5, known), 2**0.5)
        self.assertAlmostEqual(criteria.seconds_at(1e-3, known), 1)
        self.assertIsNone(criteria.seconds_at(1e-7, known))
        self.assertIsNone(criteria.seconds_at(1e-7, []))

    def test_criteria(self):
        data, printed = self.measured_once("criteria.py", "--models", "plummer", "--n", 2000, "--precisions",
                                           "double", "--orders", 4, 4, "--repeat", 1, "--check", 500)
        for criterion, (parameter, values) in criteria.SCANS.items():
            rows = [row for row in data["results"] if row["criterion"] == criterion]
            self.assertEqual([row["value"] for row in rows], values["double"])
            self.assertLess(rows[-1]["force_l2"], 0.1 * rows[0]["force_l2"])
            self.assertGreater(rows[-1]["p2p_per_body"] + rows[-1]["m2l_per_body"],
                               rows[0]["p2p_per_body"] + rows[0]["m2l_per_body"])
            self.assertIn(f"{parameter} {values['double'][0]:g}", printed)


def flops_results(space, device, scale=1.0, peak=1e12):
    facts = {"device": device, "space": space, "threads": "4"}
    rates = {"P2P/all": ("pairs", 21, 0.5), "P2P/near": ("pairs", 21, 0.25),
             "M2P/order:4": ("evaluations", 164, 0.3), "M2L/rotation/order:6": ("translations", 2231,
                                                                             0.2)}
    results = [{"operator": "peak/multiply-add/float", "n": None, "issued_flops_per_second": peak,
                **facts},
               {"operator": "peak/copy", "n": None, "bytes_per_second": 1e11, **facts}]
    for operator, (items, flops, share) in rates.items():
        for n in (1000, 10000):
            rate = share * scale * peak * n / 10000
            results.append({"operator": operator, "n": n, "seconds": 1, "all": [1],
                            f"{items}_per_second": rate / flops, "issued_flops_per_second": rate,
                            "flops_per_second": rate, "bytes_per_second": rate / 100, **facts})
    return results


def time_results():
    return [{"variant": "best", "resource": resource, "method": method, "n": n, "device": "machine",
             "seconds": time, "all": [time], "extrapolated": method == "direct" and n > 10**5,
             "stages": {}}
            for resource in ("1 core", "4 cores")
            for method, curve in (("direct", power(1e-9, 2, Curves.SIZES)),
                                  ("treecode", power(1e-5, 1.1, Curves.SIZES)),
                                  ("fmm", power(2e-5, 1, Curves.SIZES)))
            for n, time in curve]


def breakdown_results():
    return [{"variant": "best", "resource": "4 cores", "method": method, "n": 1000, "order": 4,
             "device": "machine", "depth": 3, "seconds": 2.0, "flops": 20e9 + 1e9,
             "memory_bytes": 10**8, "interactions": {"p2p_pairs": 10**9},
             "stages": {"sort": 0.5, "p2p": 1.5}} for method in ("treecode", "fmm")]


def criteria_results():
    return [{"device": "machine", "model": model, "n": 1000, "precision": precision, "order": 5,
             "criterion": criterion, "seconds": 1 / error, "force_l2": error, "force_p99": 3 * error}
            for model in ("cube", "plummer") for precision in ("float", "double")
            for criterion in ("radius", "field", "power", "relative") for error in (1e-3, 1e-5)]


def lists_results():
    return [{"device": "machine", "model": model, "n": 1000, "precision": "float", "order": order,
             "seconds": order, "force_l2": 10.0**-order, "force_p99": 3 * 10.0**-order}
            for model in ("cube", "plummer") for order in (8, 3)]


def accuracy_results():
    return [{"device": "machine", "model": model, "n": 1000, "precision": precision, "order": order,
             "theta": theta, "force_l2": theta**order, "seconds": order / theta}
            for model in ("cube", "plummer") for precision in ("float", "mixed", "double")
            for order in (2, 4, 8) for theta in (0.5, 0.7)]


class Limits(Case):
    """perf/scripts/limits.py reads what ncu writes."""

    STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
    HEADER = ["ID", "Kernel Name", "gpu__time_duration.sum", "launch__registers_per_thread",
              STALL.format("dispatch_stall"), STALL.format("selected"), STALL.format("wait")]
    UNITS = ["", "", "us", "register/thread", "", "", ""]
    M2L = ("void Kokkos::launch<Kokkos::Impl::ParallelFor<fmm::kernels::Gather<Kokkos::Cuda, fmm::kernels::M2L<"
           "Kokkos::Cuda>>>>(T1)")
    BOUNDS = ("void Kokkos::cuda_parallel_launch<Kokkos::Impl::ParallelReduce<Kokkos::Impl::CombinedFunctorReducer<"
              "Kokkos::Impl::CombinedReductionFunctorWrapper<fmm::tree::Bounds<Kokkos::Cuda>>>>>(T1)")
    SORT = "void cub::RadixSort<cub::policy>(T1)"

    def table(self, *launches):
        lines = [self.HEADER, self.UNITS, *([str(i), *row] for i, row in enumerate(launches))]
        with open(self.path("ncu.csv"), "w", encoding="utf-8") as file:
            file.write("==PROF== Connected\n"
                       + "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines)
                       + "==PROF== Disconnected\n")
        return self.path("ncu.csv")

    def test_the_longest_launch_of_each_kernel(self):
        done = self.script("limits.py", self.table((self.M2L, "10.5", "96", "0.25", "1.0", "0.01"),
                                                   (self.M2L, "2,000", "128", "0.5", "1.0", "0.75"),
                                                   (self.BOUNDS, "3", "40", "0", "1.0", "0"),
                                                   (self.SORT, "4", "80", "0", "1.0", "0")))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), [
            {"kernel": "M2L", "stalls": {"dispatch": 0.5, "wait": 0.75}, "milliseconds": 2, "registers": 128},
            {"kernel": "Bounds", "stalls": {}, "milliseconds": 0.003, "registers": 40},
            {"kernel": "RadixSort", "stalls": {}, "milliseconds": 0.004, "registers": 80}])

    def test_a_file_without_a_table(self):
        done = self.script("limits.py", self.write("empty.csv", {}))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no table of ncu", done.stderr)


class Figures(Case):
    def test_fractions_of_bounds(self):
        platform = Platform(flops_results("OpenMP", "machine"), breakdown_results())
        found = platform.efficiencies()
        self.assertAlmostEqual(found["P2P, all pairs"], 0.5)
        self.assertAlmostEqual(found["M2L, order 6"], 0.2)
        self.assertAlmostEqual(found["whole FMM"], (21e9 + 1e9) / 1e12 / 2)
        other = Platform(flops_results("Serial", "machine", 0.5))
        rows = {what: mean for what, _, mean in table_of([platform, other])}
        self.assertAlmostEqual(rows["P2P, all pairs"], 2 / (1 / 0.5 + 1 / 0.25))
        self.assertEqual(rows["whole FMM"], 0)  # not measured on the other one

    def test_memory_bounds_what_it_must(self):
        results = flops_results("OpenMP", "machine")
        for result in results:
            if result["operator"] == "P2P/all":
                result["bytes_per_second"] = 1e11 * result["n"] / 20000
        self.assertAlmostEqual(Platform(results).efficiency("P2P/all"), 0.5)
        for result in results:
            if result["operator"] == "P2P/all":
                result["bytes_per_second"] = 0.9e11 * result["n"] / 10000
        self.assertAlmostEqual(Platform(results).efficiency("P2P/all"), 0.9)

    def test_counted_bounds_come_first(self):
        known = [{"device": "chip", "space": "Cuda",
                  "bounds": {"P2P": {"value": 1e11}, "flops": {"value": 5e12}}}]
        platform = Platform(flops_results("Cuda", "fast chip 3"), (), known)
        self.assertAlmostEqual(platform.efficiency("P2P/all"), 0.5e12 / 21 / 1e11)
        self.assertAlmostEqual(platform.efficiency("M2L/rotation/order:6"), 0.2 / 5)
        # a processor of the same machine is another platform
        self.assertEqual(Platform(flops_results("OpenMP", "fast chip 3"), (), known).known, {})

    def test_slots_share_the_pipes_of_multiply_adds(self):
        known = [{"device": "", "space": "OpenMP, Serial", "bounds": {"P2P": {"slots": 10}}}]
        for space in ("OpenMP", "Serial"):
            platform = Platform(flops_results(space, "machine"), (), known)
            self.assertAlmostEqual(platform.efficiency("P2P/all"), 0.5e12 / 21 / (1e12 / 2 / 10))
        self.assertEqual(Platform(flops_results("Cuda", "machine"), (), known).known, {})

    def test_every_figure_is_drawn(self):
        python = next((p for p in (sys.executable, "/usr/bin/python3") if os.path.exists(p)
                       and subprocess.run([p, "-c", "import matplotlib"],
                                          capture_output=True).returncode == 0), None)
        if not python:
            self.skipTest("no python3 with matplotlib")
        data = self.path("data")
        os.mkdir(data)
        for name, results in (("time", time_results()), ("breakdown", breakdown_results()),
                              ("flops", flops_results("OpenMP", "machine")),
                              ("criteria", criteria_results()), ("classic lists", lists_results()),
                              ("accuracy", accuracy_results())):
            self.write(f"data/{name}-openmp.json",
                       {"experiment": name, "runs": {}, "results": results})

        def drawn(out):
            done = self.script("plot.py", "--all", "--data", data, "--out", out, python=python)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            pictures = {}
            for name in os.listdir(out):
                with open(os.path.join(out, name), "rb") as file:
                    pictures[name] = file.read()
            return pictures

        first = drawn(self.path("one"))
        self.assertEqual(set(first), {"time-best.svg", "stages.svg", "gflops.svg", "roofline.svg",
                                      "portability.svg", "criteria.svg", "accuracy.svg",
                                      "fastest.svg"})
        for picture in first.values():
            self.assertIn(b"</svg>", picture)
        self.assertEqual(first, drawn(self.path("two")))  # the same bytes


class Tolerances(Case):
    """perf/scripts/tolerance.py: random cases hold their tolerances, and one that does not is told."""

    CASES = 18

    def test_random_cases_hold(self):
        report = self.path("cases.json")
        done = self.script("tolerance.py", os.path.join(BUILD, "fmm_forces"), "--backend", host_backend(),
                           "--cases", self.CASES, "--largest", "6e4", "--check", "6e4", "--seed", 11,
                           "--report", report)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        cases = runs.load(report)
        self.assertEqual(len(cases), self.CASES)
        self.assertEqual({case["model"] for case in cases}, set(tolerance.MODELS))
        self.assertGreater(sum(case["n"] >= 20000 for case in cases), 3)  # limits are found for these
        for case in cases:
            self.assertEqual(case["error"]["samples"], case["n"])
            self.assertLess(case["error"]["force_l2"], case["tolerance"])

    def test_lattices(self):
        data, text = self.measured_once("lattices.py", "--sides", "8", "--moved", "0", "0.3", "--folder",
                                        self.path("bodies"))
        self.assertEqual((len(data["results"]), data["refused"]), (3 * (7 + 4), []))
        self.assertEqual({row["moved"] for row in data["results"]}, {"random", 0, 0.3})
        for row in data["results"]:
            self.assertLess(row["error"], row["tolerance"])
            self.assertGreater(row["ms"], 0)
        self.assertIn("22 cases, 0 over, 0 refused", text)

    def test_kinds_of_bodies(self):
        file = self.path("cases.jsonl")
        words = ("tolerance_cases.py", os.path.join(BUILD, "tolerance_cases"), file, "--largest", "2e3",
                 "--backend", host_backend())
        self.script(*words, "--cases", 3)
        with open(file, "ab") as cut:
            cut.write(b'{"case": 3, "se')
        done = self.script(*words, "--cases", 6)
        with open(file, encoding="utf-8") as lines:
            cases = [json.loads(line) for line in lines]
        self.assertEqual([case["case"] for case in cases], list(range(6)), done.stderr)
        for case in cases:
            self.assertEqual(case["checked"], case["n"])
            self.assertLess(case["l2"], case["tolerance"])
        self.assertEqual(done.returncode, 0)
        self.assertIn("| all | 6 | 0 | 0 |", done.stdout)

    def test_more_threads_than_there_is_room_for(self):
        if host_backend() != "openmp":
            self.skipTest("threads are those of the OpenMP backend")
        done = subprocess.run([os.path.join(BUILD, "tolerance_cases"), "--last", "1", "--largest", "2e3"],
                              env=dict(os.environ, OMP_NUM_THREADS="600"), capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("OMP_NUM_THREADS = 600 is not allowed: 1 to 512", done.stderr)

    def test_errors_that_another_program_measures(self):
        program, folder = os.path.join(BUILD, "tolerance_cases"), self.path("questions")
        os.mkdir(folder)
        words = [program, "--first", "0", "--last", "4", "--largest", "2e3", "--backend", host_backend()]

        def cases(*more):
            done = subprocess.run([*words, *more], capture_output=True, text=True, check=True, timeout=300)
            found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            return [{key: value for key, value in case.items() if key != "first_seconds"} for case in found]

        with subprocess.Popen([program, "--answer", folder, "--backend", host_backend()],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as other:
            try:
                asked = cases("--ask", folder)
            finally:
                with open(os.path.join(folder, "end"), "w", encoding="utf-8"):
                    pass
            self.assertEqual(other.wait(timeout=60), 0)
        self.assertEqual(len(asked), 4)
        self.assertEqual(asked, cases())
        self.assertEqual(os.listdir(folder), ["end"])

    def test_kinds_that_err_or_are_refused_are_told(self):
        case = {"case": 0, "seed": 1, "kind": "cube", "n": 9, "precision": "double", "tolerance": 1e-3}
        for what, told in (({"l2": 2e-3}, "over: case 0 of seed 1, cube, N 9, double, tolerance 1.00e-03: 2 tolerances"),
                           ({"l2": float("nan")}, "nan tolerances"), ({"refused": "no"}, "N 9: no")):
            file = self.path("told.jsonl")
            with open(file, "w", encoding="utf-8") as lines:
                print(json.dumps({**case, **what}), file=lines)
            done = self.script("tolerance_cases.py", "none", file, "--cases", 1)
            self.assertEqual(done.returncode, 1)
            self.assertIn(told, done.stdout)
            self.assertIn(f"{int('refused' in what)} of {int('refused' in what)} refused though", done.stdout)

    def test_few_refusals_below_the_reach_are_allowed(self):
        file = self.path("told.jsonl")
        held = {"case": 0, "seed": 1, "kind": "cube", "n": 9, "precision": "mixed", "tolerance": 1e-3, "l2": 1e-4}
        refused = {"case": 1, "seed": 1, "kind": "escaper", "n": 9, "precision": "mixed", "refused": "no"}
        for tolerance, returncode in ((9e-6, 0), (1.1e-5, 1)):
            with open(file, "w", encoding="utf-8") as lines:
                for case in [held] * 199 + [{**refused, "tolerance": tolerance}]:
                    print(json.dumps(case), file=lines)
            done = self.script("tolerance_cases.py", "none", file, "--cases", 1)
            self.assertEqual((done.returncode, done.stderr), (returncode, ""))

    def test_a_case_over_its_tolerance_is_told(self):
        program = self.path("program")
        entry = {"order": 4, "criterion": "radius", "theta": 0.5, "pair_error": None, "leaf": 64,
                 "seconds": {"total": 1.0}, "error": {"force_l2": 0.5}, "backend": "openmp",
                 "device": "machine", "threads": 1, "versions": {}, "commit": "none"}
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable}\nimport json, sys\n"
                       f"json.dump([{entry!r}], open(sys.argv[sys.argv.index('--report') + 1], 'w'))\n")
        os.chmod(program, 0o755)
        done = self.script("tolerance.py", program, "--cases", 2, "--largest", 2000)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("2 cases, 2 over the tolerance", done.stdout)


class Bits(Case):
    """perf/scripts/bits.py: what changes bits or numbers of pairs is told."""

    def test_what_differs_is_named(self):
        before = self.path("before.json")
        done = self.script("bits.py", os.path.join(BUILD, "fmm_forces"), "--report", before, "--backends", "serial",
                           "--only", "--precision float")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        data = runs.load(before)
        self.assertEqual(len(data), 4)
        self.assertEqual(len({entry["bits"] for entry in data.values()}), 4)

        def compared(change):
            after = json.loads(json.dumps(data))
            change(next(iter(after.values())))
            done = self.script("bits.py", "--compare", before, self.write("after.json", after))
            return done.returncode, done.stdout

        self.assertEqual(compared(lambda entry: None), (0, "4 configurations: bits of 0 differ, numbers of 0\n"))
        code, text = compared(lambda entry: entry.update(bits="others"))
        self.assertEqual(code, 0)  # a quarter of them
        self.assertIn("bits differ: " + next(iter(data)), text)
        code, text = compared(lambda entry: entry["interactions"].update(p2p_pairs=1))
        self.assertEqual(code, 1)
        self.assertIn("numbers differ: " + next(iter(data)), text)

    def test_there_are_enough(self):
        names = [" ".join(words) + str(environment) for words, environment in bits.configurations(["serial", "openmp"])]
        self.assertGreater(len(set(names)), 60)
        self.assertEqual(len(set(names)), len(names))


class Benchmarks(Case):
    """fmm_bench runs everything it has, at a small size."""

    def bench(self, *arguments):
        return subprocess.run([os.path.join(BUILD, "fmm_bench"), *arguments], capture_output=True,
                              text=True)

    def test_every_kind(self):
        out = self.path("out.json")
        done = self.bench("--fmm_n=600,400", "--fmm_leaf=16", "--fmm_model=plummer",
                          "--benchmark_min_time=0.0001", f"--benchmark_out={out}",
                          "--benchmark_filter=-peak")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = runs.load(out)
        for key in ("compiler", "kokkos", "space", "device", "threads", "commit"):
            self.assertTrue(data["context"][key], key)
        found = {}
        for run in data["benchmarks"]:
            self.assertFalse(run.get("error_occurred"), run)
            self.assertGreater(run["real_time"], 0)
            kind = re.split("/(?:order|float|mixed|double)", run["name"])[0]
            found.setdefault(kind, []).append(run)
        kinds = {"bounds", "keys", "sort", "tree", "P2P/near", "P2P/all", "direct", "P2M", "P2L",
                 "M2P", "L2P", "treecode", "fmm"}
        kinds |= {f"lists/{kind}" for kind in ("barnes-hut", "classic", "radius", "field", "source")}
        kinds |= {f"{operator}/{scheme}" for operator in ("M2M", "M2L", "L2L")
                  for scheme in ("rotation", "direct")}
        if "kokkos_kernels" in data["context"] or "M2L/gemm" in found:
            kinds.add("M2L/gemm")
        self.assertEqual(set(found), kinds)
        for kind, runs_ in found.items():
            precisions = {precision for run in runs_ for precision in ("float", "mixed", "double")
                          if f"/{precision}/" in run["name"]}
            mixed = {"mixed"} if kind in ("P2P/near", "P2P/all", "direct") else set()
            self.assertEqual(precisions, {"float", "double"} | mixed, kind)
            self.assertTrue(any("/n:400/" in run["name"] for run in runs_), kind)
        for run in found["P2P/all"]:
            n = 600 if "/n:600/" in run["name"] else 400
            pairs = run["pairs_per_second"] * 1e-3 * run["real_time"]
            self.assertAlmostEqual(pairs / (n * (n - 1)), 1, places=4)
            self.assertAlmostEqual(run["flops_per_second"] / run["pairs_per_second"], 20, places=4)
        for kind in ("direct", "treecode", "fmm"):
            for run in found[kind]:
                self.assertTrue(0 <= run["force_l2"] < 0.2, run)
                self.assertGreater(run["bodies_per_second"], 0)
        errors = {run["name"].split("/")[1]: run["force_l2"] for run in found["fmm"]
                  if "/double/" in run["name"]}
        orders = sorted(errors, key=lambda name: int(name.split(":")[1]))
        if len(orders) > 1:
            self.assertLess(errors[orders[-1]], errors[orders[0]])

    def test_flops_of_each_order(self):
        lines = self.bench("--fmm_flops").stdout.splitlines()
        rows = [[int(cell) for cell in line.strip("| ").split("|")] for line in lines[2:]]
        self.assertTrue(rows)
        for p, m2l, m2l_theirs, direct, _, m2p, m2p_theirs, _ in rows:
            terms, coefficients = p + 1, (p + 1) * (p + 2) // 2
            self.assertEqual(m2l_theirs, 48 * coefficients**2)
            self.assertEqual(m2p_theirs, 56 * coefficients)
            if p < 2:
                continue
            # the listing's loops: every coefficient of the target with terms^2 of the source
            self.assertGreater(m2l, 17 * coefficients * terms**2)
            self.assertLess(m2l, m2l_theirs)
            self.assertGreater(m2p, 32 * coefficients)
            self.assertLess(m2p, m2p_theirs)
            self.assertLess(direct, m2l)

    def test_wrong_arguments(self):
        for flag in ("--fmm_n=0", "--fmm_n=1.5", "--fmm_n=ten", "--fmm_n=", "--fmm_leaf=0",
                     "--fmm_model=torus", "--fmm_wrong", "--benchmark_wrong"):
            self.assertEqual(self.bench(flag).returncode, 2, flag)
        self.assertIn("--fmm_n", self.bench("--help").stdout)


if __name__ == "__main__":
    unittest.main()
