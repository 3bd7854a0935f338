# SPDX-License-Identifier: BSD-3-Clause
"""Frozen plans as SciPy's linear operators."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ._plan import _solver


def linear_operator(x: np.ndarray, y: Optional[np.ndarray], are_numbers: bool, m: int, n: int, dtype: str,
                    output: str, keywords: dict) -> Any:
    """Plan.linear_operator."""
    if output not in ("potential", "field"):
        raise ValueError(f'output = {output!r}: "potential" or "field"')
    solver = _solver(method="fmm", tolerance_of=output, error_norm="l2", **keywords)
    plan = solver.build(x, None, None if are_numbers else y)
    return _Operator(solver, plan, y if are_numbers else None, m, n, dtype, output, keywords["kernel"])


class _Operator(LinearOperator):
    """Rows of chosen targets are rows of all, so that the transpose is one of the same plan."""

    def __init__(self, solver: Any, plan: Any, rows: Optional[np.ndarray], m: int, n: int, dtype: str, output: str,
                 kernel: str):
        self._solver, self._plan, self._transposed = solver, plan, None
        self._rows, self._m, self._n, self._output = rows, m, n, output
        self._all = m if rows is None else n
        self._is_signed = kernel == "laplace"
        self._row = () if output == "potential" else (3,)
        super().__init__(np.dtype(dtype), (m * (3 if self._row else 1), n))
        if self._all > 0 and n > 0:
            self._sum(plan, np.ones((n, 1), dtype), None, self._all, output)
        solver.freeze(plan)

    def __reduce__(self) -> Any:
        raise TypeError("a plan's operator is not pickled: make it where it is used")

    def _sum(self, plan: Any, q: Any, dipoles: Any, targets: int, output: str) -> np.ndarray:
        k = (q if q is not None else dipoles).shape[1]
        row = () if output == "potential" else (3,)
        dtype = (q if q is not None else dipoles).dtype
        result = np.empty((targets, k, *row), dtype)
        self._solver.evaluate(plan, q, dipoles, None if row else result, result if row else None, None, None)
        return result

    def _sum_of_charges(self, plan: Any, q: np.ndarray, targets: int, output: str) -> np.ndarray:
        """Of both signs, also where masses alone are allowed."""
        if self._is_signed or not (q < 0).any():
            return self._sum(plan, q, None, targets, output)
        k = q.shape[1]
        both = self._sum(plan, np.concatenate([np.maximum(q, 0), np.maximum(-q, 0)], axis=1), None, targets, output)
        return both[:, :k] - both[:, k:]

    @staticmethod
    def _taken(vectors: np.ndarray) -> tuple:
        """(N, K) of float32 or float64, in a unit near the largest number, so that small ones have room."""
        v = np.asarray(vectors)
        if v.dtype.kind not in "fiub" or v.dtype.itemsize > 8:
            raise TypeError(f"a vector of {v.dtype}: the operator is of real numbers, float32 or float64")
        v = np.ascontiguousarray(v.reshape(v.shape[0], -1), np.float32 if v.dtype == np.float32 else np.float64)
        largest = float(np.abs(v).max(initial=0.0))
        unit = 2.0**np.floor(np.log2(largest)) if 0 < largest < np.inf else 1.0
        return v / v.dtype.type(unit), v.dtype.type(unit)

    def _matmat(self, vectors: np.ndarray) -> np.ndarray:
        q, unit = self._taken(vectors)
        result = self._sum_of_charges(self._plan, q, self._all, self._output)
        if self._rows is not None:
            result = result[self._rows]
        if self._row:
            result = result.swapaxes(1, 2).reshape(-1, q.shape[1])
        return result * unit

    def _matvec(self, v: np.ndarray) -> np.ndarray:
        return self._matmat(v.reshape(-1, 1))[:, 0]

    def _rmatmat(self, vectors: np.ndarray) -> np.ndarray:
        if self._transposed is None:
            self._transposed = self._solver.transposed(self._plan)
        w, unit = self._taken(vectors)
        k = w.shape[1]
        if self._row:
            w = w.reshape(self._m, 3, k).swapaxes(1, 2)
        if self._rows is not None:
            of_rows, w = w, np.zeros((self._n, *w.shape[1:]), w.dtype)
            np.add.at(w, self._rows, of_rows)
        w = np.ascontiguousarray(w)
        if self._row:  # charges to fields is minus the transpose of dipoles to potentials
            return -self._sum(self._transposed, None, w, self._n, "potential") * unit
        return self._sum_of_charges(self._transposed, w, self._n, "potential") * unit

    def _rmatvec(self, v: np.ndarray) -> np.ndarray:
        return self._rmatmat(v.reshape(-1, 1))[:, 0]
