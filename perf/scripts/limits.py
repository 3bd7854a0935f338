#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What limits each kernel: rows of ncu's metrics, as perf/results/h200-ncu.json has them.

    ncu --set full --kernel-name-base demangled --csv --page raw -k 'regex:M2M<|L2L<' -c 40 \\
        build-cuda/fmm_forces --backend cuda ... > sweeps.csv
    perf/scripts/limits.py sweeps.csv

Of the launches of one kernel in a file the longest is printed (a level's launches differ in size; the deepest
level's is what counts), as a JSON list: times in milliseconds, percentages of what is possible, and by reason
the warps stalled an issued instruction, those of at least 0.05.
"""
import argparse
import csv
import json
import pathlib
import re

COLUMNS = {
    "dram_pct": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex_pct": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "teams_by_registers": "launch__occupancy_limit_registers",
    "teams_by_scratch": "launch__occupancy_limit_shared_mem",
    "registers": "launch__registers_per_thread",
    "l2_pct": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "warp_instructions": "inst_executed",
    "alu_pipe_pct": "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
    "fma_pipe_pct": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    "fp64_pipe_pct": "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active",
    "lsu_pipe_pct": "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
    "xu_pipe_pct": "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
    "issue_slots_busy_pct": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "warps_active_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "threads_per_instruction": "smsp__thread_inst_executed_per_inst_executed.ratio",
}
STALLED = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)(?:_stall)?_per_issue_active\.ratio")
WRAPPERS = re.compile("cuda_parallel|Parallel|Combined")  # Kokkos' own, around a functor
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9,
               "nsecond": 1, "usecond": 1e3, "msecond": 1e6, "second": 1e9}


def number(text):
    """None for what ncu has no number for."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return int(value) if value.is_integer() else round(value, 2)


def launches(file):
    """(header -> value) of each launch, and the units of the columns."""
    lines = pathlib.Path(file).read_text().splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith('"ID"')]
    if len(starts) != 1 or starts[0] + 1 == len(lines):
        raise SystemExit(f"limits.py: {file} holds no table of ncu (--csv --page raw), or more than one")
    header, units, *rows = csv.reader(line for line in lines[starts[0]:] if line.startswith('"'))
    return [dict(zip(header, row)) for row in rows], dict(zip(header, units))


def name_of(demangled):
    """Of an operator 'M2L' (of 'ParallelFor<Gather<Cuda, M2L<...'), else the functor's or CUB's own name."""
    if "AllSources<" in demangled:
        return "all pairs"
    operator = re.search(r"\b([PML]2[PML])\w*<", demangled)
    names = [name for name in re.findall(r"\w+(?=[<,>])", demangled) if not WRAPPERS.match(name)]
    return operator.group(1) if operator else names[0] if names else demangled


def row_of(launch, units):
    column = "gpu__time_duration.sum"
    nanoseconds = float(launch[column].replace(",", "")) * NANOSECONDS[units[column]]
    stalls = {found.group(1): number(launch[key]) for key in launch if (found := STALLED.fullmatch(key))}
    stalls = {key: value for key, value in sorted(stalls.items()) if (value or 0) >= 0.05 and key != "selected"}
    return {"kernel": name_of(launch["Kernel Name"]),
            "stalls": stalls,
            "milliseconds": float(f"{nanoseconds * 1e-6:.4g}"),
            **{key: value for key, column in COLUMNS.items() if (value := number(launch.get(column, ""))) is not None}}


def rows_of(file):
    table, units = launches(file)
    longest = {}
    for row in (row_of(launch, units) for launch in table):
        if row["milliseconds"] > longest.get(row["kernel"], {"milliseconds": -1})["milliseconds"]:
            longest[row["kernel"]] = row
    return list(longest.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="what ncu wrote")
    print(json.dumps([row for file in parser.parse_args().files for row in rows_of(file)], indent=1))


if __name__ == "__main__":
    main()
