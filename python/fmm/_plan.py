# SPDX-License-Identifier: BSD-3-Clause
"""Plans: sources that are kept, with tree and expansions, for one sum after another."""

from __future__ import annotations

from typing import Any, Dict, Literal, Optional, Sequence, Tuple, Union

import numpy as np

from . import _fmm
from ._arrays import (POTENTIAL_AND_FIELD, ROWS, Kind, backend_of, box_of, given_of, names_of, number, positions_of,
                      results_for, strengths_of, targets_of, to_host, word)

Output = Literal["potential", "field", "hessian"]
_FEW_PAIRS = 1536**2


def _precision(precision: str, tolerance: float, error_norm: str = "l2", is_in_box: bool = False) -> str:
    if precision == "auto":
        least = 1e-3 if is_in_box else 1e-4 if error_norm == "p99" else 3e-6
        return "mixed" if tolerance >= least else "double"
    return precision


def _solver(*, kernel: str, method: str, precision: str, tolerance: Optional[float], tolerance_of: str, error_norm: str,
            softening: float, G: float, backend: str, box: Any = None, boundary: str = "tin-foil") -> Any:
    return _fmm.Solver(kernel=word(kernel, "kernel"), method=method, precision=word(precision, "precision"),
                       tolerance=tolerance, tolerance_of=tolerance_of, error_norm=word(error_norm, "error_norm"),
                       softening=softening, G=G, backend=backend, box=box, boundary=word(boundary, "boundary"))


class Plan:
    """Sums over the same sources again and again, each within a tolerance.

    The first call makes tree and lists and finds the order and the opening angle that hold the tolerance; it is
    compared with a stricter sum. Later calls are compared at a few targets, or again as the first one where their
    charges are elsewhere than in the last ones. All pairs of few bodies are summed, in double precision.

    Parameters
    ----------
    x : array (N, 3) of float32 or float64
        Positions of the sources. They are copied, in double, and so are targets; both arrays themselves are referred
        to by `linear_operator`, `measure_error` and ``error_norm="p99"``, for which they must not change.
    kernel : {"laplace", "gravity"}
        ``laplace``: phi = sum q_j / r, field = -grad phi. ``gravity``: phi = -G sum m_j / sqrt(r^2 + softening^2),
        and the field is the acceleration, -grad phi.
    targets : array (M, 3) like x, or (M,) of int32 or int64, optional
        Where results are wanted: positions, or numbers of sources. Not given: the sources. A source exerts nothing
        on itself; a target at a source's very point has no force of it.
    softening : float
        In units of length; of gravity.
    G : float
        The gravitational constant; of gravity.
    tolerance : float
        Relative error at most, of each result that is wanted and of each density by its own norm: 1e-2 to 1e-12;
        in mixed precision to 3e-6, for arrays of float32 to 2e-7.
    error_norm : {"l2", "p99"}
        ``l2``: sqrt(sum |f - f_exact|^2 / sum |f_exact|^2). ``p99``: each target's own relative error, but for a
        hundredth of them; of charges, one density at a time, at the sources.
    precision : {"auto", "mixed", "double"}
        ``auto``: mixed for tolerances of 3e-6 and above, 1e-4 of own errors, 1e-3 in a box, where the mean field of masses
        is gone and float's rounding of it is not. Results always have the dtype of x.
    box : float, (3,) or (3, 3), optional
        The cell that the sources repeat in: an edge, three edges, or three vectors. Sums are over all images, of a net
        charge or mass with a uniform background; positions may lie anywhere. Not given: nothing repeats.
    boundary : {"tin-foil", "vacuum"}
        What is around the repeated cells; a vacuum is for neutral sources.

    Raises
    ------
    TypeError
        For what is no array of float32 or float64, and for arrays of different dtypes.
    InvalidArgument
        A ValueError: for shapes, positions that are not finite, and tolerances that cannot be had, with one that can.
    OutOfMemory
        A MemoryError.

    Examples
    --------
    >>> import numpy as np, fmm
    >>> x = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    >>> plan = fmm.Plan(x)
    >>> phi, field = plan(np.array([1.0, 3.0]))
    >>> phi
    array([1.5, 0.5])
    >>> field[0]
    array([ 0.  ,  0.  , -0.75])
    """

    def __init__(self, x: Any, *, kernel: Literal["laplace", "gravity"] = "laplace", targets: Any = None,
                 softening: float = 0.0, G: float = 1.0, tolerance: float = 1e-4,
                 error_norm: Literal["l2", "p99"] = "l2",
                 precision: Literal["auto", "mixed", "double"] = "auto", box: Any = None,
                 boundary: Literal["tin-foil", "vacuum"] = "tin-foil"):
        x, what = positions_of(x)
        tolerance = number(tolerance, "tolerance")
        self._x, self._what, self._n = x, what, what.shape[0]
        self._backend = backend_of(what)
        self._kind = Kind(x, self._backend)
        self._keywords = dict(kernel=kernel, tolerance=tolerance, softening=number(softening, "softening"),
                              G=number(G, "G"), precision=_precision(precision, tolerance, error_norm, box is not None),
                              backend=self._backend, box=box_of(box), boundary=boundary)
        self._is_auto = precision == "auto"
        self._report: Optional[dict] = None
        self._y, self._m, self._are_numbers = targets_of(targets, self._what)
        few = self._n * self._m <= _FEW_PAIRS
        own = error_norm == "p99"
        self._by_charges = own and not few
        if self._by_charges and targets is not None:
            raise ValueError('targets are set: error_norm="p99" is for results at the sources')
        self._solver = _solver(method="direct" if own and few else "fmm", tolerance_of="all", error_norm=error_norm,
                               **self._keywords)
        if self._by_charges:  # plans are made with charges: here positions are looked at
            keywords = dict(self._keywords, tolerance=None)
            _solver(method="direct", tolerance_of="all", error_norm="l2", **keywords).build(x, None, None)
        self._plan = None if self._by_charges else self._solver.build(x, None, self._y)

    def __copy__(self) -> Any:
        raise TypeError("a plan is not copied: make another one")

    def __deepcopy__(self, memo: Any) -> Any:
        self.__copy__()

    def __reduce__(self) -> Any:
        raise TypeError("a plan is not pickled: make it where it is used")

    @property
    def shape(self) -> Tuple[int, int]:
        """(M, N): numbers of targets and sources."""
        return (self._m, self._n)

    @property
    def dtype(self) -> np.dtype:
        """Of positions, charges and results."""
        return np.dtype(self._what.dtype)

    @property
    def report(self) -> Optional[Dict]:
        """What the last call with ``report=True`` did: seconds and counts by stage, and what was found."""
        return self._report

    def retarget(self, targets: Any = None) -> None:
        """Other targets, of the kind that the plan has.

        Parameters
        ----------
        targets : array (M, 3), or (M,) of int32 or int64, or None
            Positions, for a plan that was made with such; else numbers of sources, or None, all of them.

        Raises
        ------
        InvalidArgument
            For targets of the other kind, or such that are not finite or no sources'. The plan is as it was then.
        """
        if self._by_charges:
            raise ValueError('error_norm="p99" is for results at the sources')
        y, m, are_numbers = targets_of(targets, self._what)
        self._solver.retarget(self._plan, y)
        self._y, self._m, self._are_numbers = y, m, are_numbers

    def __call__(self, q: Any = None, *, dipoles: Any = None,
                 outputs: Union[Output, Sequence[Output]] = POTENTIAL_AND_FIELD, out: Any = None,
                 report: bool = False) -> Any:
        """Sums of charges, of dipoles, or of both.

        Parameters
        ----------
        q : array (N,), or (N, K) of K densities
            Charges, or masses, of the dtype of x and where x is.
        dipoles : array (N, 3) or (N, K, 3)
            Dipole moments, charge times length: the potential of p at d from it is p.d / r^3.
        outputs : names, or one of them
            Of "potential" (M,), "field" (M, 3), and "hessian" (M, 6) of the potential: xx, yy, zz, xy, xz, yz. Of K
            densities (M, K), (M, K, 3), (M, K, 6).
        out : array, or a sequence of arrays
            Where results are written, in the order of outputs; not given: new arrays of the kind of x.
        report : bool
            Whether `report` is wanted, which costs some time.

        Returns
        -------
        tuple of arrays, or an array if outputs is one name
        """
        names = names_of(outputs)
        q, dipoles, k = strengths_of(q, dipoles, self._what)
        shapes = {name: (self._m, *k, *ROWS[name]) for name in names}
        results = results_for(self._kind, names, shapes, self._what, out)
        note = _fmm.Report() if report else None
        if self._by_charges:
            self._sum_by_charges(q, dipoles, k, results, note)
        else:
            self._solver.evaluate(self._plan, q, dipoles, results.get("potential"), results.get("field"),
                                  results.get("hessian"), note)
        if report:
            self._report = note.to_dict()
        finished = given_of(out) if out is not None else tuple(self._kind.finished(results[name]) for name in names)
        return finished[0] if isinstance(outputs, str) else finished

    def _sum_by_charges(self, q: Any, dipoles: Any, k: tuple, results: dict, note: Any) -> None:
        if dipoles is not None or k or "hessian" in results or q is None:
            raise ValueError('error_norm="p99" is for potential and field of charges (N,)')
        plan = self._solver.build(self._x, q, None)
        self._solver.evaluate(plan, q, None, results.get("potential"), results.get("field"), None, note)

    def linear_operator(self, output: Literal["potential", "field"] = "potential") -> Any:
        """The sums as a linear operator, for Krylov methods.

        It is one plan, of lists that depend on no charges: linear to rounding, that of float32 in mixed precision,
        which "auto" is for arrays of float32 only. For charges of one sign, spread over all sources, it errs by at
        most the tolerance; for any others by a few tolerances (1.6 were seen) relative to the potential, or field, of
        their magnitudes, sum |q_j| / r: charges that cancel may err by more beside their own.

        Parameters
        ----------
        output : {"potential", "field"}
            Of the sums.

        Returns
        -------
        scipy.sparse.linalg.LinearOperator
            (M, N), of the potential; (3 M, N), of the field's numbers row by row. `rmatvec` is its transpose.
        """
        from ._operators import linear_operator
        if self._by_charges:
            raise ValueError('error_norm="p99": a linear operator is for "l2"')
        x, y = to_host(self._x, "x"), None if self._y is None else to_host(self._y, "targets")
        keywords = dict(self._keywords)
        if self._is_auto and self._what.dtype == "float64":
            keywords["precision"] = "double"
        return linear_operator(x, y, self._are_numbers, self._m, self._n, self._what.dtype, output, keywords)

    def measure_error(self, q: Any = None, *, dipoles: Any = None, samples: int = 1000, seed: int = 1,
                      outputs: Union[Output, Sequence[Output]] = ("potential", "field")) -> Dict[str, float]:
        """Relative L2 errors of this plan's results at random targets, against `direct` sums.

        Parameters
        ----------
        q, dipoles, outputs
            As of a call; of one density, in NumPy's arrays.
        samples : int
            How many targets, 1 or more; all, if there are fewer.
        seed : int
            Of the targets that are drawn.

        Returns
        -------
        dict
            {"potential": 1e-5, ..}. Cost: a call, and samples times N pairs in double.
        """
        from ._functions import direct
        if samples < 1:
            raise ValueError(f"samples = {samples}: 1 or more")
        names = names_of(outputs)
        q, dipoles, k = strengths_of(q, dipoles, self._what)
        if k:
            raise ValueError("several densities: errors are measured of one")
        found = self(q, dipoles=dipoles, outputs=names)
        chosen = np.random.default_rng(seed).permutation(self._m)[:samples]
        chosen.sort()
        y = chosen if self._y is None else to_host(self._y, "targets")[chosen]

        def in_double(array: Any, name: str) -> Any:
            return None if array is None else np.asarray(to_host(array, name), np.float64)

        exact = direct(in_double(self._x, "x"), in_double(q, "q"), dipoles=in_double(dipoles, "dipoles"),
                       targets=y.astype(np.int64 if y.ndim == 1 else np.float64), outputs=names,
                       kernel=self._keywords["kernel"], softening=self._keywords["softening"], G=self._keywords["G"],
                       box=self._keywords["box"], boundary=self._keywords["boundary"])
        weights = {"potential": 1.0, "field": 1.0, "hessian": np.array([1.0, 1, 1, 2, 2, 2])}
        errors = {}
        for name, some, known in zip(names, found, exact):
            differences = np.sum(weights[name] * (in_double(some, name)[chosen] - known)**2)
            norm = np.sum(weights[name] * known**2)
            errors[name] = float(np.sqrt(differences / norm)) if differences > 0 else 0.0
        return errors

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={value!r}" for name, value in self._keywords.items() if name != "backend")
        return f"<fmm.Plan of {self._n} sources and {self._m} targets, {self._what.dtype}, {self._backend}: {words}>"
