# SPDX-License-Identifier: BSD-3-Clause
"""Imports, threads, processes, exits, and the interpreter's lock."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import fmm


def run(code, **environment):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


SUM = "import numpy as np, fmm; x = np.random.rand(100, 3); q = np.ones(100); plan = fmm.Plan(x); plan(q); "


def test_import_is_fast_and_starts_no_threads():
    code, out, _ = run("import time, numpy; a = time.perf_counter(); import fmm; b = time.perf_counter() - a; "
                       "import os; print(b, len(os.listdir('/proc/self/task')), fmm._fmm.is_begun())",
                       OPENBLAS_NUM_THREADS="1")
    seconds, threads, begun = out.split()
    assert code == 0 and float(seconds) < 0.3 and threads == "1" and begun == "False"


def test_plans_may_live_when_python_exits():
    for code in (SUM, SUM + "import sys; sys.exit(0)", SUM + "fmm.keep = plan, plan.linear_operator()",
                 SUM + "import atexit; atexit.register(lambda: print(plan)); r = plan(q)"):
        code, _, err = run(code)
        assert code == 0 and err == ""


def test_what_comes_after_the_end_is_refused():
    code, out, err = run("import atexit, fmm, numpy as np\n"
                         "def late():\n"
                         "    try: fmm.laplace(np.eye(3), np.ones(3))\n"
                         "    except RuntimeError as error: print(error)\n"
                         "fmm.laplace(np.eye(3), np.ones(3))\n"
                         "import fmm._fmm as f; f.end_session(); late()")
    assert code == 0 and "exits" in out, err


def test_a_thread_that_sums_when_python_exits():
    code, _, err = run("import threading, time, numpy as np, fmm\n"
                       "x, q = np.random.rand(4000, 3), np.ones(4000)\n"
                       "def work():\n"
                       "    while True: fmm.direct(x, q)\n"
                       "threading.Thread(target=work, daemon=True).start()\n"
                       "time.sleep(0.5)")
    assert code == 0, err


def test_threads():
    code, out, _ = run(SUM + "print(fmm._fmm.config()['threads']['openmp'])", OMP_NUM_THREADS="1")
    assert code == 0 and out.strip() == "1"
    code, out, _ = run("import fmm; fmm.set_threads(2); " + SUM + "print(fmm._fmm.config()['threads']['openmp'])")
    assert code == 0 and out.strip() == "2"
    code, _, err = run(SUM + "fmm.set_threads(1)")
    assert code == 1 and "before the first sum" in err
    code, _, err = run("import fmm; fmm.set_threads(0)")
    assert code == 1 and "1 to 512" in err


def test_a_process_that_was_forked_is_refused():
    code, out, err = run(SUM + "import os\n"
                         "pid = os.fork()\n"
                         "if pid == 0:\n"
                         "    try: plan(q)\n"
                         "    except RuntimeError as error: print('said:', error, flush=True)\n"
                         "    os._exit(0)\n"
                         "os.waitpid(pid, 0); plan(q)")
    assert code == 0 and "said: fmm: this process was forked" in out and "spawn" in out, err


def test_a_fork_before_the_first_sum_is_fine():
    code, out, err = run("import os, fmm, numpy as np\n"
                         "pid = os.fork()\n"
                         "phi, _ = fmm.laplace(np.eye(3), np.ones(3))\n"
                         "if pid: os.waitpid(pid, 0)\n"
                         "print(round(phi[0], 9), flush=True)")
    assert code == 0 and out.split() == ["1.414213562"] * 2, err


def test_spawned_processes(tmp_path):
    file = tmp_path / "spawn.py"
    file.write_text("import multiprocessing, numpy as np, fmm\n"
                    "def work(n):\n"
                    "    return float(fmm.laplace(np.eye(3), np.full(3, n, float))[0][0])\n"
                    "if __name__ == '__main__':\n"
                    "    work(1)\n"
                    "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n"
                    "        print(pool.map(work, [1, 2]))\n")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith("[1.414213"), done.stderr


def test_other_threads_go_on():
    x, q = np.random.default_rng(1).random((30000, 3)), np.ones(30000)
    longest, last, over = [0.0], time.perf_counter(), threading.Event()

    def tick():
        nonlocal last
        while not over.is_set():
            now = time.perf_counter()
            longest[0], last = max(longest[0], now - last), now
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    fmm.direct(x, q, outputs="field")
    seconds = time.perf_counter() - begin
    over.set()
    thread.join()
    assert longest[0] < 0.5 * seconds


def test_sums_of_two_threads():
    """One at a time; Kokkos before 3.7 takes the thread alone that summed first."""
    x, q = np.random.default_rng(1).random((3000, 3)), np.ones(3000)
    plan, expected = fmm.Plan(x), fmm.laplace(x, q)[1]
    found, refused = [], []

    def work():
        try:
            found.append(plan(q, outputs="field"))
            found.append(fmm.laplace(x, q)[1])
        except fmm.InvalidArgument as error:
            refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if [int(part) for part in fmm._fmm.config()["kokkos"].split(".")[:2]] < [3, 7]:
        assert len(refused) == 4 and "initialised Kokkos" in refused[0]
        return
    assert len(found) == 8
    for field in found:
        assert np.linalg.norm(field - expected) <= 2e-4 * np.linalg.norm(expected)


def test_ctrl_c_between_parts():
    import fmm._functions as functions
    before = functions._PAIRS_AT_A_TIME
    functions._PAIRS_AT_A_TIME = 10000

    def stop(done, all):
        raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            fmm.direct(np.random.rand(1000, 3), np.ones(1000), progress=stop)
    finally:
        functions._PAIRS_AT_A_TIME = before
