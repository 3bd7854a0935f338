#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""library_cost.py --size PROGRAM --backends N --orders N --times FOLDER ARCHIVE: prints the bytes of code in a static
library and the processor time that its objects took, a backend, and fails where they are above the budget:

    bytes     4 MB and 0.5 MB an order
    minutes   4 and 0.4 an order

as first measured with g++ 12 (3.1 MB and 0.33 MB an order; 2.4 minutes and 0.25 an order, on two cores with other work),
with room for other machines and compilers; of these, any strengths and targets take about half. A product of orders with kernels, criteria or arrays is far above it."""
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
    most_code, most_minutes = 4 + 0.5 * args.orders, 4 + 0.4 * args.orders
    print(f"{args.orders} orders, {args.backends} backends; a backend: {code:.2f} MB of {most_code:.2f}, "
          f"{minutes:.2f} CPU minutes of {most_minutes:.2f} ({timed} of {len(objects)} objects)")
    sys.exit(0 if timed > 0 and code <= most_code and minutes <= most_minutes else 1)


if __name__ == "__main__":
    main()
