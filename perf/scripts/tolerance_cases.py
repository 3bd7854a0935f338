#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether a tolerance is held, over random cases of many kinds of bodies.

    perf/scripts/tolerance_cases.py build/tolerance_cases cases.jsonl --cases 10000 [--seed 1] [--largest 1e5]
        [--check 100000] [--backend openmp] [--of potential] [--norm p99] [--method treecode] [--seconds 3000]

Runs the program and adds its lines to the file, one a case. A run that was interrupted goes on after the last whole
line; cases of several seeds may share a file. Then it says, kind by kind, how many cases were over their tolerance
and how many were refused, the largest error in tolerances and the median. Exits 1 if a case is over, if more than one of
a hundred are refused, or one that its precision never refuses.
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys
import time


NEVER_REFUSED = {"double": 1e-10, "mixed": 1e-5}  # refusals of tolerances from these on are errors


def whole_lines(path):
    """The cases in the file; what an interrupted run left of a line is cut off."""
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        text = file.read()
    whole = text[:text.rfind(b"\n") + 1]
    if whole != text:
        with open(path, "wb") as file:
            file.write(whole)
    return [json.loads(line) for line in whole.decode("utf-8").splitlines()]


def run(options, first):
    """Adds cases from `first` on to the file, until all are there or the time is over."""
    line = [options.program, "--first", str(first), "--last", str(options.cases), "--seed", str(options.seed),
            "--largest", repr(options.largest), "--check", str(options.check)]
    for word in ("backend", "reference", "ask", "least", "of", "norm", "method"):
        if getattr(options, word):
            line += [f"--{word}", str(getattr(options, word))]
    end = time.monotonic() + options.seconds if options.seconds else None
    with open(options.file, "ab") as file, subprocess.Popen(line, stdout=subprocess.PIPE) as process:
        for case in process.stdout:
            if not case.startswith(b"{"):
                continue  # what Kokkos has to say
            file.write(case)
            file.flush()
            if end and time.monotonic() > end:
                process.terminate()
                return
    if process.returncode != 0:
        sys.exit(f"{' '.join(line)}: exit status {process.returncode}")


def ratio(case):
    norm = case.get("norm", "l2")
    of = {"field": [norm], "potential": [f"potential_{norm}"],
          "both": [norm, f"potential_{norm}"]}[case.get("of", "field")]
    return max(case[error] for error in of) / case["tolerance"]


def of_twice(case):
    """What came of twice the tolerance that a refusal named."""
    twice = case["twice"]
    return f"at {twice['tolerance']:.2e}: " + (
        f"refused: {twice['refused']}" if "refused" in twice else f"{ratio(case | twice):.3g} tolerances")


def summary(cases):
    """The table's rows: kind, cases, over, refused, largest and median of error / tolerance."""
    kinds = collections.defaultdict(list)
    for case in cases:
        kinds[case["kind"]].append(case)
    kinds["all"] = cases
    for kind, some in kinds.items():
        held = [ratio(case) for case in some if "l2" in case]
        yield (kind, len(some), sum(not value <= 1 for value in held), len(some) - len(held),
               max(held, default=0), statistics.median(held) if held else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("file", help="of cases, one JSON object a line")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, help="N at least [1000]")
    parser.add_argument("--largest", type=float, default=1e5, help="N at most")
    parser.add_argument("--check", type=lambda text: int(float(text)), default=100000,
                        help="bodies at which errors are measured")
    parser.add_argument("--backend", default="")
    parser.add_argument("--reference", help="the backend of direct sums [that of the solver]")
    parser.add_argument("--ask", metavar="FOLDER", help="where other programs, with --answer FOLDER, measure errors")
    parser.add_argument("--of", choices=["field", "potential", "both"], help="what tolerances are of")
    parser.add_argument("--norm", choices=["l2", "p99"])
    parser.add_argument("--method", choices=["fmm", "treecode"])
    parser.add_argument("--seconds", type=float, help="end after so many; the next run goes on")
    options = parser.parse_args()

    def is_asked_for(case):
        return case["seed"] == options.seed and all(
            case.get(word, usual) == (getattr(options, word) or usual)
            for word, usual in (("of", "field"), ("norm", "l2"), ("method", "fmm")))

    done = [case["case"] for case in whole_lines(options.file) if is_asked_for(case)]
    first = max(done, default=-1) + 1
    if first < options.cases:
        run(options, first)
    cases = whole_lines(options.file)
    print("| kind | cases | over | refused | largest error / tolerance | median |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind, count, over, refused, largest, median in summary(cases):
        print(f"| {kind} | {count} | {over} | {refused} | {largest:.3g} | {median:.2g} |")
    over, refused = [c for c in cases if "l2" in c and not ratio(c) <= 1], [c for c in cases if "refused" in c]
    for case in over:
        print(f"over: case {case['case']} of seed {case['seed']}, {case['kind']}, N {case['n']}, "
              f"{case['precision']}, tolerance {case['tolerance']:.2e}: {ratio(case):.3g} tolerances")
    for case in refused:
        print(f"refused: case {case['case']} of seed {case['seed']}, {case['kind']}, N {case['n']}: {case['refused']}")
        if "twice" in case:
            print("  " + of_twice(case))
    within = [c for c in refused if c["tolerance"] >= NEVER_REFUSED[c["precision"]]]
    print(f"{len(within)} of {len(refused)} refused though such a tolerance never is")
    over += [c for c in refused if "l2" in c.get("twice", ()) and not ratio(c | c["twice"]) <= 1]
    sys.exit(bool(over) or bool(within) or 100 * len(refused) > len(cases))


if __name__ == "__main__":
    main()
