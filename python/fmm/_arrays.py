# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of the caller's: what they are, and results of their kind."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from . import _fmm

_HOST = "openmp" if "openmp" in _fmm.config()["backends"] else "serial"


class Facts(NamedTuple):
    """What is to be known of an array."""

    dtype: str
    shape: tuple[int, ...]
    on_device: bool


def taken(array: Any, name: str) -> Any:
    """The array, or a copy of one in the host's memory whose strides cannot be told in numbers forward."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, and sums have no use for masks: hand in its filled(0), or its data")
    if isinstance(array, np.ndarray):
        if not array.flags.c_contiguous:
            size = array.itemsize
            if any(stride < 0 or stride % size for stride in array.strides):
                return np.ascontiguousarray(array)
    elif isinstance(array, memoryview) and any(stride < 0 for stride in array.strides or ()):
        return np.ascontiguousarray(array)
    return array


def number(value: Any, name: str) -> float:
    """Raises TypeError for what is no number."""
    if isinstance(value, (str, bytes)) or value is None:
        raise TypeError(f"{name} = {value!r}: a number is wanted")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} = {value!r}: a number is wanted") from None


def word(value: Any, name: str) -> str:
    """Raises TypeError for what is no str."""
    if not isinstance(value, str):
        raise TypeError(f"{name} = {value!r}: a str is wanted")
    return value


def facts(array: Any, name: str) -> Facts:
    """Raises TypeError for what is no array, or of other numbers than the library takes."""
    if type(array) is np.ndarray and array.dtype.isnative and array.dtype.kind == "f":
        if array.dtype.itemsize in (4, 8) and array.ndim > 0:
            return Facts(array.dtype.name, array.shape, False)
    return Facts(*_fmm.described(array, name)[:3])


def check_dtype(array: Any, name: str, dtype: str, like: str) -> Facts:
    """Raises TypeError for numbers of another type."""
    what = facts(array, name)
    if what.dtype != dtype:
        raise TypeError(f"{name} is of {what.dtype}, and {like} of {dtype}: one type of numbers is wanted, float32 "
                        "or float64; nothing is cast in silence")
    return what


def backend_of(what: Facts) -> str:
    """Where an array is summed: where it lies."""
    return "cuda" if what.on_device else _HOST


class Kind:
    """The library that an array is of, for results of the same."""

    def __init__(self, array: Any, backend: str):
        self._like, self._backend = array, backend
        self._is_numpy = isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__")

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """What the library can write; `finished` makes the result of it."""
        if self._is_numpy:
            return np.empty(shape, dtype)
        _from_dlpack_of(self._like)  # raises, before any work
        return _fmm.OwnArray(list(shape), dtype, self._backend)

    def finished(self, written: Any) -> Any:
        """The result, in the caller's kind: the same memory."""
        return _from_dlpack_of(self._like)(written) if isinstance(written, _fmm.OwnArray) else written


def _from_dlpack_of(array: Any):
    """The function from_dlpack of the library that the array's type is of."""
    if hasattr(array, "__array_namespace__"):
        space = array.__array_namespace__()
        if hasattr(space, "from_dlpack"):
            return space.from_dlpack
    root = type(array).__module__.partition(".")[0]
    for name in (root, "jax.dlpack" if root.startswith("jax") else ""):
        found = getattr(sys.modules.get(name), "from_dlpack", None)
        if found is not None:
            return found
    raise TypeError(f"an array of type {type(array).__qualname__}: its library has no from_dlpack, which results are "
                    "made by")


def to_host(array: Any, name: str) -> np.ndarray:
    """As NumPy's, for what is done in NumPy. Raises TypeError for arrays on a device."""
    if facts(array, name).on_device:
        raise TypeError(f"{name} is on a device: this is for arrays in the host's memory")
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
        return np.asarray(array)
    return np.from_dlpack(array)


def results_for(kind: Kind, names: tuple[str, ...], shapes: dict[str, tuple[int, ...]], dtype: str,
                out: Any) -> dict[str, Any]:
    """New arrays, or those of `out`. Raises ValueError or TypeError for other ones than are wanted."""
    if out is None:
        return {name: kind.empty(shapes[name], dtype) for name in names}
    given = given_of(out)
    if len(given) != len(names):
        raise ValueError(f"out has {len(given)} arrays, for {len(names)} outputs: {', '.join(names)}")
    for array, name in zip(given, names):
        shape = check_dtype(array, f"out ({name})", dtype, "x").shape
        if tuple(shape) != shapes[name]:
            raise ValueError(f"out ({name}) has the shape {tuple(shape)}: {shapes[name]} is wanted")
    return dict(zip(names, given))


def given_of(out: Any) -> tuple:
    """The arrays of `out`, which may be one."""
    return tuple(out) if isinstance(out, (tuple, list)) else (out,)


ROWS: dict[str, tuple[int, ...]] = {"potential": (), "field": (3,), "hessian": (6,)}


def names_of(outputs: Any) -> tuple[str, ...]:
    """Raises ValueError for names that are no results', or come twice."""
    names = (outputs,) if isinstance(outputs, str) else outputs
    try:
        names = tuple(names)
        wrong = not names or len(set(names)) != len(names) or any(name not in ROWS for name in names)
    except TypeError:
        wrong = True
    if wrong:
        raise ValueError(f'outputs = {outputs!r}: some of "potential", "field", "hessian", each once')
    return names


def strengths_of(q: Any, dipoles: Any, n: int, dtype: str) -> tuple[Any, Any, tuple[int, ...]]:
    """Charges and dipoles as they are taken, and (K,) of several densities, else ()."""
    k: tuple[int, ...] | None = None
    if q is None and dipoles is None:
        raise ValueError("q and dipoles are None: at least one of the two is wanted")
    if q is not None:
        q = taken(q, "q")
        shape = tuple(check_dtype(q, "q", dtype, "x").shape)
        if len(shape) > 2 or shape[0] != n:
            raise ValueError(f"q has the shape {shape}: ({n},), or ({n}, K) of K densities, is wanted")
        k = shape[1:]
    if dipoles is not None:
        dipoles = taken(dipoles, "dipoles")
        shape = tuple(check_dtype(dipoles, "dipoles", dtype, "x").shape)
        if len(shape) not in (2, 3) or shape[0] != n or shape[-1] != 3 or k not in (None, shape[1:-1]):
            like = f"({n}, 3), or ({n}, K, 3)" if k is None else str((n, *k, 3))
            raise ValueError(f"dipoles have the shape {shape}: {like} is wanted")
        k = shape[1:-1]
    return q, dipoles, k


def positions_of(x: Any) -> tuple[Any, Facts]:
    """Sources as they are taken. Raises TypeError and ValueError."""
    x = taken(x, "x")
    what = facts(x, "x")
    if what.dtype not in ("float32", "float64"):
        raise TypeError(f"x is of {what.dtype}: positions are of float32 or float64")
    if len(what.shape) != 2 or what.shape[1] != 3:
        raise ValueError(f"x has the shape {tuple(what.shape)}: (N, 3) is wanted")
    return x, what


def targets_of(targets: Any, n: int, dtype: str) -> tuple[Any, int, bool]:
    """Targets as they are taken, how many, and whether they are numbers of sources; None: all n sources."""
    if targets is None:
        return None, n, False
    y = taken(targets, "targets")
    what = facts(y, "targets")
    if len(what.shape) == 1:
        if what.dtype not in ("int32", "int64"):
            raise TypeError(f"targets is of {what.dtype} and has one dimension: numbers of sources, of int32 or int64, "
                            "or positions (M, 3) are wanted")
        return y, what.shape[0], True
    check_dtype(y, "targets", dtype, "x")
    if len(what.shape) != 2 or what.shape[1] != 3:
        raise ValueError(f"targets has the shape {tuple(what.shape)}: (M, 3), or (M,) of int32 or int64, is wanted")
    return y, what.shape[0], False
