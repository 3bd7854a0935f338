# SPDX-License-Identifier: BSD-3-Clause
"""Sums in one call."""

from __future__ import annotations

from typing import Any, Callable, Literal, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import (ROWS, Kind, backend_of, box_of, given_of, names_of, number, positions_of, results_for, strengths_of,
                      targets_of, to_host)
from ._plan import _FEW_PAIRS, Output, Plan, _precision, _solver

_PAIRS_AT_A_TIME = 4e9  # of a direct sum: a few seconds, after which Ctrl-C is heard


def _sum(x: Any, q: Any, kernel: str, targets: Any, softening: float, G: float, tolerance: float, precision: str,
         box: Any, boundary: str, out: Any) -> Tuple[Any, Any]:
    x, what = positions_of(x)
    n, names = what.shape[0], ("potential", "field")
    if q is None:
        raise TypeError("q is None: an array is wanted")
    q, _, k = strengths_of(q, None, what)
    if k:
        raise ValueError(f"q has {len(k) + 1} dimensions: ({n},) is wanted; fmm.Plan takes several densities")
    if targets is not None or n * n <= _FEW_PAIRS or box is not None:
        plan = Plan(x, kernel=kernel, targets=targets, softening=softening, G=G, tolerance=tolerance,
                    precision=precision, box=box, boundary=boundary)
        return plan(q, out=out)
    tolerance, backend = number(tolerance, "tolerance"), backend_of(what)
    solver = _solver(kernel=kernel, method="fmm", precision=_precision(precision, tolerance), tolerance=tolerance,
                     tolerance_of="all", error_norm="l2", softening=number(softening, "softening"), G=number(G, "G"),
                     backend=backend)
    kind = Kind(x, backend)
    results = results_for(kind, names, {"potential": (n,), "field": (n, 3)}, what, out)
    plan = solver.build(x, q, None)
    solver.evaluate(plan, q, None, results["potential"], results["field"], None, None)
    return given_of(out) if out is not None else tuple(kind.finished(results[name]) for name in names)


def laplace(x: Any, q: Any, *, targets: Any = None, tolerance: float = 1e-4,
            precision: Literal["auto", "mixed", "double"] = "auto", box: Any = None,
            boundary: Literal["tin-foil", "vacuum"] = "tin-foil", out: Any = None) -> Tuple[Any, Any]:
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
        Of the work: "auto" is mixed for tolerances of 3e-6 and above, in a box of 1e-3.
    box, boundary
        As of `Plan`: the cell that the charges repeat in.
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
    return _sum(x, q, "laplace", targets, 0.0, 1.0, tolerance, precision, box, boundary, out)


def gravity(x: Any, m: Any, *, softening: float = 0.0, G: float = 1.0, targets: Any = None, tolerance: float = 1e-4,
            precision: Literal["auto", "mixed", "double"] = "auto", box: Any = None,
            boundary: Literal["tin-foil", "vacuum"] = "tin-foil", out: Any = None) -> Tuple[Any, Any]:
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
    targets, tolerance, precision, box, boundary, out
        As of `laplace`; masses have a uniform background then, in which their mean field is gone.

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
    return _sum(x, m, "gravity", targets, softening, G, tolerance, precision, box, boundary, out)


def direct(x: Any, q: Any = None, *, dipoles: Any = None, targets: Any = None,
           kernel: Literal["laplace", "gravity"] = "laplace", softening: float = 0.0, G: float = 1.0,
           outputs: Union[Output, Sequence[Output]] = ("potential", "field"), box: Any = None,
           boundary: Literal["tin-foil", "vacuum"] = "tin-foil",
           progress: Optional[Callable[[int, int], None]] = None) -> Any:
    """The sums over all pairs, in double: the reference. In a box they are Ewald's sums.

    Parameters
    ----------
    x, q, dipoles, targets, kernel, softening, G, outputs, box, boundary
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
    x, what = positions_of(x)
    names = names_of(outputs)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress = {progress!r}: a function progress(done, all) is wanted")
    n = what.shape[0]
    q, dipoles, k = strengths_of(q, dipoles, what)
    y, m, _ = targets_of(targets, what)
    backend = backend_of(what)
    kind = Kind(x, backend)
    solver = _solver(kernel=kernel, method="direct", precision="double", tolerance=None, tolerance_of="field",
                     error_norm="l2", softening=number(softening, "softening"), G=number(G, "G"), backend=backend,
                     box=box_of(box), boundary=boundary)
    plan = solver.build(x, None, y)
    results = results_for(kind, names, {name: (m, *k, *ROWS[name]) for name in names}, what, None)

    def evaluate(of: dict) -> None:
        solver.evaluate(plan, q, dipoles, of.get("potential"), of.get("field"), of.get("hessian"), None)

    part = max(1, int(_PAIRS_AT_A_TIME / max(n, 1)))
    if m <= part or not isinstance(results[names[0]], np.ndarray):
        evaluate(results)
        if progress:
            progress(m, m)
    else:
        at = np.arange(n) if y is None else to_host(y, "targets")
        for begin in range(0, m, part):
            end = min(m, begin + part)
            solver.retarget(plan, np.ascontiguousarray(at[begin:end]))
            evaluate({name: array[begin:end] for name, array in results.items()})
            if progress:
                progress(end, m)
    finished = tuple(kind.finished(results[name]) for name in names)
    return finished[0] if isinstance(outputs, str) else finished
