#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A galaxy's disk: its potential, and the circular velocity beside that of an exponential disk without thickness.

    PYTHONPATH=build/python examples/python/galaxy.py [bodies]

Freeman, Astrophysical Journal 160, 811 (1970), equation 12: v^2 = 4 pi G Sigma R_d y^2 (I0 K0 - I1 K1)(y), y = R / (2 R_d).
"""

import sys

import numpy as np
from scipy.special import iv, kv

import fmm

n = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
x, m = fmm.models.disk(n)  # of scale length 1 and mass 1, with G = 1
radii = np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
angles = 2 * np.pi * np.arange(64) / 64
ring = np.stack([np.cos(angles), np.sin(angles), np.zeros(64)], axis=1)
targets = (radii[:, None, None] * ring).reshape(-1, 3)

phi, acc = fmm.gravity(x, m, targets=targets, softening=0.05, tolerance=1e-5)
inward = -np.sum(acc.reshape(-1, 64, 3) * ring, axis=2).mean(axis=1)
velocity = np.sqrt(radii * inward)
y = radii / 2
known = np.sqrt(2 * y**2 * (iv(0, y) * kv(0, y) - iv(1, y) * kv(1, y)))

print("radius  potential  velocity  of a thin disk")
for row in zip(radii, phi.reshape(-1, 64).mean(axis=1), velocity, known):
    print("%6.1f  %9.4f  %8.4f  %14.4f" % row)
# The model has a scale height of 0.1: its pull is less than a thin disk's, above all near the middle.
assert np.all(velocity < known) and np.all(velocity[3:] > 0.94 * known[3:])
