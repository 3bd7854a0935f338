# SPDX-License-Identifier: BSD-3-Clause
"""Sums of the definitions in NumPy's double precision, and arrays of another library that has DLPack alone."""

import numpy as np


def sums(x, q=None, dipoles=None, targets=None, softening=0.0, scale=1.0):
    """Potential (M,), field (M,3) and Hessian (M,6) of one density; of gravity the scale is -G."""
    x = np.asarray(x, np.float64)
    y = x if targets is None else np.asarray(targets, np.float64)
    potential, field, hessian = np.zeros(len(y)), np.zeros((len(y), 3)), np.zeros((len(y), 6))
    for i, at in enumerate(y):
        d = at - x
        r2 = np.sum(d * d, axis=1)
        there = r2 > 0
        if targets is None:
            there[i] = False
        elif softening > 0:
            there[:] = True
        d, s2 = d[there], r2[there] + softening**2
        if q is not None:
            of = np.asarray(q, np.float64)[there]
            potential[i] += np.sum(of / np.sqrt(s2))
            field[i] += np.sum((of / s2**1.5)[:, None] * d, axis=0)
            tensor = np.einsum("n,na,nb->ab", 3 * of / s2**2.5, d, d) - np.eye(3) * np.sum(of / s2**1.5)
            hessian[i] += tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        if dipoles is not None:
            p = np.asarray(dipoles, np.float64)[there]
            along = np.sum(p * d, axis=1)
            potential[i] += np.sum(along / s2**1.5)
            field[i] += np.sum(3 * (along / s2**2.5)[:, None] * d - p / s2[:, None]**1.5, axis=0)
            outer = np.einsum("na,nb->nab", p, d)
            tensor = np.sum((15 * along / s2**3.5)[:, None, None] * np.einsum("na,nb->nab", d, d) -
                            (3 / s2**2.5)[:, None, None] *
                            (outer + outer.transpose(0, 2, 1) + along[:, None, None] * np.eye(3)), axis=0)
            hessian[i] += tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return scale * potential, scale * field, scale * hessian


def error(found, exact):
    """Relative L2 error; of rows of six, numbers off a Hessian's diagonal count twice."""
    found, exact = np.asarray(found, np.float64), np.asarray(exact, np.float64)
    assert found.shape == exact.shape
    weights = np.array([1.0, 1, 1, 2, 2, 2]) if exact.ndim == 2 and exact.shape[1] == 6 else 1.0
    return np.sqrt(np.sum(weights * (found - exact)**2) / np.sum(weights * exact**2))


class ForeignNamespace:
    """What the array API has of a library's functions."""

    @staticmethod
    def from_dlpack(array):
        return Foreign(np.from_dlpack(array))


class Foreign:
    """An array that has no buffer protocol."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __dlpack__(self, *, stream=None):
        assert stream is None
        return self.numbers.__dlpack__()

    def __dlpack_device__(self):
        return self.numbers.__dlpack_device__()

    def __array_namespace__(self):
        return ForeignNamespace
