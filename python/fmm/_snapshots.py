# SPDX-License-Identifier: BSD-3-Clause
"""Files of bodies."""

from __future__ import annotations

import os
from typing import List, NamedTuple, Optional, Union

import numpy as np

from . import _fmm


class Snapshot(NamedTuple):
    """Bodies of a file.

    Attributes
    ----------
    x : ndarray (N, 3)
        Positions.
    q : ndarray (N,), or (N, K)
        Masses or charges; of several densities, if the file has them.
    dipoles : ndarray (N, 3), or None
    ids : ndarray (N,) of int64 or uint64, or None
    notes : list of str
        What is left out of what the file says.
    """

    x: np.ndarray
    q: np.ndarray
    dipoles: Optional[np.ndarray]
    ids: Optional[np.ndarray]
    notes: List[str]


def read_snapshot(file: Union[str, os.PathLike], *, signed: bool = False) -> Snapshot:
    """Bodies of a text file or of an HDF5 snapshot, in float64.

    Parameters
    ----------
    file : path
        Text with columns x y z q, or what a header names (x, y, z; q, charge, m or mass; px py pz; q0 q1 ..); or an
        HDF5 snapshot in the way of GADGET and SWIFT: PartType*/Coordinates, Masses or Header/MassTable, ParticleIDs.
    signed : bool
        Whether charges below 0 are allowed.

    Returns
    -------
    Snapshot

    Raises
    ------
    ValueError
        With the file's name and the line or the dataset, for a file that cannot be read or whose content is wrong.
    """
    bodies = _fmm.read_bodies(os.fspath(file), signed)
    n, k = bodies.size, bodies.densities
    x, q = np.empty((n, 3)), np.empty(n if k is None else (n, k))
    bodies.positions(x)
    bodies.charges(q)
    dipoles = ids = None
    if bodies.has_dipoles:
        dipoles = np.empty((n, 3))
        bodies.dipoles(dipoles)
    if bodies.has_ids:
        numbers = np.empty(n, np.uint64)
        bodies.ids(numbers)
        ids = numbers.view(np.int64) if bodies.signed_ids else numbers
    return Snapshot(x, q, dipoles, ids, list(bodies.notes))
