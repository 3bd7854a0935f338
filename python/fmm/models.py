# SPDX-License-Identifier: BSD-3-Clause
"""Bodies to try things with: positions (N, 3) and charges (N,) in float64, with sum |q| = 1.

Body i depends on the model, the seed, i and n alone: every machine makes the same bits.
"""

from __future__ import annotations

import operator
from typing import Literal

import numpy as np

from . import _fmm

__all__ = ["cube", "plummer", "shell", "disk", "clusters", "fractal"]

Charges = Literal["equal", "mixed"]


def _made(model: str, n: int, seed: int, charges: str) -> tuple[np.ndarray, np.ndarray]:
    n, seed = operator.index(n), operator.index(seed)
    if n < 0 or not 0 <= seed < 2**64:
        raise ValueError(f"n = {n}, seed = {seed}: neither is below 0")
    if not isinstance(charges, str):
        raise TypeError(f"charges = {charges!r}: a str is wanted")
    bodies = _fmm.make_model(model, n, seed, charges)
    x, q = np.empty((n, 3)), np.empty(n)
    bodies.positions(x)
    bodies.charges(q)
    return x, q


def cube(n: int, seed: int = 1, charges: Charges = "equal") -> tuple[np.ndarray, np.ndarray]:
    """Uniform in the unit cube.

    Parameters
    ----------
    n : int
        How many.
    seed : int
        Of the random numbers.
    charges : {"equal", "mixed"}
        All 1 / n, or of both signs.

    Returns
    -------
    x : ndarray (n, 3)
    q : ndarray (n,)

    Examples
    --------
    >>> x, q = cube(1000)
    >>> x.shape, round(float(q.sum()), 12)
    ((1000, 3), 1.0)
    """
    return _made("cube", n, seed, charges)


def plummer(n: int, seed: int = 1, charges: Charges = "equal") -> tuple[np.ndarray, np.ndarray]:
    """Plummer's sphere of scale length 1, cut at a radius of 20. Parameters as of `cube`."""
    return _made("plummer", n, seed, charges)


def shell(n: int, seed: int = 1, charges: Charges = "equal") -> tuple[np.ndarray, np.ndarray]:
    """Uniform on the unit sphere's surface. Parameters as of `cube`."""
    return _made("shell", n, seed, charges)


def disk(n: int, seed: int = 1, charges: Charges = "equal") -> tuple[np.ndarray, np.ndarray]:
    """Exponential in radius, of scale length 1, and in height, of 0.1. Parameters as of `cube`."""
    return _made("disk", n, seed, charges)


def clusters(n: int, seed: int = 1, charges: Charges = "equal") -> tuple[np.ndarray, np.ndarray]:
    """Plummer's spheres of scale 0.3 at the origin, with a third of the bodies, and of 1 at (300, 0, 0)."""
    return _made("clusters", n, seed, charges)


def fractal(n: int, seed: int = 1, charges: Charges = "equal") -> tuple[np.ndarray, np.ndarray]:
    """Uniform in cells of the unit cube, four random eighths of each. Parameters as of `cube`."""
    return _made("fractal", n, seed, charges)
