# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of CuPy, PyTorch and JAX: their kinds, memory and streams. On a device where the build has CUDA and the library
is there; each test is passed over otherwise."""

import os
import subprocess
import sys

import numpy as np
import pytest

import fmm
from fmm import _fmm
from reference import error, sums

HAS_CUDA = "cuda" in _fmm.config()["backends"]
N = 500
X = np.random.default_rng(3).random((N, 3))
Q = np.random.default_rng(4).standard_normal(N)
EXACT = sums(X, Q)


class CuPy:
    """What the tests need of CuPy."""

    def __init__(self):
        self.library = pytest.importorskip("cupy")
        self.place = self.library.asarray(0).device

    def array(self, numbers):
        return self.library.asarray(numbers)

    def numpy(self, array):
        return self.library.asnumpy(array)

    def pointer(self, array):
        return array.data.ptr

    def is_of(self, array):
        return isinstance(array, self.library.ndarray) and array.device == self.place


class Torch:
    """What the tests need of PyTorch."""

    def __init__(self, device="cuda"):
        self.library, self.device = pytest.importorskip("torch"), device
        if device == "cuda" and not self.library.cuda.is_available():
            pytest.skip("PyTorch sees no device")

    def array(self, numbers):
        return self.library.from_numpy(np.array(numbers)).to(self.device)

    def numpy(self, array):
        return array.cpu().numpy()

    def pointer(self, array):
        return array.data_ptr()

    def is_of(self, array):
        return isinstance(array, self.library.Tensor) and array.device.type == self.device


class Jax:
    """What the tests need of JAX, with numbers of 64 bits."""

    def __init__(self, device="gpu"):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        self.library = pytest.importorskip("jax")
        self.library.config.update("jax_enable_x64", True)
        try:
            self.device = self.library.devices(device)[0]
        except RuntimeError:
            pytest.skip("JAX sees no such device")

    def array(self, numbers):
        return self.library.device_put(numbers, self.device)

    def numpy(self, array):
        return np.asarray(array)

    def pointer(self, array):
        return array.unsafe_buffer_pointer()

    def is_of(self, array):
        return isinstance(array, self.library.Array) and array.devices() == {self.device}


KINDS = {"cupy": CuPy, "torch": Torch, "jax": Jax}
ON_HOST = {"torch on the host": lambda: Torch("cpu"), "jax on the host": lambda: Jax("cpu")}


@pytest.fixture(params=[*KINDS, *ON_HOST])
def kind(request):
    if request.param in KINDS and not HAS_CUDA:
        pytest.skip("a build without CUDA")
    return {**KINDS, **ON_HOST}[request.param]()


@pytest.fixture
def cupy():
    if not HAS_CUDA:
        pytest.skip("a build without CUDA")
    return CuPy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_are_of_the_callers_kind_and_device(kind, dtype):
    x, q = kind.array(X.astype(dtype)), kind.array(Q.astype(dtype))
    exact = sums(X.astype(dtype), Q.astype(dtype))
    phi, field = fmm.laplace(x, q)
    assert kind.is_of(phi) and kind.is_of(field)
    phi, field = kind.numpy(phi), kind.numpy(field)
    assert phi.dtype == dtype and phi.shape == (N,) and field.shape == (N, 3)
    assert error(phi, exact[0]) <= 1e-4 and error(field, exact[1]) <= 1e-4


def test_neither_arguments_nor_results_are_copied(kind):
    x = kind.array(X)
    assert _fmm.described(x, "x")[3] == kind.pointer(x)
    phi, field = fmm.laplace(x, kind.array(Q))
    assert _fmm.described(phi, "phi")[3] == kind.pointer(phi)
    made, like = [], fmm._arrays._from_dlpack_of(x)
    kept = fmm._arrays._from_dlpack_of

    def of(array):
        def from_dlpack(own):
            made.append(_fmm.described(own, "result")[3])
            return like(own)
        return from_dlpack

    fmm._arrays._from_dlpack_of = of
    try:
        phi, field = fmm.laplace(x, kind.array(Q))
    finally:
        fmm._arrays._from_dlpack_of = kept
    assert made == [kind.pointer(phi), kind.pointer(field)]


def test_results_outlive_their_plan(kind):
    plan = fmm.Plan(kind.array(X))
    phi, field = plan(kind.array(Q))
    before = kind.numpy(phi).copy()
    del plan
    for _ in range(3):
        fmm.laplace(kind.array(X + 1), kind.array(-Q))
    assert np.array_equal(kind.numpy(phi), before)


def test_plans_of_all_that_there_is(kind):
    p = np.random.default_rng(5).standard_normal((N, 2, 3))
    q = np.stack([Q, np.abs(Q)], axis=1)
    y = np.random.default_rng(6).random((70, 3))
    plan = fmm.Plan(kind.array(X), targets=kind.array(y), tolerance=1e-6)
    results = plan(kind.array(q), dipoles=kind.array(p), outputs=("potential", "field", "hessian"))
    for k in range(2):
        for found, exact in zip(results, sums(X, q[:, k], p[:, k], y)):
            assert error(kind.numpy(found)[:, k], exact) <= 1e-6
    plan.retarget(kind.array(y[:9]))
    assert error(kind.numpy(plan(kind.array(Q), outputs="field")), sums(X, Q, targets=y[:9])[1]) <= 1e-6
    chosen = np.array([7, 3, 499, 3])
    few = fmm.Plan(kind.array(X), targets=kind.array(chosen))
    assert error(kind.numpy(few(kind.array(Q), outputs="field")), EXACT[1][chosen]) <= 1e-4


def test_many_bodies(kind):
    x = np.random.default_rng(7).random((20000, 3))
    m = np.random.default_rng(8).random(20000)
    phi, acc = fmm.gravity(kind.array(x), kind.array(m), softening=1e-3)
    some = np.arange(0, 20000, 400)
    exact = fmm.direct(x, m, targets=some, kernel="gravity", softening=1e-3)
    assert error(kind.numpy(phi)[some], exact[0]) <= 1e-4 and error(kind.numpy(acc)[some], exact[1]) <= 1e-4


def test_direct_sums(kind):
    phi, field = fmm.direct(kind.array(X), kind.array(Q))
    assert kind.is_of(phi) and error(kind.numpy(field), EXACT[1]) <= 1e-13


def test_out_and_strides_of_cupy(cupy):
    wide = cupy.array(np.zeros((N, 7)))
    wide[:, 1:7:2] = cupy.array(X)
    phi, field = cupy.array(np.zeros((N, 2))), cupy.array(np.zeros((3, N)))
    found = fmm.laplace(wide[:, 1:7:2], cupy.array(Q), out=(phi[:, 1], field.T))
    assert found[0].data.ptr == phi[:, 1].data.ptr
    assert error(cupy.numpy(phi)[:, 1], EXACT[0]) <= 1e-4 and not cupy.numpy(phi)[:, 0].any()
    assert error(cupy.numpy(field).T, EXACT[1]) <= 1e-4
    backward = fmm.laplace(cupy.array(X)[::-1], cupy.array(Q)[::-1])
    assert error(cupy.numpy(backward[0])[::-1], EXACT[0]) <= 1e-4


def test_managed_memory_of_cupy(cupy):
    before = cupy.library.cuda.get_allocator()
    cupy.library.cuda.set_allocator(cupy.library.cuda.malloc_managed)
    try:
        x, q = cupy.array(X), cupy.array(Q)
        assert x.__dlpack_device__()[0] == 13
        phi, field = fmm.laplace(x, q)
    finally:
        cupy.library.cuda.set_allocator(before)
    assert error(cupy.numpy(phi), EXACT[0]) <= 1e-4 and error(cupy.numpy(field), EXACT[1]) <= 1e-4


def test_places_that_differ_are_refused(cupy):
    with pytest.raises((TypeError, ValueError), match="one place"):
        fmm.laplace(cupy.array(X), Q)
    with pytest.raises((TypeError, ValueError), match="one place"):
        fmm.laplace(X, cupy.array(Q))
    with pytest.raises((TypeError, ValueError), match="one place"):
        fmm.laplace(cupy.array(X), cupy.array(Q), out=(np.empty(N), np.empty((N, 3))))
    with pytest.raises((TypeError, ValueError), match="one place"):
        fmm.Plan(cupy.array(X), targets=X)
    with pytest.raises((TypeError, ValueError), match="one place"):
        fmm.Plan(cupy.array(X), targets=np.arange(3))
    with pytest.raises(TypeError, match="host"):
        fmm.Plan(cupy.array(X)).linear_operator()


# Work that is queued before a call is done before the sums, and results are ready for what is queued after it.
@pytest.mark.parametrize("non_blocking", [False, True])
def test_streams_of_cupy(cupy, non_blocking):
    spin = cupy.library.RawKernel(r"""extern "C" __global__ void spin(long long cycles) {
        const long long begin = clock64();
        while (clock64() - begin < cycles) {}
    }""", "spin")
    x, q = cupy.array(X), cupy.array(np.zeros(N))
    plan = fmm.Plan(x)
    right = cupy.array(Q)
    out = cupy.array(np.zeros(N)), cupy.array(np.zeros((N, 3)))
    for _ in range(2):  # all is compiled, and loaded, before it is queued
        spin((1,), (1,), (np.int64(1),))
        q += right
        q -= right
        for one in (*out, *plan(q)):
            one += 1
    del one  # whose memory, once freed, would wait for all streams
    first, second = (cupy.library.cuda.Stream(non_blocking=non_blocking) for _ in range(2))
    cupy.library.cuda.Device().synchronize()
    with first:
        spin((1,), (1,), (np.int64(4 * 10**9),))  # two seconds
        q += right
        assert not first.done
        phi, field = plan(q)
        twice = phi * 2
    with second:
        spin((1,), (1,), (np.int64(4 * 10**9),))
        for one in out:
            one += 1  # before the results are written
        assert not second.done
        plan(q, out=out)
        later = out[0] + 0
    first.synchronize()
    second.synchronize()
    assert error(cupy.numpy(twice), 2 * EXACT[0]) <= 1e-4 and error(cupy.numpy(field), EXACT[1]) <= 1e-4
    assert error(cupy.numpy(later), EXACT[0]) <= 1e-4 and error(cupy.numpy(out[1]), EXACT[1]) <= 1e-4


def test_streams_of_torch():
    if not HAS_CUDA:
        pytest.skip("a build without CUDA")
    kind = Torch()
    torch = kind.library
    x, q, right = kind.array(X), kind.array(np.zeros(N)), kind.array(Q)
    plan = fmm.Plan(x)
    torch.cuda._sleep(1)
    q += right  # all is loaded before it is queued
    q -= right
    plan(q)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(10**9)
        q += right
        assert not stream.query()
        phi, _ = plan(q)
        twice = phi * 2
    stream.synchronize()
    assert error(kind.numpy(twice), 2 * EXACT[0]) <= 1e-4


def test_gradients_of_torch():
    torch = pytest.importorskip("torch")
    q = torch.from_numpy(Q.copy()).requires_grad_()
    with pytest.raises(TypeError, match="detach"):
        fmm.laplace(torch.from_numpy(X.copy()), q)
    phi, _ = fmm.laplace(torch.from_numpy(X.copy()), q.detach())
    assert isinstance(phi, torch.Tensor) and not phi.requires_grad


def test_exits_with_results_on_the_device(cupy):
    done = subprocess.run([sys.executable, "-c", "import cupy, fmm\n"
                           "x, q = cupy.random.rand(5000, 3), cupy.ones(5000)\n"
                           "plan = fmm.Plan(x)\n"
                           "phi, field = plan(q)\n"
                           "print(bool((phi > 0).all()))"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.strip() == "True" and done.stderr == ""
