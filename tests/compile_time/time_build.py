#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""time_build.py OBJECT LIMIT COMMAND...: removes OBJECT and makes it anew by COMMAND; passes where that
takes less than LIMIT seconds of processor time, which other work on the machine does not lengthen."""
import os
import resource
import subprocess
import sys


def main():
    object_file, limit, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    if os.path.exists(object_file):
        os.remove(object_file)
    subprocess.run(command, check=True)
    if not os.path.exists(object_file):
        sys.exit(f"{object_file} was not made")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = usage.ru_utime + usage.ru_stime
    print(f"compiled in {seconds:.1f} s, {limit:g} s allowed")
    if seconds >= limit:
        sys.exit(f"{object_file} took {seconds:.1f} s; less than {limit:g} s is allowed")


if __name__ == "__main__":
    main()
