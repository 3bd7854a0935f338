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
    device: int


def taken(array: Any) -> Any:
    """The array, or a copy of one of NumPy whose strides cannot be told in numbers forward."""
    if isinstance(array, np.ndarray) and not array.flags.c_contiguous:
        size = array.itemsize
        if any(stride < 0 or stride % size for stride in array.strides):
            return np.ascontiguousarray(array)
    return array


def facts(array: Any, name: str) -> Facts:
    """Raises TypeError for what is no array, or of other numbers than the library takes."""
    if type(array) is np.ndarray and array.dtype.isnative and array.dtype.kind == "f":
        if array.dtype.itemsize in (4, 8):
            return Facts(array.dtype.name, array.shape, False, 0)
    dtype, shape, on_device, device, _, _ = _fmm.described(array, name)
    return Facts(dtype, shape, on_device, device)


def check_dtype(array: Any, name: str, dtype: str, like: str) -> Facts:
    """Raises TypeError for numbers of another type."""
    what = facts(array, name)
    if what.dtype != dtype:
        raise TypeError(f"{name} is of {what.dtype}, and {like} of {dtype}: one type of numbers is wanted, float32 "
                        "or float64; nothing is cast in silence")
    return what


def backend_of(what: Facts) -> str:
    """Where an array is summed: where it lies."""
    if what.on_device:
        number = _fmm.device_number("cuda")
        if what.device != number:
            raise ValueError(f"arrays on CUDA device {what.device}: the library works on device {number}")
        return "cuda"
    return _HOST


class Kind:
    """The library that an array is of, for results of the same."""

    def __init__(self, array: Any, what: Facts, backend: str):
        self._backend = backend
        self._from_dlpack = None if _has_buffer(array) else _from_dlpack_of(array)

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """What the library can write; `finished` makes the result of it."""
        if self._from_dlpack is None:
            return np.empty(shape, dtype)
        return _fmm.OwnArray(list(shape), dtype, self._backend)

    def finished(self, written: Any) -> Any:
        """The result, in the caller's kind: the same memory."""
        return self._from_dlpack(written) if isinstance(written, _fmm.OwnArray) else written


def _has_buffer(array: Any) -> bool:
    if isinstance(array, np.ndarray):
        return True
    try:
        memoryview(array)
    except TypeError:
        return False
    return True


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
