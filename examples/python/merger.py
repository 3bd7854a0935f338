#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two galaxies meet: Plummer spheres fall onto each other, drawn in six pictures.

    PYTHONPATH=build/python examples/python/merger.py [bodies] [steps] [picture.png]

Units: G = 1, each sphere has a mass of 1/2 and a scale length of 1. Steps are leapfrog's, kick, drift, kick.
"""

import sys

import matplotlib
import numpy as np

import fmm

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

n = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 300
picture = sys.argv[3] if len(sys.argv) > 3 else "merger.png"
softening, step = 0.05, 30.0 / steps
random = np.random.default_rng(1)


def plummer(count, seed):
    """Positions and velocities in equilibrium (Aarseth, Henon and Wielen, Astronomy and Astrophysics 37, 183 (1974))."""
    x, m = fmm.models.plummer(count, seed)
    m *= 0.5
    share = np.empty(0)
    while len(share) < count:  # of the velocity of escape, by rejection
        a, b = random.random(4 * count), 0.1 * random.random(4 * count)
        share = np.concatenate([share, a[b < a * a * (1 - a * a)**3.5]])
    speed = share[:count] * np.sqrt(2 * 0.5) * (1 + np.sum(x * x, axis=1))**-0.25
    way = random.standard_normal((count, 3))
    return x, m, speed[:, None] * way / np.linalg.norm(way, axis=1)[:, None]


one, two = plummer(n // 2, 1), plummer(n - n // 2, 2)
x = np.concatenate([one[0] - [4, 0.7, 0], two[0] + [4, 0.7, 0]])
v = np.concatenate([one[2] + [0.25, 0, 0], two[2] - [0.25, 0, 0]])
m = np.concatenate([one[1], two[1]])


def forces():
    return fmm.gravity(x, m, softening=softening, tolerance=1e-3)


def energy(phi):
    return 0.5 * np.sum(m * np.sum(v * v, axis=1)) + 0.5 * np.sum(m * phi)


figure, axes = plt.subplots(2, 3, figsize=(12, 8), sharex=True, sharey=True)
pictures = dict(zip(np.linspace(0, steps, 6).astype(int), axes.ravel()))
phi, acc = forces()
before = energy(phi)
for k in range(steps + 1):
    if k in pictures:
        pictures[k].plot(x[:, 0], x[:, 1], ",k", alpha=0.5)
        pictures[k].set_title(f"t = {k * step:.1f}")
        pictures[k].set(xlim=(-10, 10), ylim=(-7, 7), aspect="equal")
    if k < steps:
        v += 0.5 * step * acc
        x += step * v
        phi, acc = forces()
        v += 0.5 * step * acc
figure.tight_layout()
figure.savefig(picture, dpi=100)
change = abs(energy(phi) / before - 1)
print(f"{n} bodies, {steps} steps: the energy changed by {change:.1e}; {picture}")
assert change < 0.02
