#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""time_build.py OBJECT LIMIT COMMAND...: removes OBJECT and makes it anew by COMMAND; passes where that
takes less than LIMIT seconds of processor time. Other work on the machine can double that time where two
threads share a core, and never shortens it: the least of three tries counts, and a first one within the
limit is enough."""
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
    object_file, limit, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    tries = []
    while len(tries) < TRIES:
        tries.append(make(object_file, command))
        print(f"compiled in {tries[-1]:.1f} s, {limit:g} s allowed")
        if tries[-1] < limit:
            return
    sys.exit(f"{object_file} took {min(tries):.1f} s; less than {limit:g} s is allowed")


if __name__ == "__main__":
    main()
