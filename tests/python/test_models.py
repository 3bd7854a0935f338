# SPDX-License-Identifier: BSD-3-Clause
"""Models, snapshots, and what the module says of itself."""

import typing

import numpy as np
import pytest

import fmm


@pytest.mark.parametrize("name", fmm.models.__all__)
def test_models(name):
    make = getattr(fmm.models, name)
    x, q = make(1000, seed=3)
    again = make(1000, seed=3)
    assert x.shape == (1000, 3) and q.shape == (1000,) and np.isfinite(x).all()
    np.testing.assert_array_equal(x, again[0])
    assert (x != make(1000, seed=4)[0]).any()
    assert np.abs(q).sum() == pytest.approx(1) and (q > 0).all()
    assert (make(1000, charges="mixed")[1] < 0).any()
    assert make(0)[0].shape == (0, 3)


def test_models_are_what_they_say():
    assert np.allclose(np.linalg.norm(fmm.models.shell(500)[0], axis=1), 1)
    x, _ = fmm.models.cube(5000)
    assert 0 <= x.min() and x.max() <= 1 and abs(x.mean() - 0.5) < 0.02
    r = np.linalg.norm(fmm.models.plummer(20000)[0], axis=1)
    assert np.median(r) == pytest.approx(1 / np.sqrt(2**(2 / 3) - 1), rel=0.03)  # half of the mass
    with pytest.raises(ValueError, match="charges"):
        fmm.models.cube(3, charges="none")


def test_snapshots(tmp_path):
    file = tmp_path / "bodies.csv"
    file.write_text("x,y,z,m,px,py,pz\n0,1,2,3,4,5,6\n7,8,9,10,11,12,13\n")
    snapshot = fmm.read_snapshot(file)
    np.testing.assert_array_equal(snapshot.x, [[0, 1, 2], [7, 8, 9]])
    np.testing.assert_array_equal(snapshot.q, [3, 10])
    np.testing.assert_array_equal(snapshot.dipoles, [[4, 5, 6], [11, 12, 13]])
    assert snapshot.ids is None and "dipoles" in snapshot.notes[0]
    file.write_text("x y z q0 q1\n0 1 2 3 4\n")
    assert fmm.read_snapshot(str(file)).q.tolist() == [[3, 4]]
    file.write_text("0 0 0 -1\n")
    with pytest.raises(ValueError, match="line 1"):
        fmm.read_snapshot(file)
    assert fmm.read_snapshot(file, signed=True).q.tolist() == [-1]
    with pytest.raises(ValueError, match="cannot be opened|exist"):
        fmm.read_snapshot(tmp_path / "absent")


def test_what_it_says_of_itself(capsys):
    fmm.show_config()
    out = capsys.readouterr().out
    assert f"version: {fmm.__version__}" in out and "kokkos:" in out and "backends:" in out
    for name in fmm.__all__:
        assert getattr(fmm, name).__doc__, name
    for function in (fmm.laplace, fmm.gravity, fmm.direct, fmm.Plan.__init__, fmm.Plan.__call__, fmm.read_snapshot):
        assert "return" in typing.get_type_hints(function) or function is fmm.Plan.__init__
    assert fmm.InvalidArgument.__module__ == "fmm"
