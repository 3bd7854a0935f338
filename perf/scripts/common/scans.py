# SPDX-License-Identifier: BSD-3-Clause
"""What scripts share that scan settings of the FMM's dual traversal: their options, the lines of fmm_forces, the
rows that these give, and the file that keeps both (runs.py)."""
import argparse

from common.runs import Failed, Runs

FOUND = ("criterion", "theta", "pair_error", "leaf")  # for a tolerance; keys of a report


def parser_of(description, n, models, precisions, repeat):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("program")
    parser.add_argument("--report", required=True, help="JSON file for all that was measured")
    parser.add_argument("--n", type=lambda text: int(float(text)), default=n)
    parser.add_argument("--models", nargs="+", default=models)
    parser.add_argument("--precisions", nargs="+", choices=precisions, default=precisions)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--repeat", type=int, default=repeat)
    parser.add_argument("--check", type=int, default=4096, help="targets of the direct sum")
    parser.add_argument("--again", action="store_true", help="measure what is in the file anew")
    return parser


def line_of(options, model, words):
    """The words of a run of the FMM with these for its setting."""
    return ["--backend", options.backend, "--model", model, "--n", str(options.n), "--method", "fmm", *words,
            "--repeat", str(options.repeat), "--check", str(options.check)]


def words_of_charges(charges):
    return {"equal": [], "mixed": ["--charges", "mixed", "--kernel", "laplace"]}[charges]


def words_of(options, model, precision, order, criterion, parameter, value):
    return line_of(options, model, ["--traversal", "dual", "--precision", precision, "--order", str(order),
                                    "--criterion", criterion, f"--{parameter}", f"{value:g}"])


def row_of(entry):
    """What tables and figures take of every run."""
    return {"model": entry["input"], "seconds": entry["seconds"]["total"],
            **{key: entry["error"][key] for key in ("force_l2", "force_p99")},
            **{key: entry[key] for key in ("n", "precision", "order", "device", "backend", "threads",
                                           "commit")}}


def scan(options, experiment, settings_of, row_of_setting, print_rows):
    """Runs all settings_of(precision), tuples (order, criterion, parameter, value), for every model and
    precision. Keeps the rows, row_of and row_of_setting(entry, setting), as the file's results, prints those of each
    model and precision, and returns all of them."""
    runs = Runs(options.report, experiment, options.again)
    results = []
    for model in options.models:
        for precision in options.precisions:
            rows = []
            for setting in settings_of(precision):
                try:
                    entry, = runs.run(options.program, words_of(options, model, precision, *setting),
                                      "--report")
                    rows.append({**row_of(entry), **row_of_setting(entry, setting)})
                except Failed:
                    continue  # said when it was run, and kept in the file
            if rows:
                print_rows(rows)
            results += rows
    runs.data["results"] = results
    runs.save()
    return results
