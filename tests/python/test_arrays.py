# SPDX-License-Identifier: BSD-3-Clause
"""Arrays: strides, types, other libraries' by the buffer protocol and DLPack, and what is refused."""

import array
import copy
import ctypes
import pickle
import sys

import numpy as np
import pytest

import fmm
from fmm import _fmm
from reference import Foreign, ForeignNamespace, error, sums

X = np.random.default_rng(1).random((200, 3))
Q = np.random.default_rng(2).standard_normal(200)
EXACT = sums(X, Q)


def assert_right(phi, field):
    assert error(phi, EXACT[0]) <= 1e-4 and error(field, EXACT[1]) <= 1e-4


def test_any_strides():
    wide = np.zeros((200, 7))
    wide[:, 1:7:2] = X
    every = np.zeros(600)
    every[::3] = Q
    assert_right(*fmm.laplace(wide[:, 1:7:2], every[::3]))
    assert_right(*fmm.laplace(np.asfortranarray(X), Q))
    assert_right(*fmm.laplace(X[::-1][::-1], Q[::-1][::-1]))
    phi, field = fmm.laplace(X[::-1], Q[::-1])  # backward ones are copied
    assert_right(phi[::-1], field[::-1])
    records = np.zeros(200, [("x", np.float64, 3), ("flag", np.int8), ("q", np.float64)])
    records["x"], records["q"] = X, Q
    assert_right(*fmm.laplace(records["x"], records["q"]))  # strides of 33 bytes


def test_read_only_and_broadcast():
    x, q = X.copy(), Q.copy()
    x.flags.writeable = q.flags.writeable = False
    assert_right(*fmm.laplace(x, q))
    ones = np.broadcast_to(1.0, 200)
    assert error(fmm.laplace(X, ones)[0], sums(X, np.ones(200))[0]) <= 1e-4
    with pytest.raises(ValueError, match="written"):
        fmm.laplace(X, Q, out=(np.broadcast_to(0.0, 200), np.empty((200, 3))))


def test_inputs_are_not_copied():
    for one in (X, X[:, ::-1][:, ::-1], Foreign(X), memoryview(X)):
        assert _fmm.described(one, "x")[3] == X.ctypes.data


def test_buffers():
    phi, field = fmm.laplace(X, array.array("d", Q))
    assert_right(phi, field)
    phi, field = fmm.laplace(memoryview(X), memoryview(Q))
    assert type(phi) is np.ndarray
    assert_right(phi, field)


def test_dlpack():
    x, q = Foreign(X), Foreign(Q)
    phi, field = fmm.laplace(x, q)
    assert type(phi) is Foreign and type(field) is Foreign
    assert_right(phi.numbers, field.numbers)
    plan = fmm.Plan(x, targets=x)
    both = plan(q)
    assert type(both[0]) is Foreign
    chosen = fmm.laplace(x, q, targets=Foreign(np.arange(5)))
    assert error(chosen[1].numbers, EXACT[1][:5]) <= 1e-3
    del plan, x, q
    assert_right(*fmm.Plan(Foreign(X))(Q, out=(np.empty(200), np.empty((200, 3)))))


def test_results_are_not_copied():
    made = []

    class Namespace:
        @staticmethod
        def from_dlpack(one):
            made.append(_fmm.described(one, "result")[3])
            return np.from_dlpack(one)

    class Other(Foreign):
        def __array_namespace__(self):
            return Namespace

    phi, field = fmm.laplace(Other(X), Q)
    assert made == [phi.ctypes.data, field.ctypes.data]
    del made
    assert_right(phi, field)


class Device(Foreign):
    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("device, says", [((2, 0), "CUDA"), ((10, 0), "type 10")])
def test_other_devices(device, says):
    if device[0] == 2 and "cuda" in _fmm.config()["backends"]:
        pytest.skip("a build with CUDA")
    x = Device(X)
    x.device = device
    with pytest.raises((TypeError, ValueError), match=says):
        fmm.laplace(x, Q)


class Gradient(Foreign):
    requires_grad = True


def test_types_that_are_refused():
    for x, q, says in ((X.astype(np.int64), Q, "int64"), (X.astype(complex), Q, "Zd"), (X, Q.astype(np.float32), "float32"),
                       (X.astype(np.float32), Q, "float64"), (X.astype(np.float16), Q, "'e'"),
                       (X.tolist(), Q, "list"), (X, None, "None"), (X.astype(">f8"), Q, ">d"),
                       (X.astype(np.longdouble), Q, "'g'"), (Gradient(X), Q, "gradient"), (X, "abc", "str"),
                       (np.array(["a"]), Q, "type")):
        with pytest.raises(TypeError, match=says):
            fmm.laplace(x, q)
    with pytest.raises(TypeError, match="targets is of float32"):
        fmm.laplace(X, Q, targets=X.astype(np.float32))
    with pytest.raises(TypeError, match="'b'"):
        fmm.Plan(X, targets=np.zeros(3, np.int8))


def test_shapes_and_values_that_are_refused():
    plan = fmm.Plan(X)
    bad = X.copy()
    bad[7, 1] = np.nan
    for call in (lambda: fmm.laplace(X[:, :2], Q), lambda: fmm.laplace(X.ravel(), Q), lambda: fmm.laplace(X, Q[1:]),
                 lambda: fmm.laplace(X, Q[:, None]), lambda: fmm.laplace(bad, Q), lambda: plan(Q[1:]),
                 lambda: plan(Q, dipoles=X[:, :2]), lambda: plan(Q, outputs=()), lambda: plan(Q, outputs="force"),
                 lambda: plan(Q, outputs=("field", "field")), lambda: plan(), lambda: fmm.laplace(X, Q, tolerance=1.0),
                 lambda: fmm.laplace(X, Q, tolerance=1e-20), lambda: fmm.gravity(X, Q - 10),
                 lambda: fmm.gravity(X, np.abs(Q), softening=-1), lambda: fmm.laplace(X, Q, precision="half"),
                 lambda: fmm.Plan(X, kernel="yukawa"), lambda: fmm.laplace(X, Q, targets=X[:, :2]),
                 lambda: fmm.laplace(np.zeros((2, 2, 2, 2)), Q), lambda: plan(Q, out=(np.empty(199), np.empty((200, 3))))):
        with pytest.raises(ValueError):
            call()
    assert issubclass(fmm.InvalidArgument, ValueError) and issubclass(fmm.OutOfMemory, MemoryError)
    with pytest.raises(fmm.InvalidArgument, match=r"sources\(7, 1\)"):
        fmm.Plan(bad)
    assert_right(*plan(Q))


def test_arrays_without_dimensions_and_masks():
    for call in (lambda: fmm.laplace(np.float64(1), Q), lambda: fmm.laplace(np.array(1.0), Q),
                 lambda: fmm.laplace(X, np.array(1.0)), lambda: fmm.laplace(X, Q, targets=np.array(3))):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError, match="masked"):
        fmm.laplace(X, np.ma.masked_array(Q, Q > 0))


def test_buffers_that_tell_no_strides():
    numbers = (ctypes.c_double * 200)(*Q)
    assert_right(*fmm.laplace(X, numbers))
    assert_right(*fmm.laplace((ctypes.c_double * 3 * 200).from_buffer(X.copy()), numbers))


def test_backward_memoryviews():
    phi, field = fmm.laplace(memoryview(X)[::-1], memoryview(Q)[::-1])
    assert_right(phi[::-1], field[::-1])


def test_what_is_refused_is_let_go():
    complex_ones, floats = X.astype(complex), array.array("d", Q)
    before = sys.getrefcount(complex_ones)
    for _ in range(10):
        with pytest.raises(TypeError):
            fmm.laplace(complex_ones, Q)
        with pytest.raises(ValueError):
            fmm.laplace(X, floats[:7])
    assert sys.getrefcount(complex_ones) == before
    fmm.laplace(X, floats)
    floats.append(1.0)  # BufferError where one is held


class Both(array.array):
    """An array that has the buffer protocol beside DLPack, as JAX's on a CPU."""

    def __dlpack__(self, *, stream=None):
        return np.frombuffer(self).__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)

    def __array_namespace__(self):
        return ForeignNamespace


def test_results_are_of_the_kind_of_arrays_with_both_protocols():
    class Rows(Foreign):
        def __init__(self, numbers):
            self.numbers = numbers

    x = Rows(X)
    phi, _ = fmm.laplace(x, Both("d", Q))
    assert type(phi) is Foreign


@pytest.mark.parametrize("n", [100, 2000])
def test_out_is_checked(n):
    x, q = np.random.default_rng(1).random((n, 3)), np.ones(n)
    good = np.zeros(n), np.zeros((n, 3))
    for out, error in (((good[0].astype(np.float32), good[1]), TypeError), ((None, good[1]), TypeError),
                       (good + good[:1], ValueError), (5, ValueError), ((good[0], good[1][1:]), ValueError),
                       ((good[0][:, None], good[1]), ValueError)):
        with pytest.raises(error):
            fmm.laplace(x, q, out=out)


def test_numbers_and_words():
    for call in (lambda: fmm.laplace(X, Q, tolerance="1e-4"), lambda: fmm.laplace(X, Q, tolerance=None),
                 lambda: fmm.gravity(X, abs(Q), softening="0.1"), lambda: fmm.Plan(X, kernel=None),
                 lambda: fmm.laplace(X, Q, precision=3), lambda: fmm.Plan(X, error_norm=2),
                 lambda: fmm.direct(X, Q, progress=5), lambda: fmm.models.cube(10.0)):
        with pytest.raises(TypeError):
            call()
    for call in (lambda: fmm.models.cube(-1), lambda: fmm.Plan(X).measure_error(Q, samples=0),
                 lambda: fmm.Plan(X).measure_error(np.ones((200, 2))), lambda: fmm.Plan(X)(Q, outputs=None)):
        with pytest.raises(ValueError):
            call()
    assert_right(*fmm.laplace(X, Q, tolerance=np.float32(1e-4)))


def test_plans_are_not_copied():
    plan = fmm.Plan(X)
    for call in (lambda: copy.copy(plan), lambda: copy.deepcopy(plan), lambda: pickle.dumps(plan),
                 lambda: pickle.dumps(plan.linear_operator())):
        with pytest.raises(TypeError, match="copied|pickled"):
            call()


def test_bad_input_touches_no_result():
    phi, field = np.full(200, 7.0), np.full((200, 3), 7.0)
    bad = Q.copy()
    bad[3] = np.inf
    with pytest.raises(ValueError):
        fmm.Plan(X)(bad, out=(phi, field))
    assert np.all(phi == 7) and np.all(field == 7)
