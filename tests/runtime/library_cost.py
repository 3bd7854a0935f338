#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""library_cost.py --size PROGRAM --backends N --orders N --times FOLDER ARCHIVE: prints the bytes of code in a static
library and the processor time that its objects took, a backend, and fails where they are above the budget:

    bytes     5.5 MB and 0.5 MB an order
    minutes   6 and 0.6 an order

of which any strengths and targets take more than half: measured with g++ 12 for 11 orders 4.0 MB and 3.3 minutes before
them, 8.9 MB and 8.1 minutes with them, 10.7 MB and 10.8 minutes with periodic boxes and their tolerances (two cores
with other work). There is room for other machines and compilers. A product of orders with kernels, criteria or arrays
is far above it."""
import argparse
import os
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", required=True)
    parser.add_argument("--backends", type=int, required=True)
    parser.add_argument("--orders", type=int, required=True)
    parser.add_argument("--times", required=True)
    parser.add_argument("archive")
    args = parser.parse_args()

    rows = subprocess.run([args.size, args.archive], check=True, capture_output=True, text=True).stdout.splitlines()[1:]
    code = sum(int(row.split()[0]) for row in rows) / 1e6 / args.backends
    objects = {row.split()[5] for row in rows}
    minutes, timed = 0.0, 0
    for name in objects:
        path = os.path.join(args.times, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                minutes += float(file.read()) / 60 / args.backends
            timed += 1
    most_code, most_minutes = 5.5 + 0.5 * args.orders, 6 + 0.6 * args.orders
    print(f"{args.orders} orders, {args.backends} backends; a backend: {code:.2f} MB of {most_code:.2f}, "
          f"{minutes:.2f} CPU minutes of {most_minutes:.2f} ({timed} of {len(objects)} objects)")
    sys.exit(0 if timed > 0 and code <= most_code and minutes <= most_minutes else 1)


if __name__ == "__main__":
    main()
