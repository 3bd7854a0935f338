#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Madelung's constant of rock salt: the potential of an ion in the middle of a cube of others.

    PYTHONPATH=build/python examples/python/madelung.py

Ions of a face count half, of an edge a quarter, of a corner an eighth, so that the cube is neutral: Evjen, Physical Review
39, 675 (1932). The constant is 1.747564594633...
"""

import numpy as np

import fmm

for cells in (4, 8, 16, 32):
    line = np.arange(-cells, cells + 1)
    x = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    share = np.where(np.abs(line) == cells, 0.5, 1.0)
    q = (np.multiply.outer(np.multiply.outer(share, share), share).ravel() * (1 - 2 * (x.sum(axis=1) % 2)))
    middle = len(x) // 2
    phi, _ = fmm.laplace(x, q, targets=np.array([middle]), tolerance=1e-10)
    constant = -phi[0] * q[middle]
    print(f"{len(x):7d} ions: {constant:.9f}, error {abs(constant - 1.747564594633):.1e}")
assert abs(constant - 1.747564594633) < 1e-6
