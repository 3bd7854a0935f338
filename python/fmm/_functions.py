# SPDX-License-Identifier: BSD-3-Clause
"""Sums in one call."""

from __future__ import annotations

from typing import Any, Callable, Literal, Sequence

import numpy as np

from . import _fmm
from ._arrays import Kind, backend_of, check_dtype, facts, taken
from ._plan import _FEW_PAIRS, _ROWS, Output, Plan, _precision, _solver


_PAIRS_AT_A_TIME = 4e9  # of a direct sum: a few seconds, after which Ctrl-C is heard


def _sum(x: Any, q: Any, kernel: str, targets: Any, softening: float, G: float, tolerance: float, precision: str,
         out: Any) -> tuple[Any, Any]:
    x, q = taken(x), taken(q)
    what = facts(x, "x")
    n = what.shape[0]
    if targets is not None or n * n <= _FEW_PAIRS:
        plan = Plan(x, kernel=kernel, targets=targets, softening=softening, G=G, tolerance=tolerance,
                    precision=precision)
        if check_dtype(q, "q", what.dtype, "x").shape != (n,):
            raise ValueError(f"q has the shape {facts(q, 'q').shape}: ({n},) is wanted, one charge a position")
        return plan(q, out=out)
    if what.dtype not in ("float32", "float64"):
        raise TypeError(f"x is of {what.dtype}: positions are of float32 or float64")
    check_dtype(q, "q", what.dtype, "x")
    backend = backend_of(what)
    solver = _solver(kernel=kernel, method="fmm", precision=_precision(precision, tolerance),
                     tolerance=float(tolerance), tolerance_of="all", error_norm="l2", softening=float(softening),
                     G=float(G), backend=backend)
    plan = solver.build(x, q, None)
    if out is not None:
        potential, field = out
        solver.evaluate(plan, q, None, potential, field, None, None)
        return potential, field
    kind = Kind(x, what, backend)
    potential, field = kind.empty((n,), what.dtype), kind.empty((n, 3), what.dtype)
    solver.evaluate(plan, q, None, potential, field, None, None)
    return kind.finished(potential), kind.finished(field)


def laplace(x: Any, q: Any, *, targets: Any = None, tolerance: float = 1e-4,
            precision: Literal["auto", "mixed", "double"] = "auto", out: Any = None) -> tuple[Any, Any]:
    """Potential and field of charges: phi_i = sum_j q_j / |x_i - x_j|, field = -grad phi.

    No 1 / (4 pi) is hidden in it. A charge exerts nothing on itself. The tolerance holds for both results.

    Parameters
    ----------
    x : array (N, 3) of float32 or float64
        Positions: of NumPy, CuPy, PyTorch, JAX, or anything else with the buffer protocol or DLPack; any strides.
    q : array (N,) of the same dtype
        Charges.
    targets : array (M, 3) of the same dtype, or (M,) of int32 or int64, optional
        Where results are wanted: positions, or numbers of sources. Not given: at the sources.
    tolerance : float
        Relative error at most, sqrt(sum |f - f_exact|^2 / sum |f_exact|^2), of 1e-2 to 1e-12; for arrays of float32
        to 2e-7.
    precision : {"auto", "mixed", "double"}
        Of the work: "auto" is mixed for tolerances of 3e-6 and above.
    out : (array (M,), array (M, 3)), optional
        Where the results are written.

    Returns
    -------
    phi : array (M,)
        In units of charge over length, of the kind, the dtype and the device of x.
    field : array (M, 3)
        In units of charge over length squared.

    Raises
    ------
    TypeError, InvalidArgument (a ValueError), OutOfMemory (a MemoryError)
        As of `Plan`.

    Notes
    -----
    Cost: O(N). A fast multipole method with a tolerance (Yokota and Barba, GPU Computing Gems Emerald Edition,
    2011, chapter 9; docs/math.md). Up to 1536^2 pairs are summed one by one, in double.

    Examples
    --------
    >>> import numpy as np, fmm
    >>> phi, field = fmm.laplace(np.array([[0.0, 0, 0], [0, 0, 2]]), np.array([1.0, -1]))
    >>> phi
    array([-0.5,  0.5])
    """
    return _sum(x, q, "laplace", targets, 0.0, 1.0, tolerance, precision, out)


def gravity(x: Any, m: Any, *, softening: float = 0.0, G: float = 1.0, targets: Any = None, tolerance: float = 1e-4,
            precision: Literal["auto", "mixed", "double"] = "auto", out: Any = None) -> tuple[Any, Any]:
    """Potential and acceleration of masses: phi_i = -G sum_j m_j / sqrt(r_ij^2 + softening^2), a = -grad phi.

    Parameters
    ----------
    x : array (N, 3) of float32 or float64
        Positions.
    m : array (N,) of the same dtype
        Masses, none below 0.
    softening : float
        Plummer's, in the unit of x.
    G : float
        The gravitational constant.
    targets, tolerance, precision, out
        As of `laplace`.

    Returns
    -------
    phi : array (M,)
        Potential, in units of G times mass over length.
    acc : array (M, 3)
        Acceleration, in units of G times mass over length squared.

    Examples
    --------
    >>> import numpy as np, fmm
    >>> phi, acc = fmm.gravity(np.array([[0.0, 0, 0], [0, 0, 2]]), np.array([1.0, 8]), G=2)
    >>> phi
    array([-8., -1.])
    >>> round(float(acc[0, 2]), 12)
    4.0
    """
    return _sum(x, m, "gravity", targets, softening, G, tolerance, precision, out)


def direct(x: Any, q: Any = None, *, dipoles: Any = None, targets: Any = None,
           kernel: Literal["laplace", "gravity"] = "laplace", softening: float = 0.0, G: float = 1.0,
           outputs: Output | Sequence[Output] = ("potential", "field"),
           progress: Callable[[int, int], None] | None = None) -> Any:
    """The sums over all pairs, in double: the reference.

    Parameters
    ----------
    x, q, dipoles, targets, kernel, softening, G, outputs
        As of `Plan` and of its call.
    progress : callable, optional
        progress(done, all) of targets, between parts of the sum, where Ctrl-C is heard, too.

    Returns
    -------
    tuple of arrays, or an array if outputs is one name
        Of the dtype of x.

    Notes
    -----
    Cost: M N pairs.

    Examples
    --------
    >>> import numpy as np, fmm
    >>> fmm.direct(np.eye(3), np.ones(3), targets=np.zeros((1, 3)), outputs="potential")
    array([3.])
    """
    x = taken(x)
    what = facts(x, "x")
    if what.dtype not in ("float32", "float64"):
        raise TypeError(f"x is of {what.dtype}: positions are of float32 or float64")
    names = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    if not names or len(set(names)) != len(names) or any(name not in _ROWS for name in names):
        raise ValueError(f'outputs = {outputs!r}: some of "potential", "field", "hessian", each once')
    backend = backend_of(what)
    kind = Kind(x, what, backend)
    solver = _solver(kernel=kernel, method="direct", precision="double", tolerance=None, tolerance_of="field",
                     error_norm="l2", softening=float(softening), G=float(G), backend=backend)
    k: tuple[int, ...] = ()
    if q is not None:
        q = taken(q)
        k = check_dtype(q, "q", what.dtype, "x").shape[1:2]
    if dipoles is not None:
        dipoles = taken(dipoles)
        shape = check_dtype(dipoles, "dipoles", what.dtype, "x").shape
        k = k if q is not None else shape[1:-1]
    n = what.shape[0]
    m, y = n, None
    if targets is not None:
        y = taken(targets)
        of_targets = facts(y, "targets")
        if len(of_targets.shape) == 2:
            check_dtype(y, "targets", what.dtype, "x")
        m = of_targets.shape[0]
    results = {name: kind.empty((m, *k, *_ROWS[name]), what.dtype) for name in names}

    def evaluate(plan: Any, of: dict) -> None:
        solver.evaluate(plan, q, dipoles, of.get("potential"), of.get("field"), of.get("hessian"), None)

    part = max(1, int(_PAIRS_AT_A_TIME / max(n, 1)))
    if m <= part or backend == "cuda" or not all(isinstance(one, np.ndarray) for one in results.values()):
        evaluate(solver.build(x, None, y), results)
        if progress:
            progress(m, m)
    else:
        at = np.arange(n) if y is None else np.asarray(y)
        plan = solver.build(x, None, at[:1])
        for begin in range(0, m, part):
            end = min(m, begin + part)
            solver.retarget(plan, np.ascontiguousarray(at[begin:end]))
            evaluate(plan, {name: array[begin:end] for name, array in results.items()})
            if progress:
                progress(end, m)
    finished = tuple(kind.finished(results[name]) for name in names)
    return finished[0] if isinstance(outputs, str) else finished
