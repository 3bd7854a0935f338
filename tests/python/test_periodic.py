# SPDX-License-Identifier: BSD-3-Clause
"""Sums in periodic boxes: Madelung's constant, Ewald's sums, boxes of every form."""

import numpy as np
import pytest

import fmm
from reference import error

SALT = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float64)
IONS = (-1.0)**SALT.sum(axis=1)
MADELUNG = 1.747564594633182


@pytest.mark.parametrize("box", [2, 2.0, [2, 2, 2], np.eye(3) * 2, [[2, 0, 0], [2, 2, 0], [-4, 2, 2]]])
def test_rock_salt(box):
    phi, field = fmm.laplace(SALT + 17, IONS, box=box, tolerance=1e-8)
    np.testing.assert_allclose(-IONS * phi, MADELUNG, rtol=1e-8)
    assert np.abs(field).max() < 1e-8


@pytest.mark.parametrize("n", [60, 5000])
@pytest.mark.parametrize("box", [1.0, [1, 1.3, 2], [[1, 0, 0], [0.3, 1.2, 0], [-0.1, 0.4, 1.1]]])
def test_tolerances_hold(n, box):
    random = np.random.default_rng(1)
    x, q = random.random((n, 3)), random.choice([-1.0, 1.0], n)
    exact = fmm.direct(x, q, box=box)
    plan = fmm.Plan(x, box=box, tolerance=1e-5)
    for phi, field in (plan(q), fmm.laplace(x, q, box=box, tolerance=1e-5)):
        assert error(phi, exact[0]) <= 1e-5
        assert error(field, exact[1]) <= 1e-5
    assert max(plan.measure_error(q, samples=50).values()) <= 2e-5


def test_gravity_has_a_background():
    """Of two equal masses half an edge apart there is no force; the mean potential is 0."""
    x = np.array([[0.0, 0, 0], [0.5, 0, 0]])
    phi, acc = fmm.gravity(x, np.ones(2), box=1.0, tolerance=1e-6)
    assert np.abs(acc).max() < 1e-6
    y = np.stack(np.meshgrid(*[(np.arange(12) + 0.25) / 12] * 3), -1).reshape(-1, 3)
    assert abs(fmm.Plan(x, box=1.0, kernel="gravity", targets=y, tolerance=1e-6)(np.ones(2))[0].mean()) < 0.05


def test_vacuum():
    x, q = np.array([[0.0, 0, 0], [0.5, 0, 0]]), np.array([1.0, -1])
    difference = [fmm.direct(x, q, box=1.0, boundary=boundary)[1] for boundary in ("tin-foil", "vacuum")]
    np.testing.assert_allclose(difference[1] - difference[0], [[4 * np.pi / 6, 0, 0]] * 2, atol=1e-12)
    with pytest.raises(fmm.InvalidArgument, match="net charge"):
        fmm.direct(x, np.ones(2), box=1.0, boundary="vacuum")


def test_what_is_refused():
    x, q = SALT, IONS
    for box, words in (([1, 2], "shape"), (np.ones((2, 3)), "shape"), (0.0, "volume"), ([1, 1, np.inf], "finite"),
                       ([1, 1, 30], "at most 20")):
        with pytest.raises(ValueError, match=words):
            fmm.laplace(x, q, box=box)
    with pytest.raises(ValueError, match="boundary"):
        fmm.laplace(x, q, box=1.0, boundary="water")
    with pytest.raises(TypeError, match="boundary"):
        fmm.laplace(x, q, box=1.0, boundary=3)
