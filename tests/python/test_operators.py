# SPDX-License-Identifier: BSD-3-Clause
"""Frozen plans as SciPy's linear operators."""

import inspect

import numpy as np
import pytest
import scipy.sparse.linalg

import fmm
from reference import sums

RTOL = "rtol" if "rtol" in inspect.signature(scipy.sparse.linalg.gmres).parameters else "tol"
RANDOM = np.random.default_rng(1)


@pytest.mark.parametrize("n, m", [(300, None), (300, 120), (3000, None), (2500, 2000)])
@pytest.mark.parametrize("output", ["potential", "field"])
def test_it_is_linear_and_has_its_transpose(n, m, output):
    x = RANDOM.random((n, 3))
    y = None if m is None else RANDOM.random((m, 3))
    A = fmm.Plan(x, targets=y, tolerance=1e-5).linear_operator(output)
    rows = (n if m is None else m) * (3 if output == "field" else 1)
    assert A.shape == (rows, n) and A.dtype == np.float64
    u, v, w = RANDOM.standard_normal(n), RANDOM.standard_normal(n), RANDOM.standard_normal(rows)
    left = A @ (3 * u - v)
    assert np.linalg.norm(left - (3 * (A @ u) - A @ v)) <= 1e-13 * np.linalg.norm(left)
    scale = np.linalg.norm(A @ u) * np.linalg.norm(w)
    assert abs((A @ u) @ w - u @ A.rmatvec(w)) <= 1e-12 * scale
    both = A @ np.stack([u, v], axis=1)
    assert both.shape == (rows, 2)
    assert np.linalg.norm(both[:, 1] - A @ v) <= 1e-12 * np.linalg.norm(A @ v)
    assert np.linalg.norm(A.T @ w - A.rmatvec(w)) == 0
    ones = np.ones(n)
    exact = sums(x, ones, targets=y)[0 if output == "potential" else 1].ravel()
    assert np.linalg.norm(A @ ones - exact) <= 1e-5 * np.linalg.norm(exact)


def test_gmres_solves():
    """Charges that make a given potential, with a self term that a boundary element has."""
    n = 2000
    turn, z = np.pi * (1 + 5**0.5) * np.arange(n), 1 - (2 * np.arange(n) + 1) / n  # even on the unit sphere
    x = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)
    A = fmm.Plan(x, tolerance=1e-8).linear_operator()
    own = scipy.sparse.linalg.aslinearoperator(scipy.sparse.diags(np.full(n, 0.5 * np.sqrt(n * np.pi))))
    steps = []
    q, info = scipy.sparse.linalg.gmres(A + own, np.ones(n), atol=0, callback=steps.append,
                                        callback_type="pr_norm", maxiter=3, **{RTOL: 1e-6})
    assert info == 0 and len(steps) < 40
    exact = sums(x, q)[0] + 0.5 * np.sqrt(n * np.pi) * q
    assert np.linalg.norm(exact - 1) <= 3e-6 * np.sqrt(n)


def test_float32_and_gravity():
    x = RANDOM.random((400, 3)).astype(np.float32)
    A = fmm.Plan(x, kernel="gravity", softening=0.1, tolerance=1e-4).linear_operator()
    assert A.dtype == np.float32
    m = np.ones(400, np.float32)
    exact = sums(x, m, softening=0.1, scale=-1.0)[0]
    assert np.linalg.norm(A @ m - exact) <= 1e-4 * np.linalg.norm(exact)
    with pytest.raises(TypeError, match="complex"):
        A @ (1j * m)
    with pytest.raises(ValueError, match="output"):
        fmm.Plan(x).linear_operator("hessian")


def test_masses_of_both_signs_and_small_vectors():
    x = RANDOM.random((300, 3))
    A = fmm.Plan(x, kernel="gravity", softening=0.1, G=2.0, tolerance=1e-6).linear_operator()
    q = RANDOM.standard_normal(300)
    exact = sums(x, q, softening=0.1, scale=-2.0)[0]
    assert np.linalg.norm(A @ q - exact) <= 1e-12 * np.linalg.norm(exact)
    assert abs((A @ q) @ q - q @ A.rmatvec(q)) <= 1e-12 * abs((A @ q) @ q)
    B = fmm.Plan(x.astype(np.float32)).linear_operator()
    small = B @ np.full(300, 1e-36, np.float32)
    assert small.dtype == np.float32
    assert np.allclose(small / np.float32(1e-36), B @ np.ones(300, np.float32), rtol=1e-5)
    assert (B @ q).dtype == np.float64
    assert not (B @ np.zeros(300)).any()


@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("output", ["potential", "field"])
def test_rows_of_chosen_targets(n, output):
    x = RANDOM.random((n, 3))
    chosen = np.array([5, 1, 1, n - 1])
    A = fmm.Plan(x, targets=chosen, tolerance=1e-6).linear_operator(output)
    columns = 3 if output == "field" else 1
    assert A.shape == (4 * columns, n)
    q, w = RANDOM.standard_normal(n), RANDOM.standard_normal(4 * columns)
    assert abs((A @ q) @ w - q @ A.rmatvec(w)) <= 1e-12 * np.linalg.norm(A @ q) * np.linalg.norm(w)
    ones = np.ones(n)
    exact = sums(x, ones)[0 if output == "potential" else 1][chosen].ravel()
    assert np.linalg.norm(A @ ones - exact) <= 1e-5 * np.linalg.norm(exact)
