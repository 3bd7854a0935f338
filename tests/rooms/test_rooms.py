#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rooms of include/fmm: an include never points up, and no header is longer than 400 lines.

    tests/rooms/test_rooms.py include/fmm

The order of the rooms is that of include/fmm/detail/rooms.hpp, which lists them from the top.
"""
import os
import re
import sys

LINES = 400
# From the bottom. Words that all rooms share stand beside detail: neither is above the other.
FLOORS = [["detail", "environment.hpp", "errors.hpp", "options.hpp", "precision.hpp", "report.hpp", "large_pages.hpp", "arrays.hpp", "host.hpp",
           "version.hpp", "inputs.hpp", "strengths.hpp", "results.hpp", "near_pairs.hpp", "batch.hpp", "exclusions.hpp", "periodic_box.hpp",
           "cells", "periodic"],
          ["simd"], ["tuning.hpp"], ["kernels", "tree"], ["methods.hpp"], ["engine"], ["batched_gemm.hpp", "plan.hpp", "two_set_plan.hpp", "batch_plan.hpp"], ["accuracy"],
          ["solver_steps.hpp", "solver.hpp"], ["tolerance"], ["runtime"], ["fmm.hpp", "runtime.hpp"]]
APART = [{"kernels", "tree"}]  # of one floor, and neither knows the other


def headers(root):
    for folder, _, files in os.walk(root):
        for file in files:
            if file.endswith(".hpp"):
                yield os.path.relpath(os.path.join(folder, file), root)


def includes(root, header):
    """Headers of the library that a header includes, from the root."""
    with open(os.path.join(root, header), encoding="utf-8") as file:
        for target in re.findall(r'^#include "(.*)"', file.read(), re.MULTILINE):
            yield os.path.normpath(os.path.join(os.path.dirname(header), target))


def room_of(header):
    return header.split("/")[0]


def floor_of(room):
    for floor, rooms in enumerate(FLOORS):
        if room in rooms:
            return floor
    sys.exit(f"include/fmm/{room} is on no floor")


def faults(root):
    for header in sorted(headers(root)):
        with open(os.path.join(root, header), encoding="utf-8") as file:
            lines = len(file.readlines())
        if lines > LINES:
            yield f"{header} has {lines} lines"
        for target in includes(root, header):
            above, below = room_of(header), room_of(target)
            if floor_of(below) > floor_of(above) or {above, below} in APART:
                yield f"{header} includes {target}"


def main():
    found = list(faults(sys.argv[1]))
    print("\n".join(found) or f"{len(list(headers(sys.argv[1])))} headers, no arrow up")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
