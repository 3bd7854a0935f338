# SPDX-License-Identifier: BSD-3-Clause
"""N-body sums by fast multipole method, treecode and direct summation.

    phi, acc = fmm.gravity(x, m, softening=1e-3, tolerance=1e-4)     # (N,3), (N,) -> (N,), (N,3)
    plan = fmm.Plan(x, targets=y, tolerance=1e-6)                    # sources are kept
    phi, field = plan(q)                                             # q (N,) or (N,K), again and again
    A = fmm.Plan(x, tolerance=1e-6).linear_operator()                # (N,N), for scipy.sparse.linalg.gmres

Arrays are of NumPy, CuPy, PyTorch, JAX or anything else with the buffer protocol or DLPack, in float32 or float64; they
are read where they lie, and results are of the same kind on the same device. A tolerance that is asked for is held, or
refused with one that can be had.

Threads: the variable OMP_NUM_THREADS, or `set_threads` before the first sum. Sums run without the interpreter's lock,
one at a time; with a Kokkos before 3.7 only in the thread that summed first. A process that was forked after the first
sum cannot sum: use multiprocessing's "spawn".
"""

from __future__ import annotations

import atexit as _atexit

from . import _fmm, models
from ._fmm import InvalidArgument, OutOfMemory, set_threads
from ._functions import direct, gravity, laplace
from ._plan import Plan
from ._snapshots import Snapshot, read_snapshot

__version__: str = _fmm.config()["version"]
__all__ = ["InvalidArgument", "OutOfMemory", "Plan", "Snapshot", "direct", "gravity", "laplace", "models",
           "read_snapshot", "set_threads", "show_config"]


def show_config() -> None:
    """Prints versions, backends, and how many threads there are, if they are known yet."""
    for name, value in _fmm.config().items():
        print(f"{name}: {value}")


_atexit.register(_fmm.end_session)
