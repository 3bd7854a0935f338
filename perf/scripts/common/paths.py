# SPDX-License-Identifier: BSD-3-Clause
"""Where things are."""
import os

ROOT = os.path.abspath(__file__)
for _ in ("common", "scripts", "perf", "the project"):
    ROOT = os.path.dirname(ROOT)
