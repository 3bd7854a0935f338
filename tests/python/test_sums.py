# SPDX-License-Identifier: BSD-3-Clause
"""Sums against the definitions: both functions, plans, targets, densities, dipoles, Hessians, tolerances."""

import numpy as np
import pytest

import fmm
from reference import error, sums


def bodies(n, seed=1, dtype=np.float64):
    random = np.random.default_rng(seed)
    return random.random((n, 3)).astype(dtype), random.standard_normal(n).astype(dtype)


@pytest.mark.parametrize("n", [1, 2, 50, 4000])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
def test_laplace(n, tolerance):
    x, q = bodies(n)
    phi, field = fmm.laplace(x, q, tolerance=tolerance)
    exact = sums(x, q)
    assert phi.shape == (n,) and field.shape == (n, 3) and phi.dtype == field.dtype == np.float64
    if n > 1:
        assert error(phi, exact[0]) <= tolerance
        assert error(field, exact[1]) <= tolerance
    else:
        assert phi[0] == 0 and not field.any()


@pytest.mark.parametrize("n", [50, 4000])
def test_gravity(n):
    x, m = bodies(n)
    m = np.abs(m)
    phi, acc = fmm.gravity(x, m, softening=0.05, G=2.5, tolerance=1e-5)
    exact = sums(x, m, softening=0.05, scale=-2.5)
    assert error(phi, exact[0]) <= 1e-5
    assert error(acc, exact[1]) <= 1e-5
    assert np.all(phi < 0)


def test_float32_stays_float32():
    x, q = bodies(3000, dtype=np.float32)
    phi, field = fmm.laplace(x, q, tolerance=1e-5)
    assert phi.dtype == field.dtype == np.float32
    assert error(field, sums(x, q)[1]) <= 1e-5
    with pytest.raises(fmm.InvalidArgument, match="float"):
        fmm.laplace(x, q, tolerance=1e-9)


@pytest.mark.parametrize("n", [60, 3000])
def test_targets(n):
    x, q = bodies(n)
    y = np.concatenate([bodies(n // 2, 2)[0], x[:3]])
    exact = sums(x, q, targets=y)
    for phi, field in (fmm.laplace(x, q, targets=y, tolerance=1e-6), fmm.Plan(x, targets=y, tolerance=1e-6)(q)):
        assert error(phi, exact[0]) <= 1e-6
        assert error(field, exact[1]) <= 1e-6
    of_all = sums(x, q)
    for dtype in (np.int32, np.int64):
        chosen = np.array([n - 1, 0, 7, 7], dtype)
        phi, field = fmm.laplace(x, q, targets=chosen, tolerance=1e-6)
        assert error(phi, of_all[0][chosen]) <= 1e-5  # of four targets
        assert field.shape == (4, 3)
    with pytest.raises(fmm.InvalidArgument, match=r"targets\(1\)"):
        fmm.laplace(x, q, targets=np.array([0, n]))


@pytest.mark.parametrize("n", [80, 2500])
@pytest.mark.parametrize("given", ["charges", "dipoles", "both"])
def test_plans_of_any_strengths(n, given):
    x, q = bodies(n)
    p = np.random.default_rng(3).standard_normal((n, 3))
    charges = None if given == "dipoles" else q
    dipoles = None if given == "charges" else p
    plan = fmm.Plan(x, tolerance=1e-5)
    potential, field, hessian = plan(charges, dipoles=dipoles, outputs=("potential", "field", "hessian"))
    for found, exact in zip((potential, field, hessian), sums(x, charges, dipoles)):
        assert error(found, exact) <= 1e-5
    # each alone, in any order
    alone = plan(charges, dipoles=dipoles, outputs="hessian")
    assert error(alone, sums(x, charges, dipoles)[2]) <= 1e-5
    swapped = plan(charges, dipoles=dipoles, outputs=("field", "potential"))
    assert swapped[0].shape == (n, 3) and swapped[1].shape == (n,)


@pytest.mark.parametrize("n", [40, 2000])
def test_densities(n):
    x, _ = bodies(n)
    q = np.random.default_rng(5).standard_normal((n, 5)) * 10.0**np.arange(-2, 3)
    plan = fmm.Plan(x, tolerance=1e-6)
    phi, field = plan(q)
    assert phi.shape == (n, 5) and field.shape == (n, 5, 3)
    for k in range(5):
        exact = sums(x, q[:, k])
        assert error(phi[:, k], exact[0]) <= 1e-6
        assert error(field[:, k], exact[1]) <= 1e-6
    p = np.random.default_rng(6).standard_normal((n, 2, 3))
    hessian = plan(dipoles=p, outputs="hessian")
    assert hessian.shape == (n, 2, 6)
    assert error(hessian[:, 1], sums(x, dipoles=p[:, 1])[2]) <= 1e-6


def test_retarget():
    x, q = bodies(500)
    y, z = bodies(100, 2)[0], bodies(37, 3)[0]
    plan = fmm.Plan(x, targets=y, tolerance=1e-6)
    assert plan.shape == (100, 500)
    plan.retarget(z)
    assert plan.shape == (37, 500)
    assert error(plan(q)[1], sums(x, q, targets=z)[1]) <= 1e-6
    with pytest.raises(fmm.InvalidArgument):
        plan.retarget(np.array([1, 2]))


def test_out_and_results_that_outlive_plans():
    x, q = bodies(300)
    plan = fmm.Plan(x)
    phi, field = np.empty(300), np.full((300, 8), 7.0)[:, 1:7:2]  # rows that are not beside each other
    given = plan(q, out=(phi, field))
    assert given[0] is phi and given[1] is field
    assert plan(q, outputs="potential", out=phi) is phi
    kept = plan(q)
    del plan
    np.testing.assert_array_equal(kept[0], phi)
    np.testing.assert_array_equal(kept[1], field)
    functions = fmm.laplace(x, q, out=(phi, field))
    assert functions[1] is field
    with pytest.raises(ValueError, match="2 outputs"):
        fmm.Plan(x)(q, out=(phi,))


@pytest.mark.parametrize("n", [300, 2500])
def test_own_errors(n):
    x, q = bodies(n)
    plan = fmm.Plan(x, tolerance=1e-5, error_norm="p99")
    phi, field = plan(q)
    exact = sums(x, q)[1]
    own = np.linalg.norm(field - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert np.quantile(own, 0.985) <= 1e-5
    if n > 1536:
        with pytest.raises(ValueError, match="p99"):
            plan(q, outputs="hessian")
        with pytest.raises(fmm.InvalidArgument, match="finite"):
            fmm.Plan(np.full((n, 3), np.nan), error_norm="p99")


def test_direct():
    x, q = bodies(200)
    seen = []
    potential, field, hessian = fmm.direct(x, q, outputs=("potential", "field", "hessian"),
                                           progress=lambda done, all: seen.append((done, all)))
    for found, exact in zip((potential, field, hessian), sums(x, q)):
        assert error(found, exact) < 1e-13
    assert seen == [(200, 200)]
    softened = fmm.direct(x, np.abs(q), kernel="gravity", softening=0.1, G=3.0, targets=x[:5], outputs="field")
    assert error(softened, sums(x, np.abs(q), targets=x[:5], softening=0.1, scale=-3.0)[1]) < 1e-13


def test_direct_in_parts(monkeypatch):
    import fmm._functions as functions
    monkeypatch.setattr(functions, "_PAIRS_AT_A_TIME", 1000)
    x, q = bodies(100)
    seen = []
    for targets in (None, bodies(33, 2)[0], np.arange(33)):
        seen.clear()
        field = fmm.direct(x, q, targets=targets, outputs="field", progress=lambda *all: seen.append(all))
        of = x[targets] if targets is not None and targets.ndim == 1 else targets
        exact = sums(x, q)[1][:33] if targets is not None and targets.ndim == 1 else sums(x, q, targets=of)[1]
        assert error(field, exact) < 1e-13
        assert len(seen) == -(-len(field) // 10) and seen[-1] == (len(field),) * 2


def test_reports_and_measured_errors():
    x, q = bodies(3000)
    plan = fmm.Plan(x, tolerance=1e-4)
    assert plan.report is None
    plan(q, report=True)
    assert plan.report["seconds"]["p2p"] > 0 and plan.report["found"]["seen_error"] <= 1e-4
    errors = plan.measure_error(q, samples=500)
    assert 0 < errors["field"] <= 2e-4 and set(errors) == {"potential", "field"}
    exact = sums(x, q)[1]
    assert errors["field"] == pytest.approx(error(plan(q, outputs="field"), exact), rel=0.5)


def test_nothing():
    none = np.empty((0, 3))
    phi, field = fmm.laplace(none, np.empty(0))
    assert phi.shape == (0,) and field.shape == (0, 3)
    x, q = bodies(5)
    assert fmm.laplace(x, q, targets=none)[0].shape == (0,)
    phi, field = fmm.laplace(none, np.empty(0), targets=x)
    assert not phi.any() and not field.any()
    assert fmm.Plan(x)(np.empty((5, 0)))[0].shape == (5, 0)
