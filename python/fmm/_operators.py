# SPDX-License-Identifier: BSD-3-Clause
"""Frozen plans as SciPy's linear operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _fmm


def linear_operator(x: Any, y: Any, m: int, n: int, dtype: str, output: str, keywords: dict) -> Any:
    """Plan.linear_operator."""
    if output not in ("potential", "field"):
        raise ValueError(f'output = {output!r}: "potential" or "field"')
    if keywords["backend"] == "cuda":
        raise ValueError("a linear operator is for arrays in the host's memory")
    solver = _fmm.Solver(method="fmm", tolerance_of=output, error_norm="l2", **keywords)
    plan = solver.build(x, None, y)
    row = () if output == "potential" else (3,)

    def apply(to: Any, charges: Any, dipoles: Any, result: np.ndarray, what: str) -> np.ndarray:
        solver.evaluate(to, charges, dipoles, result if what == "potential" else None,
                        result if what == "field" else None, None, None)
        return result

    if m > 0 and n > 0:
        apply(plan, np.ones(n, dtype), None, np.empty((m, *row), dtype), output)
        solver.freeze(plan)
    return _Operator(apply, plan, solver, m, n, row, dtype, output)


class _Operator(LinearOperator):
    def __init__(self, apply, plan, solver, m: int, n: int, row: tuple, dtype: str, output: str):
        self._apply, self._plan, self._solver, self._row, self._output = apply, plan, solver, row, output
        self._m, self._n, self._transposed = m, n, None
        super().__init__(np.dtype(dtype), (m * (row or (1,))[0], n))

    def _taken(self, v: np.ndarray) -> np.ndarray:
        if np.iscomplexobj(v):
            raise TypeError("a complex vector: the operator is of real numbers")
        return np.ascontiguousarray(v, self.dtype)

    def _matmat(self, vectors: np.ndarray) -> np.ndarray:
        q = self._taken(vectors)
        result = np.empty((self._m, q.shape[1], *self._row), self.dtype)
        self._apply(self._plan, q, None, result, self._output)
        return result.swapaxes(1, 2).reshape(-1, q.shape[1]) if self._row else result

    def _matvec(self, v: np.ndarray) -> np.ndarray:
        result = np.empty((self._m, *self._row), self.dtype)
        return self._apply(self._plan, self._taken(v.reshape(-1)), None, result, self._output).reshape(-1)

    def _rmatvec(self, v: np.ndarray) -> np.ndarray:
        if self._transposed is None:
            self._transposed = self._solver.transposed(self._plan)
        result = np.empty(self._n, self.dtype)
        v = self._taken(v.reshape(-1))
        if self._output == "potential":
            return self._apply(self._transposed, v, None, result, "potential")
        # charges to fields is minus the transpose of dipoles to potentials
        return -self._apply(self._transposed, None, v.reshape(-1, 3), result, "potential")
