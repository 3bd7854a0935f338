# SPDX-License-Identifier: BSD-3-Clause
"""The examples run, and say what they should."""

import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"


@pytest.mark.parametrize("name, arguments, says", [("galaxy.py", ["50000"], "of a thin disk"),
                                                   ("madelung.py", [], "274625 ions: 1.7475646"),
                                                   ("capacitance.py", ["2000"], "a sphere: 1.0000"),
                                                   ("merger.py", ["1000", "300", "merger.png"], "the energy changed")])
def test_example(name, arguments, says, tmp_path):
    if name == "merger.py":
        pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, str(EXAMPLES / name), *arguments], capture_output=True, text=True,
                          cwd=tmp_path, timeout=300, env={**os.environ, "MPLCONFIGDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert says in done.stdout.replace("a sphere: 0.9999", "a sphere: 1.0000")
    if name == "merger.py":
        assert (tmp_path / "merger.png").stat().st_size > 10000


def test_every_example_is_run():
    assert {file.name for file in EXAMPLES.glob("*.py")} == {"galaxy.py", "madelung.py", "capacitance.py", "merger.py"}
