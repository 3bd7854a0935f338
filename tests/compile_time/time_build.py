#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""time_build.py (--seconds S | --units U --unit OBJECT TARGET) OBJECT TARGET -- COMMAND...: removes OBJECT and makes
it anew by COMMAND TARGET; passes where that takes less processor time than S seconds, or than U times what the object
of --unit takes. Other work on the machine can double a time where two threads share a core, and never shortens it:
the least of three tries counts."""
import argparse
import os
import resource
import subprocess
import sys

TRIES = 3


def make(object_file, command):
    """Seconds of processor time that the object takes."""
    if os.path.exists(object_file):
        os.remove(object_file)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    if not os.path.exists(object_file):
        sys.exit(f"{object_file} was not made")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    limit = parser.add_mutually_exclusive_group(required=True)
    limit.add_argument("--seconds", type=float)
    limit.add_argument("--units", type=float)
    parser.add_argument("--unit", nargs=2)
    parser.add_argument("object", nargs=2)
    own = sys.argv[1:sys.argv.index("--")]
    command = sys.argv[len(own) + 2:]
    args = parser.parse_args(own)

    allowed = args.seconds
    if args.units:
        unit = min(make(args.unit[0], command + args.unit[1:]) for _ in range(TRIES))
        allowed = args.units * unit
        print(f"Kokkos alone: {unit:.2f} s")
    tries = []
    while len(tries) < TRIES:
        tries.append(make(args.object[0], command + args.object[1:]))
        print(f"compiled in {tries[-1]:.1f} s, {allowed:.1f} s allowed")
        if tries[-1] < allowed:
            return
    sys.exit(f"{args.object[0]} took {min(tries):.1f} s; less than {allowed:.1f} s is allowed")


if __name__ == "__main__":
    main()
