#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Headers of include/fmm that include <Kokkos_Core.hpp>, themselves or by others of them.

    with_kokkos.py include/fmm           prints them
    with_kokkos.py include/fmm LIST      passes where the file LIST names exactly these
"""
import os
import re
import sys


def headers(root):
    """{header: what it includes}, paths from the root."""
    found = {}
    for folder, _, files in os.walk(root):
        for file in files:
            if not file.endswith(".hpp"):
                continue
            path = os.path.join(folder, file)
            with open(path, encoding="utf-8") as header:
                lines = re.findall(r'^#include (["<].*)[">]', header.read(), re.MULTILINE)
            found[os.path.relpath(path, root)] = [
                os.path.relpath(os.path.join(folder, line[1:]), root) if line[0] == '"' else line for line in lines]
    return found


def main():
    includes = headers(sys.argv[1])
    known = {}

    def has_kokkos(header):
        if header not in known:
            known[header] = False  # for headers that include each other
            known[header] = any(other == "<Kokkos_Core.hpp" or (other in includes and has_kokkos(other))
                                for other in includes[header])
        return known[header]

    found = sorted(filter(has_kokkos, includes))
    if len(sys.argv) == 2:
        print("\n".join(found))
        return
    with open(sys.argv[2], encoding="utf-8") as file:
        other = set(found) ^ set(file.read().split())
    if other:
        sys.exit(f"{', '.join(sorted(other))}: with Kokkos now, or without it; run cmake once more")


if __name__ == "__main__":
    main()
