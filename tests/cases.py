# SPDX-License-Identifier: BSD-3-Clause
"""What the tests in Python share."""
import os
import tempfile
import unittest


class FolderCase(unittest.TestCase):
    """A folder of its own for each test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


def backends_in(refusal):
    """Those that are compiled into fmm_forces, as its refusal of another tells."""
    return refusal.split("one of ")[1].split(" (")[0].split(", ")
