# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of the caller's: what they are, and results of their kind."""

from __future__ import annotations

import sys
from typing import Any, List, NamedTuple, Optional

import numpy as np

from . import _fmm

_DTYPES = {name: np.dtype(name) for name in ("float32", "float64")}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}  # none in the other order of bytes
_HOST = "openmp" if "openmp" in _fmm.config()["backends"] else "serial"


class Facts(NamedTuple):
    """What is to be known of an array."""

    dtype: str
    shape: tuple[int, ...]
    on_device: bool


def taken(array: Any, name: str) -> Any:
    """The array, or a copy of one in the host's memory whose strides cannot be told in numbers forward."""
    if isinstance(array, np.ndarray):
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError(f"{name} is a masked array, and sums have no use for masks: hand in its filled(0), or its "
                            "data")
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


def box_of(value: Any) -> Optional[List[List[float]]]:
    """Three vectors, of an edge, three edges or three vectors. Raises ValueError for anything else."""
    if value is None:
        return None
    box = np.asarray(value, np.float64)
    if box.ndim == 0:
        box = np.full(3, box)
    if box.shape == (3,):
        box = np.diag(box)
    if box.shape != (3, 3):
        raise ValueError(f"box has the shape {box.shape}: an edge, three edges or three vectors (3, 3) are wanted")
    return box.tolist()


def word(value: Any, name: str) -> str:
    """Raises TypeError for what is no str."""
    if not isinstance(value, str):
        raise TypeError(f"{name} = {value!r}: a str is wanted")
    return value


def facts(array: Any, name: str) -> Facts:
    """Raises TypeError for what is no array, or of other numbers than the library takes."""
    if type(array) is np.ndarray and array.ndim > 0:
        dtype = _NAMES.get(array.dtype)
        if dtype is not None:
            return Facts(dtype, array.shape, False)
    return Facts(*_fmm.described(array, name)[:3])


def check_alike(array: Any, name: str, x: Facts) -> Facts:
    """Raises TypeError for numbers of another type than x has, ValueError for another place."""
    what = facts(array, name)
    if what.dtype != x.dtype:
        raise TypeError(f"{name} is of {what.dtype}, and x of {x.dtype}: one type of numbers is wanted, float32 or "
                        "float64; nothing is cast in silence")
    check_place(what, name, x)
    return what


def check_place(what: Facts, name: str, x: Facts) -> None:
    """Raises ValueError for another place than where x is."""
    if what.on_device != x.on_device:
        places = ("in the host's memory", "on the device")
        raise ValueError(f"{name} is {places[what.on_device]}, and x {places[x.on_device]}: one place is wanted")


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
            return np.empty(shape, _DTYPES[dtype])
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


def results_for(kind: Kind, names: tuple[str, ...], shapes: dict[str, tuple[int, ...]], x: Facts,
                out: Any) -> dict[str, Any]:
    """New arrays, or those of `out`. Raises ValueError or TypeError for other ones than are wanted."""
    if out is None:
        return {name: kind.empty(shapes[name], x.dtype) for name in names}
    given = given_of(out)
    if len(given) != len(names):
        raise ValueError(f"out has {len(given)} arrays, for {len(names)} outputs: {', '.join(names)}")
    for array, name in zip(given, names):
        shape = check_alike(array, f"out ({name})", x).shape
        if tuple(shape) != shapes[name]:
            raise ValueError(f"out ({name}) has the shape {tuple(shape)}: {shapes[name]} is wanted")
    return dict(zip(names, given))


def given_of(out: Any) -> tuple:
    """The arrays of `out`, which may be one."""
    return tuple(out) if isinstance(out, (tuple, list)) else (out,)


POTENTIAL_AND_FIELD = ("potential", "field")
ROWS: dict[str, tuple[int, ...]] = {"potential": (), "field": (3,), "hessian": (6,)}


def names_of(outputs: Any) -> tuple[str, ...]:
    """Raises ValueError for names that are no results', or come twice."""
    if outputs is POTENTIAL_AND_FIELD:
        return outputs
    names = (outputs,) if isinstance(outputs, str) else outputs
    try:
        names = tuple(names)
        wrong = not names or len(set(names)) != len(names) or any(name not in ROWS for name in names)
    except TypeError:
        wrong = True
    if wrong:
        raise ValueError(f'outputs = {outputs!r}: some of "potential", "field", "hessian", each once')
    return names


def strengths_of(q: Any, dipoles: Any, x: Facts) -> tuple[Any, Any, tuple[int, ...]]:
    """Charges and dipoles as they are taken, and (K,) of several densities, else ()."""
    n = x.shape[0]
    k: tuple[int, ...] | None = None
    if q is None and dipoles is None:
        raise ValueError("q and dipoles are None: at least one of the two is wanted")
    if q is not None:
        q = taken(q, "q")
        shape = tuple(check_alike(q, "q", x).shape)
        if len(shape) > 2 or shape[0] != n:
            raise ValueError(f"q has the shape {shape}: ({n},), or ({n}, K) of K densities, is wanted")
        k = shape[1:]
    if dipoles is not None:
        dipoles = taken(dipoles, "dipoles")
        shape = tuple(check_alike(dipoles, "dipoles", x).shape)
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


def targets_of(targets: Any, x: Facts) -> tuple[Any, int, bool]:
    """Targets as they are taken, how many, and whether they are numbers of sources; None: all sources."""
    if targets is None:
        return None, x.shape[0], False
    y = taken(targets, "targets")
    what = facts(y, "targets")
    if len(what.shape) == 1:
        if what.dtype not in ("int32", "int64"):
            raise TypeError(f"targets is of {what.dtype} and has one dimension: numbers of sources, of int32 or int64, "
                            "or positions (M, 3) are wanted")
        check_place(what, "targets", x)
        return y, what.shape[0], True
    check_alike(y, "targets", x)
    if len(what.shape) != 2 or what.shape[1] != 3:
        raise ValueError(f"targets has the shape {tuple(what.shape)}: (M, 3), or (M,) of int32 or int64, is wanted")
    return y, what.shape[0], False
