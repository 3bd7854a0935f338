#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The capacitance of a sphere, of two that touch, and of a cube's surface of points: GMRES with a frozen plan.

    PYTHONPATH=build/python examples/python/capacitance.py [points]

Charges q_j at points of a surface make it an equipotential: sum_j q_j / |x_i - x_j| + own q_i = 1. A point has a part of the
surface to itself, of an area A; own is what a lattice of such parts leaves of a layer's potential, 3.900265 / sqrt(A) of
squares (the sum over a square lattice of 1/r, less the integral). A unit sphere has the capacitance 1, two that touch
2 ln 2. `examples/capacitance.cpp` does so with quadrature to ten digits.
"""

import sys

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import fmm

n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
OWN = 3.900265


def sphere(points):
    """Points that are even on the unit sphere, by the golden angle."""
    k = np.arange(points)
    z, turn = 1 - (2 * k + 1) / points, np.pi * (1 + 5**0.5) * k
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def capacitance(x, area):
    """Of a surface in parts of that area, and how many times the plan was applied."""
    A = fmm.Plan(x, tolerance=1e-8).linear_operator()
    own = scipy.sparse.linalg.aslinearoperator(scipy.sparse.diags(np.full(len(x), OWN / np.sqrt(area))))
    steps = []
    q, info = scipy.sparse.linalg.gmres(A + own, np.ones(len(x)), callback=steps.append, callback_type="pr_norm")
    assert info == 0
    return q.sum(), len(steps)


one = sphere(n)
two = np.concatenate([one - [1, 0, 0], one + [1, 0, 0]])
for name, x, known in (("a sphere", one, 1.0), ("two that touch", two, 2 * np.log(2))):
    found, steps = capacitance(x, 4 * np.pi / n)
    print(f"{name}: {found:.6f}, known {known:.6f}, after {steps} applications of {len(x)} points")
    assert abs(found / known - 1) < 2e-3
