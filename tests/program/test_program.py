#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs fmm_forces on good and bad input and checks exit code, stderr, and what it writes.

The environment variable FMM_FORCES names the program and MAKE_SNAPSHOT the helper that writes and
prints HDF5 files. Arguments: as of unittest (names of the classes below).
"""
import itertools
import json
import math
import os
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from cases import FolderCase, backends_in  # noqa: E402

PROGRAM = os.environ["FMM_FORCES"]
MAKE_SNAPSHOT = os.environ["MAKE_SNAPSHOT"]


def spline(r, softening):
    """Potential and field over r of GADGET's spline."""
    h = 2.8 * softening
    v = r / h
    if v >= 1:
        return 1 / r, 1 / r**3
    if v < 0.5:
        return ((14 / 5 - 16 / 3 * v**2 + 48 / 5 * v**4 - 32 / 5 * v**5) / h,
                (32 / 3 - 192 / 5 * v**2 + 32 * v**3) / h**3)
    return ((16 / 5 - 1 / 15 / v - 32 / 3 * v**2 + 16 * v**3 - 48 / 5 * v**4 + 32 / 15 * v**5) / h,
            (64 / 3 - 48 * v + 192 / 5 * v**2 - 32 / 3 * v**3 - 1 / 15 / v**3) / h**3)


def direct_sum(bodies, kernel="gravity", softening=0.0, g=1.0, kind="plummer"):
    """Rows (potential, field_x, field_y, field_z) of bodies (x, y, z, q)."""
    factor = -g if kernel == "gravity" else 1.0
    rows = []
    for i, (x, y, z, _) in enumerate(bodies):
        row = [0.0] * 4
        for j, (u, v, w, q) in enumerate(bodies):
            d = (x - u, y - v, z - w)
            r = math.sqrt(math.hypot(*d) ** 2 + (softening**2 if kind == "plummer" else 0))
            if i == j or r == 0:
                continue
            if kind == "spline":
                u, w = spline(r, softening)
                row[0] += q * u
                for k in range(3):
                    row[k + 1] += q * w * d[k]
                continue
            row[0] += q / r
            for k in range(3):
                row[k + 1] += q / r * (d[k] / r) / r
        rows.append([factor * value for value in row])
    return rows


def grid_bodies(n=60):
    """Bodies of different masses, well spread, in no order."""
    return [((i * 37 % 61) / 7, (i * 17 % 59) / 5 - 3, (i * 29 % 53) / 11, 0.1 + i % 7)
            for i in range(n)]


class Case(FolderCase):
    """The ways to run the program."""

    def write(self, text, name="bodies.txt"):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def write_bodies(self, bodies, name="bodies.txt"):
        return self.write("".join("%.17g %.17g %.17g %.17g\n" % row for row in bodies), name)

    def snapshot(self, kind, name="snapshot.hdf5"):
        subprocess.run([MAKE_SNAPSHOT, kind, self.path(name)], check=True)
        return self.path(name)

    def start(self, *arguments, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", **options)

    def run_ok(self, *arguments):
        result = self.start(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def run_bad(self, *arguments, says=(), code=2, **options):
        """The program refuses: its exit code, one line on stderr that has the words, no output."""
        result = self.start(*arguments, **options)
        self.assertEqual(result.returncode, code, (arguments, result.stderr))
        self.assertTrue(result.stderr.startswith("fmm_forces: "), result.stderr)
        self.assertTrue(result.stderr.endswith("\n"), result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertEqual(result.stdout, "", arguments)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, result.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])
        return result.stderr

    def sums(self, *arguments):
        """The rows of the CSV file that the program writes."""
        self.run_ok(*arguments, "--check", 0, "--repeat", 1, "--output", self.path("sums.csv"))
        with open(self.path("sums.csv")) as file:
            header, *lines = file.read().split("\n")
        self.assertEqual(header, "potential,field_x,field_y,field_z")
        self.assertEqual(lines.pop(), "")
        return [[float(number) for number in line.split(",")] for line in lines]

    def exact_sums(self, file, *arguments):
        return self.sums("--input", file, "--method", "direct", "--precision", "double", *arguments)

    def print_hdf5(self, file):
        """Potential, Field and ParticleIDs of an output file."""
        text = subprocess.run([MAKE_SNAPSHOT, "--print", file], check=True, capture_output=True)
        return json.loads(text.stdout)

    def report(self, *arguments):
        self.run_ok(*arguments, "--report", self.path("report.json"))
        with open(self.path("report.json")) as file:
            return json.load(file)

    def assert_sums(self, rows, expected, tolerance):
        """Relative to the largest potential and the largest field."""
        self.assertEqual(len(rows), len(expected))
        largest = max((abs(row[0]) for row in expected), default=0)
        largest_field = max((math.hypot(*row[1:]) for row in expected), default=0)
        for row, reference in zip(rows, expected):
            self.assertLessEqual(abs(row[0] - reference[0]), tolerance * largest)
            self.assertLessEqual(math.dist(row[1:], reference[1:]), tolerance * largest_field)

    def backends(self):
        return backends_in(self.run_bad("--model", "cube", "--n", 50, "--backend", "wrong"))


class CommandLine(Case):
    def test_help_names_every_option(self):
        text = self.run_ok("--help")
        for option in ("input model n seed kernel softening softening-kind softening-error G "
                       "method order theta leaf depth tree "
                       "traversal criterion pair-error tolerance tolerance-of error-norm tune translation precision one-part data "
                       "backend threads "
                       "check check-seed repeat charges output report direct-limit").split():
            self.assertIn(f"--{option} ", text)

    def test_version(self):
        text = self.run_ok("--version")
        for word in ("fmm ", "kokkos ", "hdf5 ", "compiler ", "commit "):
            self.assertIn(word, text)

    def test_help_wins_over_nothing_else(self):
        self.run_bad(says=("--input", "--model"))

    def test_source(self):
        file = self.write_bodies(grid_bodies())
        self.run_bad("--model", "cube", "--input", file, says=("--input", "--model", "exactly one"))
        self.run_bad("--input", file, "--n", 10, says=("--n", "--input"))
        self.run_bad("--input", file, "--seed", 10, says=("--seed", "--input"))
        self.run_bad("--input", file, "--charges", "equal", says=("--charges", "--input"))

    def test_unknown_arguments(self):
        self.run_bad("--model", "cube", "--bogus", says="--bogus")
        self.run_bad("--model", "cube", "extra", says="extra")
        self.run_bad("--model", "cube", "a\nb", says="a b")
        self.run_bad("--model", says="--model")
        self.run_bad("--model", "cube", "--order", 4, "--order", 4, says="--order")

    def test_choices_are_named(self):
        for flag, names in (
                ("--model", "cube, plummer, shell, disk, clusters, fractal"), ("--kernel", "laplace, gravity"),
                ("--method", "direct, treecode, fmm"), ("--tree", "uniform, adaptive"),
                ("--traversal", "lists, barnes-hut, dual"), ("--charges", "equal, mixed"),
                ("--translation", "direct, rotation"), ("--precision", "float, mixed, double"),
                ("--criterion", "radius, field, power, relative"),
                ("--backend", "auto or one of serial")):
            self.run_bad(flag, "wrong", says=(flag, "wrong", names))
            self.run_bad(flag, says=flag)

    def test_numbers_are_checked(self):
        for flag, wrong, allowed in (
                ("--n", ("-1", "1.5", "abc", "", "1e10", "9" * 20, "nan", "0x10", "5 6"),
                 "0 to 2147483647"),
                ("--seed", ("-1", "x"), "0 or more"),
                ("--softening", ("-1", "nan", "inf", "x", "1e999"), ">= 0"),
                ("--softening-error", ("0", "-1", "nan", "inf", "x"), "> 0"),
                ("--G", ("nan", "inf", "-inf", "x"), "finite"),
                ("--order", ("-1", "x", "2.5"), "integer"),
                ("--theta", ("0", "-0.5", "1.5", "nan", "x"), "0 < theta <= 1"),
                ("--pair-error", ("0", "-1", "nan", "x"), "> 0"),
                ("--tolerance", ("0", "-1", "nan", "x"), "> 0"),
                ("--leaf", ("0", "-3", "x", "1e12"), "1 to 2147483647"),
                ("--depth", ("-1", "22", "x"), "0 to 21"),
                ("--threads", ("0", "-1", "513", "x"), "1 to 512"),
                ("--check", ("-1", "x", "1.5"), "0 or more"),
                ("--check-seed", ("-1", "x"), "0 or more"),
                ("--repeat", ("0", "-1", "x"), "1 to"),
                ("--direct-limit", ("-1", "nan", "x"), ">= 0")):
            for value in wrong:
                self.run_bad("--model", "cube", flag, value,
                             says=(f"{flag} = {value} is not allowed", allowed))

    def test_orders_compiled_in_are_listed(self):
        listed = self.run_bad("--model", "cube", "--order", 999, says=("--order = 999", "one of"))
        orders = [int(word) for word in listed.split("one of ")[1].split(" (")[0].split(", ")]
        for order in orders:
            self.run_ok("--model", "cube", "--n", 200, "--order", order, "--repeat", 1)
        self.run_bad("--model", "cube", "--order", 999, "--method", "direct", says="--order = 999")

    def test_contradictions(self):
        model = ("--model", "cube", "--n", 100)
        self.run_bad(*model, "--kernel", "laplace", "--softening", 0.1,
                     says=("--softening", "laplace"))
        self.run_bad(*model, "--kernel", "laplace", "--softening-kind", "spline",
                     says=("--softening-kind", "laplace"))
        self.run_bad(*model, "--kernel", "laplace", "--softening-error", 1e-3,
                     says=("--softening-error", "--kernel gravity"))
        self.run_bad(*model, "--softening-kind", "spline", "--softening-error", 1e-3,
                     says=("--softening-error", "--softening-kind plummer"))
        self.run_bad(*model, "--kernel", "laplace", "--G", 2, says=("--G", "laplace"))
        self.run_bad(*model, "--charges", "mixed", says=("--charges", "laplace"))
        self.run_bad(*model, "--method", "fmm", "--traversal", "barnes-hut",
                     says=("--traversal", "lists or dual"))
        self.run_bad(*model, "--method", "fmm", "--theta", 1, says=("--theta", "theta < 1"))
        self.run_bad(*model, "--traversal", "lists", "--theta", 0.5, says=("--theta", "2/3"))
        self.run_bad(*model, "--method", "fmm", "--traversal", "lists", "--criterion", "field",
                     says=("--criterion", "--traversal dual"))
        self.run_bad(*model, "--method", "fmm", "--criterion", "radius", "--pair-error", 1e-3,
                     says=("--pair-error", "--criterion field"))
        self.run_bad(*model, "--method", "treecode", "--traversal", "dual", "--criterion", "power",
                     says=("--criterion = power", "radius, field or relative"))
        self.run_bad(*model, "--tolerance", 1e-7, says=("--tolerance = ", "3e-6 to 1e-2 in float and mixed precision"))
        self.run_bad(*model, "--tolerance", 1e-13, "--precision", "double",
                     says=("--tolerance = ", "1e-12 to 1e-2 in double"))
        self.run_bad(*model, "--tolerance", 1e-4, "--theta", 0.5, says=("--theta", "--tolerance"))
        self.run_bad(*model, "--tune", says=("--tune", "--tolerance"))
        self.run_bad(*model, "--tolerance-of", "both", says=("--tolerance-of", "--tolerance"))
        self.run_bad(*model, "--error-norm", "p99", says=("--error-norm", "--tolerance"))
        self.run_bad(*model, "--tolerance", 5e-5, "--error-norm", "p99",
                     says=("--tolerance = ", "1e-4 to 1e-2 in float and mixed precision"))
        self.run_bad(*model, "--tolerance", 1e-4, "--tune", "--order", 8, says=("--order", "--tune"))
        self.run_bad(*model, "--data", "float", "--precision", "double",
                     says=("--data = float", "double with --precision double"))
        self.run_bad(*model, "--translation", "direct", "--precision", "mixed",
                     says=("--translation = direct", "rotation in mixed precision"))
        self.run_bad(*model, "--one-part", says=("--one-part", "--precision mixed"))
        self.run_bad(*model, "--traversal", "lists", "--precision", "mixed",
                     says=("--traversal = lists", "barnes-hut or dual in mixed precision"))
        self.run_bad(*model, "--method", "fmm", "--criterion", "relative", "--precision", "mixed",
                     says=("--criterion = relative", "radius, field or power in mixed"))
        for criterion in ("power", "relative"):
            self.run_bad(*model, "--method", "fmm", "--criterion", criterion, "--translation",
                         "direct", says=(f"--criterion = {criterion}", "radius or field with"))
        self.run_bad(*model, "--data", "float", "--precision", "mixed",
                     says=("--data = float", "double with --precision mixed"))
        self.run_bad(*model, "--data", "float", "--tolerance", 1e-4,
                     says=("--data = float", "double with --tolerance"))
        self.run_bad(*model, "--data", "float", "--backend", "serial",
                     says=("--data = float", "double with --backend serial"))
        self.run_bad(*model, "--backend", "serial", "--threads", 2, says=("--threads", "serial"))
        self.run_ok(*model, "--method", "treecode", "--theta", 1)
        self.run_ok(*model, "--kernel", "laplace", "--softening", 0, "--G", 1)

    def test_a_method_is_run_once(self):
        entries = self.report("--model", "cube", "--n", 50, "--method", "fmm", "--method", "direct",
                              "--method", "fmm")
        self.assertEqual([entry["method"] for entry in entries], ["fmm", "direct"])

    def test_numbers_may_have_an_exponent(self):
        self.assertEqual(self.report("--model", "cube", "--n", "1e2")[0]["n"], 100)

    def test_backends(self):
        run = ("--model", "cube", "--n", 50, "--method", "fmm", "--backend")
        available = self.backends()
        for backend in ("serial", "openmp", "cuda"):
            if backend in available:
                self.assertEqual(self.report(*run, backend)[0]["backend"], backend)
            else:
                self.run_bad(*run, backend, says=("--backend", *available))

    def test_more_threads_than_there_is_room_for(self):
        run = ("--model", "cube", "--n", 50, "--method", "fmm")
        if "openmp" not in self.backends():
            self.skipTest("threads are those of the OpenMP backend")
        for name in ("OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"):
            for value in ("600", "513", "1000000", "600,2"):
                self.run_bad(*run, says=(f"{name} = {value}", "1 to 512"),
                             env=dict(os.environ, **{name: value}))
        for value in ("0", "-1", "abc", "1.5"):
            self.run_bad(*run, says=(f"KOKKOS_NUM_THREADS = {value}", "1 to 512"),
                         env=dict(os.environ, KOKKOS_NUM_THREADS=value))
        for value in ("", "2"):
            done = self.start(*run, "--threads", 1, env=dict(os.environ, KOKKOS_NUM_THREADS=value))
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_memory_that_is_not_there(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
        if self.start("--version", preexec_fn=limit).returncode != 0:
            self.skipTest("the program does not start with 2 GiB of addresses (a sanitizer)")
        bytes_asked = 3 * 8 * 10**9
        self.run_bad("--model", "cube", "--n", 10**9, code=1, preexec_fn=limit,
                     says=("out of memory", str(bytes_asked)))


class TextInput(Case):
    def test_formats(self):
        bodies = grid_bodies(5)
        expected = direct_sum(bodies)
        lines = ["%.17g %.17g %.17g %.17g" % row for row in bodies]
        texts = {
            "blanks": "\n".join(lines) + "\n",
            "no newline at the end": "\n".join(lines),
            "commas": "\n".join(lines).replace(" ", ","),
            "commas and blanks": "\n".join(lines).replace(" ", " ,\t "),
            "windows": "\r\n".join(lines) + "\r\n",
            "header": "x y z q\n" + "\n".join(lines),
            "other header": "x,y,z,mass\n" + "\n".join(lines),
            "quoted header": '"X","Y","Z","M"\n' + "\n".join(lines),
            "comments": "# x y z q\n\n  # more\n" + " # a body\n\n".join(lines) + "\n#end",
            "comment and header": "# of\nx y z q # names\n" + "\n".join(lines),
            "mark of UTF-8": "\ufeff" + "\n".join(lines),
            "blanks around": "\n".join(f"  {line}\t " for line in lines),
            "signs": "\n".join(" ".join(f if f[0] == "-" else "+" + f for f in line.split())
                               for line in lines),
        }
        for name, text in texts.items():
            with self.subTest(name):
                rows = self.exact_sums(self.write(text))
                self.assert_sums(rows, expected, 1e-13)

    def test_columns_by_name(self):
        """A header says what stands where; what is known and not needed is passed over."""
        bodies = grid_bodies(5)
        expected = direct_sum(bodies)
        for header, row in (
                ("q x y z", lambda x, y, z, q: (q, x, y, z)),
                ("# of a snapshot\n#q,x,y,z", lambda x, y, z, q: (q, x, y, z)),
                ("# q(e) x(nm) y(nm) z(nm)", lambda x, y, z, q: (q, x, y, z)),
                ("# [1]q [2]x [3]y [4]z", lambda x, y, z, q: (q, x, y, z)),
                ("# 1:q 2:x 3:y 4:z", lambda x, y, z, q: (q, x, y, z)),
                ("# (1) z [kpc] (2) x [kpc] (3) y [kpc] (4) m [Msun]", lambda x, y, z, q: (z, x, y, q)),
                ("mass[Msun],x[pc],y[pc],z[pc]", lambda x, y, z, q: (q, x, y, z)),
                ("# x y\n  # m z y x", lambda x, y, z, q: (q, z, y, x)),
                ("mass,pos_x,pos_y,pos_z", lambda x, y, z, q: (q, x, y, z)),
                ("z y x m", lambda x, y, z, q: (z, y, x, q)),
                ("id vx vy vz Pos_X POS_Y pos_z Charge",
                 lambda x, y, z, q: (7, 1, 2, 3, x, y, z, q)),
                ('"x","y","z","vx","mass"', lambda x, y, z, q: (x, y, z, 9, q))):
            with self.subTest(header):
                lines = [",".join("%.17g" % value for value in row(*body)) for body in bodies]
                rows = self.exact_sums(self.write("\n".join([header, *lines])))
                self.assert_sums(rows, expected, 1e-13)

    def test_comments_that_are_not_understood_are_said(self):
        for comment, noted in (("# m is mass, x y z positions", True), ("# m x3 x2 x1", True), ("# x y z q", False),
                               ("# written by hand", False), ("# of q\nx y z q", False)):
            with self.subTest(comment):
                file = self.write(comment + "\n0 0 0 1\n1 0 0 1\n")
                run = ("--input", file, "--method", "direct")
                table, (entry,) = self.run_ok(*run), self.report(*run)
                self.assertEqual(len(entry["notes"]), noted)
                self.assertEqual("note: " in table, noted)
        entry, = self.report("--input", self.write("# nothing\n"), "--method", "direct")
        self.assertIn("no bodies", entry["notes"][0])

    def test_exponents_of_fortran(self):
        rows = self.exact_sums(self.write("1D0 0.0d+00 0 2.5D-1\n0 -1.D+1 0 1d2\n"))
        self.assert_sums(rows, direct_sum([(1, 0, 0, 0.25), (0, -10, 0, 100)]), 1e-14)

    def test_first_lines_that_are_no_header(self):
        """No line is taken for a header, and lost, unless all of its words are known."""
        for first in ("NA NA NA NA", "****", "* * * *", '"1.0","2.0","3.0","4.0"', "a b c d",
                      "vx,vy,vz,m", "id,px,py,pz", "px py pz q", "x y z p", "mass,mass,x,y",
                      "x y z q m", "x x y z q", "1D 2D 3D 4D"):
            with self.subTest(first):
                file = self.write(first + "\n0 0 0 1\n1 0 0 1\n")
                self.run_bad("--input", file, says=(file, "line 1"))

    def test_nothing(self):
        for text in ("", "\n\n", "# nothing\n", "x y z q\n"):
            self.assertEqual(self.sums("--input", self.write(text), "--method", "fmm"), [])

    def test_wrong_lines_are_named(self):
        good = "0 0 0 1\n"
        for text, says in (
                (good + "1 2 3\n", ("line 2", "3 columns")),
                (good + "1 2 3 4 5\n", ("line 2", "5 columns")),
                (good + "1 2 3 4,\n", ("line 2", "5 columns")),
                (good + "1,,3,4\n", ("line 2", "y = ''")),
                (good + "1 2 3,\n", ("line 2", "q = ''")),
                (good + "\n# c\n1 two 3 4\n", ("line 4", "y = 'two'", "finite")),
                (good + "1 2 3 4x\n", ("line 2", "q = '4x'")),
                (good + "1 2 nan 4\n", ("line 2", "z = nan", "finite")),
                (good + "inf 2 3 4\n", ("line 2", "x = inf")),
                (good + "1 -1e999 3 4\n", ("line 2", "y = -inf")),
                (good + "1 2 3 -4\n", ("line 2", "q = -4", ">= 0")),
                ("nan nan nan nan\n", ("line 1", "x = nan")),
                (good + "x y z q\n", ("line 2", "x = 'x'")),
                ("1 2 three 4\n", ("line 1", "z = 'three'")),
                ("x y z\n" + good, ("line 1", "header", "3 columns")),
                ("x,y,z,q,id\n" + good, ("line 2", "4 columns", "names 5")),
                ("x y z q\n1 2 3 4D+\n", ("line 2", "q = '4D+'")),
                ("a" * 500 + " 1 2 3\n", ("line 1", "aaa...'")),
                (b"\x89\x00\x01\x02 1 2 3\n", ("line 1", "x = ")),
        ):
            with self.subTest(text):
                file = self.write(text)
                self.run_bad("--input", file, says=(file, *says))

    def test_negative_charges_for_laplace(self):
        bodies = [(0, 0, 0, 1), (1, 0, 0, -2), (0, 2, 0, 3)]
        rows = self.exact_sums(self.write_bodies(bodies), "--kernel", "laplace")
        self.assert_sums(rows, direct_sum(bodies, "laplace"), 1e-14)

    def test_files_that_cannot_be_read(self):
        self.run_bad("--input", self.path("absent"), says=(self.path("absent"), "does not exist"))
        self.run_bad("--input", self.folder, says=(self.folder, "folder"))
        if os.geteuid() != 0:
            file = self.write("0 0 0 1\n")
            os.chmod(file, 0)
            self.run_bad("--input", file, says=(file, "opened"))


class Hdf5Input(Case):
    BODIES = [(0, 0, 0, 1), (1, 0, 0, 2), (0, 2, 0, 3), (0, 0, 3, 0.5), (1, 1, 1, 0.5)]

    def read_back(self, kind, *arguments):
        """The direct sum for a kind of snapshot."""
        output = self.path("out.hdf5")
        self.run_ok("--input", self.snapshot(kind), "--method", "direct", "--precision", "double",
                    "--output", output, *arguments)
        return self.print_hdf5(output)

    def check(self, kind, bodies, ids, signed=False):
        data = self.read_back(kind)
        n = len(bodies)
        self.assertEqual(data["Potential"]["shape"], [n])
        self.assertEqual(data["Field"]["shape"], [n, 3])
        self.assertEqual(data["ParticleIDs"]["shape"], [n])
        self.assertEqual(data["ParticleIDs"]["values"], ids)
        self.assertEqual(data["ParticleIDs"]["signed"], signed)
        field = data["Field"]["values"]
        rows = [[p, *field[3 * i:3 * i + 3]] for i, p in enumerate(data["Potential"]["values"])]
        self.assert_sums(rows, direct_sum(bodies), 1e-14)

    def test_snapshots(self):
        ids = [11, 12, 13, 21, 20]
        self.check("gadget", self.BODIES, ids)
        self.check("swift", self.BODIES, ids, signed=True)
        self.check("no_header", self.BODIES[:3], ids[:3])
        self.check("no_ids", self.BODIES, [0, 1, 2, 3, 4])
        self.check("some_ids", self.BODIES, [0, 1, 2, 21, 20])
        self.check("big_id", self.BODIES, [2**64 - 1, *ids[1:]])
        self.check("empty_type", self.BODIES[:3], ids[:3])
        self.check("empty", [], [])
        self.check("totals", self.BODIES, ids)

    def test_types_are_ordered_by_number(self):
        bodies = self.BODIES + [(0, 0, 3, 7), (1, 1, 1, 8)]
        self.check("many_types", bodies, [11, 12, 13, 21, 20, 31, 30])

    def test_ids_of_text_are_counted(self):
        output = self.path("out.h5")
        file = self.write_bodies(self.BODIES)
        self.run_ok("--input", file, "--method", "fmm", "--output", output)
        self.assertEqual(self.print_hdf5(output)["ParticleIDs"]["values"], [0, 1, 2, 3, 4])

    def test_the_name_does_not_matter(self):
        file = self.path("snapshot.txt")
        os.rename(self.snapshot("gadget"), file)
        self.assertEqual(len(self.sums("--input", file, "--method", "direct")), 5)

    def test_wrong_snapshots(self):
        for kind, *says in (
                ("no_masses", "PartType4", "Masses", "MassTable"),
                ("no_coordinates", "PartType0/Coordinates", "missing"),
                ("flat_coordinates", "PartType0/Coordinates", "(N,3)"),
                ("integer_coordinates", "PartType0/Coordinates", "floating point"),
                ("few_masses", "PartType0/Masses", "2 rows, not 3"),
                ("few_ids", "PartType0/ParticleIDs", "2 rows, not 3"),
                ("real_ids", "PartType0/ParticleIDs", "integer"),
                ("wrong_count", "PartType0/Coordinates", "3 rows, not 4"),
                ("lost_types", "PartType"),
                ("no_types", "PartType"),
                ("many_files", "4 files"),
                ("a_part", "NumPart_Total", "7 bodies of type 4", "has 2"),
                ("nan_coordinate", "PartType0/Coordinates[1,2] = nan", "finite"),
                ("inf_mass", "PartType0/Masses[1] = inf", "finite"),
                ("negative_mass", "PartType0/Masses[2] = -3", ">= 0"),
                ("negative_table", "MassTable[4] = -0.5", ">= 0")):
            with self.subTest(kind):
                file = self.snapshot(kind)
                self.run_bad("--input", file, says=(file, *says))

    def test_what_is_left_out_is_said(self):
        for kind, *words in (("box", "BoxSize 100", "open space"), ("comoving", "comoving", "redshift 3"),
                             ("swift_comoving", "comoving")):
            with self.subTest(kind):
                run = ("--input", self.snapshot(kind), "--method", "fmm")
                table, (entry,) = self.run_ok(*run), self.report(*run)
                self.assertEqual(len(entry["notes"]), 1)
                self.assertIn("note: " + entry["notes"][0], table)
                for word in words:
                    self.assertIn(word, table)
        for kind in ("gadget", "open_box", "not_comoving"):
            entry, = self.report("--input", self.snapshot(kind), "--method", "fmm")
            self.assertEqual(entry["notes"], [], kind)

    def test_other_ways_to_store(self):
        for kind in ("chunked", "external", "virtual"):
            self.check(kind, self.BODIES, [11, 12, 13, 21, 20])

    def test_data_that_are_missing_are_not_zeros(self):
        """HDF5 itself reads zeros for them."""
        for kind, missing, *says in (("virtual", "snapshot.hdf5.PartType0.1", "missing"),
                                     ("virtual", "snapshot.hdf5.PartType4.0", "missing"),
                                     ("external", "snapshot.hdf5.PartType0.raw", "missing or too short"),
                                     ("some_chunks", None, "only 1 of its 3 chunks"),
                                     ("unwritten", None, "never written")):
            with self.subTest((kind, missing)):
                file = self.snapshot(kind)
                if missing:
                    os.remove(self.path(missing))
                self.run_bad("--input", file, says=(file, "Coordinates", missing or "", *says))
        file = self.snapshot("external")
        os.truncate(self.path("snapshot.hdf5.PartType0.raw"), 40)
        self.run_bad("--input", file, says=(file, "too short"))
        file = self.snapshot("virtual")
        self.snapshot("virtual", "other.hdf5")  # with a part that has another dataset
        os.replace(self.snapshot("gadget", "other"), self.path("snapshot.hdf5.PartType0.1"))
        self.run_bad("--input", file, says=(file, "snapshot.hdf5.PartType0.1", "missing"))

    def test_negative_masses_are_charges_for_laplace(self):
        self.assertEqual(len(self.sums("--input", self.snapshot("negative_mass"), "--method", "fmm",
                                       "--kernel", "laplace")), 5)

    def test_truncated_files(self):
        with open(self.snapshot("gadget"), "rb") as file:
            content = file.read()
        for size in (0, 4, 8, 100, 800, len(content) // 2, len(content) - 1):
            with self.subTest(size):
                file = self.write(content[:size], "cut.hdf5")
                self.run_bad("--input", file, says=file)

    def test_damaged_files(self):
        """No content may end the program in another way than by its own message."""
        with open(self.snapshot("gadget"), "rb") as file:
            content = bytearray(file.read())
        for at in range(8, len(content), len(content) // 40):
            damaged = bytes(b ^ 0xff if at <= i < at + 16 else b for i, b in enumerate(content))
            file = self.write(damaged, "damaged.hdf5")
            # HDF5 itself leaks on such files
            result = self.start("--input", file, "--method", "direct",
                                env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
            self.assertIn(result.returncode, (0, 2), result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 0 if result.returncode == 0 else 1)

    def test_text_is_not_hdf5(self):
        file = self.write("0 0 0 1\n", "text.hdf5")
        self.run_bad("--input", file, says=(file, "not an HDF5 file"))


class Output(Case):
    RUN = ("--model", "cube", "--n", 100, "--method", "fmm")

    def test_numbers_are_complete(self):
        """17 digits give the double itself, as HDF5 has it."""
        file = self.write_bodies(grid_bodies())
        rows = self.exact_sums(file)
        self.run_ok("--input", file, "--method", "direct", "--precision", "double",
                    "--output", self.path("sums.h5"))
        data = self.print_hdf5(self.path("sums.h5"))
        self.assertEqual([row[0] for row in rows], data["Potential"]["values"])
        self.assertEqual([x for row in rows for x in row[1:]], data["Field"]["values"])

    def test_needs_one_method(self):
        output = self.path("out.csv")
        self.run_bad("--model", "cube", "--output", output, says=("--output", "one --method"))
        self.run_bad(*self.RUN, "--method", "direct", "--output", output,
                     says=("--output", "one --method"))
        self.assertFalse(os.path.exists(output))

    def test_format_follows_the_extension(self):
        for name in ("out", "out.txt", "out.CSV", "out.csv.gz", ".csv"):
            self.run_bad(*self.RUN, "--output", self.path(name), says=("--output", ".csv"))

    def test_places_that_cannot_be_written(self):
        os.mkdir(self.path("folder.csv"))
        for flag in ("--output", "--report"):
            for place in (self.path("absent/out.csv"), self.path("folder.csv"),
                          "/dev/null/out.csv", "/proc/out.csv"):
                self.run_bad(*self.RUN, flag, place, says=(flag, place))
        if os.geteuid() != 0:
            os.chmod(self.folder, 0o500)
            self.run_bad(*self.RUN, "--report", self.path("report.json"), says="--report")
            os.chmod(self.folder, 0o700)

    def test_a_full_device(self):
        self.run_bad(*self.RUN, "--report", "/dev/full", says=("--report", "/dev/full"))

    def test_a_failure_keeps_the_old_file(self):
        old = self.write("precious", "out.csv")
        bad = self.write("1 2 3\n")
        self.run_bad("--input", bad, "--method", "fmm", "--output", old, says="line 1")
        with open(old) as file:
            self.assertEqual(file.read(), "precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["bodies.txt", "out.csv"])

    def test_an_old_file_is_replaced(self):
        old = self.write("old", "out.csv")
        os.chmod(old, 0o640)
        self.run_ok(*self.RUN, "--output", old)
        with open(old) as file:
            self.assertEqual(len(file.readlines()), 101)
        self.assertEqual(os.stat(old).st_mode & 0o777, 0o640)
        self.assertEqual(os.listdir(self.folder), ["out.csv"])

    def test_a_link_stays_one(self):
        target = self.write("old", "target.csv")
        os.symlink(target, self.path("out.csv"))
        self.run_ok(*self.RUN, "--output", self.path("out.csv"))
        self.assertTrue(os.path.islink(self.path("out.csv")))
        with open(target) as file:
            self.assertEqual(len(file.readlines()), 101)

    def test_files_that_collide(self):
        file = self.write_bodies(grid_bodies(), "bodies.csv")
        self.run_bad("--input", file, "--method", "fmm", "--output", file,
                     says=("--output", "--input"))
        self.run_bad("--input", file, "--report", file, says=("--report", "--input"))
        same = os.path.join(self.folder, ".", "out.csv")
        self.run_bad(*self.RUN, "--output", self.path("out.csv"), "--report", same,
                     says=("--output", "--report"))

    def test_a_closed_terminal(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, "--model", "cube", "--n", "10"], stdout=full,
                                    stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.splitlines()), 1)



def any_sums(sources, targets, own=True, kernel="laplace", softening=0.0):
    """Rows (potential, field, Hessian) of targets (x, y, z), which are the sources if `own`, from sources
    (x, y, z, q, px, py, pz)."""
    factor = -1.0 if kernel == "gravity" else 1.0
    rows = []
    for i, point in enumerate(targets):
        row = [0.0] * 10
        for j, (u, v, w, q, *p) in enumerate(sources):
            d = [point[0] - u, point[1] - v, point[2] - w]
            r2 = sum(x * x for x in d) + softening**2
            if (own and i == j) or r2 == 0:
                continue
            r = math.sqrt(r2)
            along = sum(a * b for a, b in zip(p, d))
            row[0] += q / r + along / r**3
            for k in range(3):
                row[1 + k] += q * d[k] / r**3 + 3 * along * d[k] / r**5 - p[k] / r**3
            for k, (a, b) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
                same = a == b
                row[4 + k] += (q * (3 * d[a] * d[b] / r**5 - same / r**3) + 15 * along * d[a] * d[b] / r**7
                               - 3 * (same * along + d[a] * p[b] + d[b] * p[a]) / r**5)
        rows.append([factor * value for value in row])
    return rows


class AnyStrengths(Case):
    """Targets of their own, Hessians, dipoles and several densities."""
    NAMES = ["potential", "field_x", "field_y", "field_z", "hessian_xx", "hessian_yy", "hessian_zz", "hessian_xy",
             "hessian_xz", "hessian_yz"]
    DIRECT = ("--method", "direct", "--precision", "double", "--kernel", "laplace")
    TARGETS = [(0.1 * (i * 13 % 40), 2 - 0.1 * (i * 7 % 50), 0.1 * (i * 3 % 30)) for i in range(21)]

    def columns(self, *arguments):
        """Header and rows of the CSV file that the program writes."""
        self.run_ok(*arguments, "--check", 0, "--repeat", 1, "--output", self.path("sums.csv"))
        with open(self.path("sums.csv")) as file:
            header, *lines = file.read().split("\n")
        self.assertEqual(lines.pop(), "")
        return header.split(","), [[float(number) for number in line.split(",")] for line in lines]

    def sources(self, n=40):
        return [(*body[:3], (-1)**i * body[3], 0.01 * (i % 5), 0.02 - 0.01 * (i % 3), 0.01 * (i % 2))
                for i, body in enumerate(grid_bodies(n))]

    def table_of(self, names, rows, name="bodies.txt"):
        return self.write("\n".join([names, *(" ".join("%.17g" % x for x in row) for row in rows)]) + "\n", name)

    def assert_rows(self, found, expected, tolerance):
        self.assertEqual(len(found), len(expected))
        for first, last in ((0, 1), (1, 4), (4, 10)):
            pairs = [(a, b) for f, e in zip(found, expected) for a, b in zip(f[first:last], e[first:last])]
            error = math.sqrt(sum((a - b)**2 for a, b in pairs))
            self.assertLessEqual(error, tolerance * math.sqrt(sum(b * b for _, b in pairs)), (first, last))

    def test_targets_of_their_own(self):
        sources = self.sources()
        expected = any_sums([(*s[:4], 0, 0, 0) for s in sources], self.TARGETS, own=False)
        bodies = self.write_bodies([s[:4] for s in sources])
        plain = self.table_of("", self.TARGETS, "plain.txt")
        named = self.table_of("id z y x m", [(7, z, y, x, 1) for x, y, z in self.TARGETS], "named.csv")
        for targets in (plain, named):
            for hessian in (False, True):
                names, rows = self.columns("--input", bodies, "--targets", targets, *self.DIRECT,
                                           *(["--hessian"] if hessian else []))
                self.assertEqual(names, self.NAMES[:10 if hessian else 4])
                self.assert_rows(rows, [row[:len(names)] for row in expected], 1e-13)

    def test_targets_of_a_snapshot(self):
        sources = self.sources()
        names, rows = self.columns("--input", self.write_bodies([s[:4] for s in sources]), "--targets",
                                   self.snapshot("gadget"), *self.DIRECT)
        expected = any_sums([(*s[:4], 0, 0, 0) for s in sources], [b[:3] for b in Hdf5Input.BODIES], own=False)
        self.assert_rows(rows, [row[:4] for row in expected], 1e-13)

    def test_ids_are_the_targets(self):
        bodies = self.write_bodies([s[:4] for s in self.sources()])
        self.run_ok("--input", bodies, "--targets", self.snapshot("gadget"), *self.DIRECT, "--check", 0, "--output",
                    self.path("out.hdf5"))
        self.assertEqual(self.print_hdf5(self.path("out.hdf5"))["ParticleIDs"]["values"], [11, 12, 13, 21, 20])

    def test_dipoles(self):
        sources = self.sources()
        for names, rows in (
                ("x y z q px py pz", sources),
                ("px x py y pz z vx charge", [(p, x, u, y, w, z, 9, q) for x, y, z, q, p, u, w in sources])):
            file = self.table_of(names, rows)
            found = self.columns("--input", file, "--hessian", *self.DIRECT)
            self.assertEqual(found[0], self.NAMES)
            self.assert_rows(found[1], any_sums(sources, sources), 1e-13)
        alone = self.table_of("x y z px py pz", [(*s[:3], *s[4:]) for s in sources])
        found = self.columns("--input", alone, *self.DIRECT)
        expected = any_sums([(*s[:3], 0, *s[4:]) for s in sources], sources)
        self.assert_rows(found[1], [row[:4] for row in expected], 1e-13)
        entry, = self.report("--input", alone, "--method", "fmm", "--kernel", "laplace")
        self.assertTrue(entry["dipoles"])
        self.assertIn("dipoles", entry["notes"][0])

    def test_softened(self):
        sources = [(*s[:3], abs(s[3]), *s[4:]) for s in self.sources()]
        file = self.table_of("x y z m px py pz", sources)
        _, rows = self.columns("--input", file, "--hessian", "--method", "direct", "--precision", "double",
                               "--softening", 0.3)
        self.assert_rows(rows, any_sums(sources, sources, kernel="gravity", softening=0.3), 1e-13)

    def test_several_densities(self):
        sources = self.sources()
        charges = [[s[3], 10 * s[3] * (i % 3), -0.1] for i, s in enumerate(sources)]
        file = self.table_of("q1 x y z q0 q2", [(q[1], *s[:3], q[0], q[2]) for s, q in zip(sources, charges)])
        for hessian in (False, True):
            width = 10 if hessian else 4
            arguments = ("--input", file, *self.DIRECT, *(["--hessian"] if hessian else []))
            names, rows = self.columns(*arguments)
            self.assertEqual(names, [f"{name}_{k}" for k in range(3) for name in self.NAMES[:width]])
            expected = [any_sums([(*s[:3], q[k], 0, 0, 0) for s, q in zip(sources, charges)], sources)
                        for k in range(3)]
            for k in range(3):
                self.assert_rows([row[k * width:(k + 1) * width] for row in rows],
                                 [row[:width] for row in expected[k]], 1e-13)
            self.run_ok(*arguments, "--output", self.path("out.hdf5"))
            data = self.print_hdf5(self.path("out.hdf5"))
            self.assertEqual(data["Potential"]["shape"], [40, 3])
            self.assertEqual(data["Field"]["shape"], [40, 3, 3])
            self.assertEqual(data["Potential"]["values"][3 * 5 + 1], rows[5][width])
            self.assertEqual(data["Field"]["values"][9 * 5 + 3 + 2], rows[5][width + 3])
            self.assertEqual("Hessian" in data, hessian)
            if hessian:
                self.assertEqual(data["Hessian"]["shape"], [40, 3, 6])
                self.assertEqual(data["Hessian"]["values"][18 * 5 + 6 + 4], rows[5][width + 8])

    def test_all_pairs_with_a_tolerance(self):
        """In double whatever the precision, for the targets' own errors, too."""
        sources = self.sources()
        file = self.table_of("x y z q px py pz", sources)
        targets = self.table_of("", self.TARGETS, "targets.txt")
        for norm in ("l2", "p99"):
            _, rows = self.columns("--input", file, "--targets", targets, "--hessian", "--method", "direct",
                                   "--kernel", "laplace", "--precision", "float", "--tolerance", 1e-9,
                                   "--tolerance-of", "all", "--error-norm", norm)
            self.assert_rows(rows, any_sums(sources, self.TARGETS, own=False), 1e-13)

    def test_one_density_by_number(self):
        file = self.table_of("x y z q0", [s[:4] for s in self.sources()])
        self.assertEqual(self.columns("--input", file, *self.DIRECT)[0], [f"{name}_0" for name in self.NAMES[:4]])

    def test_errors_are_small_and_told(self):
        """Of all methods, for all that there is; and a tolerance is held."""
        sources = self.sources(3000)
        charge = self.table_of("x y z q", [s[:4] for s in sources], "charge.txt")
        both = self.table_of("x y z q px py pz", sources, "both.txt")
        several = self.table_of("x y z q0 q1", [(*s[:4], 1 + s[3]) for s in sources], "several.txt")
        targets = self.table_of("x y z", self.TARGETS * 20, "targets.txt")
        for input in (charge, both, several):
            for more in (["--hessian"], ["--targets", targets], ["--targets", targets, "--hessian"]):
                with self.subTest(input=input, more=more):
                    entries = self.report("--input", input, "--kernel", "laplace", "--check", 200, *more)
                    self.assertEqual([entry["method"] for entry in entries], ["direct", "treecode", "fmm"])
                    for entry in entries:
                        self.assertLess(entry["error"]["field_l2"], 5e-3)
                        self.assertLess(entry["error"]["potential_l2"], 5e-3)
                        self.assertIsNone(entry["error"]["field_p99"])
                        if "--hessian" in more:
                            self.assertLess(entry["error"]["hessian_l2"], 3e-2)
                        else:
                            self.assertIsNone(entry["error"]["hessian_l2"])
                        self.assertEqual(entry["n_targets"], 420 if "--targets" in more else 3000)
                        self.assertEqual(entry["hessian"], "--hessian" in more)
                        self.assertEqual(entry["densities"], 2 if input == several else None)
                    entry, = self.report("--input", input, "--kernel", "laplace", "--check", 500, *more,
                                         "--tolerance", 1e-4, "--tolerance-of", "all")
                    for name in ("field_l2", "potential_l2", *(["hessian_l2"] if "--hessian" in more else [])):
                        self.assertLessEqual(entry["error"][name], 1e-4)
                    self.assertLessEqual(entry["held"]["seen_error"], 1e-4)
        table = self.run_ok("--input", several, "--kernel", "laplace", "--targets", targets, "--hessian")
        self.assertIn("targets: 420", table)
        self.assertIn("densities: 2", table)
        self.assertIn("Hessian L2", table)

    def test_a_sample_of_a_long_sum(self):
        entry, = self.report("--model", "cube", "--n", 30000, "--hessian", "--method", "direct", "--direct-limit", 0)
        self.assertTrue(entry["extrapolated"])
        self.assertGreater(entry["seconds"]["total"], 0)

    def test_nothing(self):
        none = self.table_of("x y z q", [], "none.txt")
        no_targets = self.table_of("x y z", [], "no_targets.txt")
        some = self.table_of("x y z q", [s[:4] for s in self.sources()], "some.txt")
        targets = self.table_of("x y z", self.TARGETS, "targets.txt")
        for method in ("direct", "treecode", "fmm"):
            arguments = ("--method", method, "--kernel", "laplace", "--hessian")
            names, rows = self.columns("--input", some, "--targets", no_targets, *arguments)
            self.assertEqual((names, rows), (self.NAMES, []))
            names, rows = self.columns("--input", none, "--targets", targets, *arguments)
            self.assertEqual(rows, [[0] * 10] * len(self.TARGETS))

    def test_refusals(self):
        sources = self.sources()
        charge = self.table_of("x y z q", [s[:4] for s in sources], "charge.txt")
        targets = self.table_of("x y z", self.TARGETS, "targets.txt")
        laplace = ("--kernel", "laplace")
        for names, row, says in (
                ("x y z q px py", (0, 0, 0, 1, 0, 0), "none of them is pz"),
                ("x y z q q0", (0, 0, 0, 1, 1), "both q and q0"),
                ("x y z q0 q2", (0, 0, 0, 1, 1), "none of them is q1"),
                ("x y z q0 px py pz", (0, 0, 0, 1, 1, 1, 1), "dipoles beside several densities"),
                ("x y z q01", (0, 0, 0, 1), "'q01'"),
                ("x y z q0 q0", (0, 0, 0, 1, 1), "q0 twice")):
            file = self.table_of(names, [row], "wrong.txt")
            self.run_bad("--input", file, *laplace, says=(file, "line 1", says))
        self.run_bad("--input", self.table_of("x y z q px py pz", [(0, 0, 0, 1, 0, math.nan, 0)], "nan.txt"),
                     *laplace, says=("line 2", "py = nan"))
        self.run_bad("--input", self.table_of("x y z q0 q1", [(0, 0, 0, 1, -1)], "mass.txt"),
                     says=("line 2", "q1 = -1"))
        self.run_bad("--input", self.table_of("x y z m", [(0, 0, 0, 1), (1, 0, 0, -1)], "negative.txt"), "--hessian",
                     "--tolerance", 1e-4, says=("line 3", "= -1"))
        wrong = self.write("0 0 0 1\n", "four.txt")
        self.run_bad("--input", charge, *laplace, "--targets", wrong,
                     says=(wrong, "line 1", "4 columns", "three, x y z"))
        self.run_bad("--input", charge, *laplace, "--targets", self.path("absent"), says=("--targets", "does not exist"))
        for more, says in (
                (("--method", "fmm", "--criterion", "power"), "--criterion = power"),
                (("--method", "fmm", "--traversal", "lists"), "--traversal = lists"),
                (("--method", "treecode", "--traversal", "dual"), "--traversal = dual"),
                (("--method", "fmm", "--translation", "direct"), "--translation = direct"),
                (("--tolerance", 1e-4, "--tune"), "--tune"),
                (("--tolerance", 1e-4, "--error-norm", "p99"), "--error-norm = p99"),
                (("--tolerance", 1e-4, "--tolerance-of", "hessian"), "--hessian")):
            self.run_bad("--input", charge, *laplace, "--targets", targets, *more, says=says)
        self.run_bad("--input", charge, *laplace, "--targets", targets, "--method", "fmm", "--output", targets + ".csv",
                     "--report", targets, says="--targets")


class Periodic(Case):
    # rock salt, and its constant for the distance of neighbours
    IONS = [(x / 2, y / 2, z / 2, (-1) ** (x + y + z)) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    MADELUNG = 1.747564594633182

    def setUp(self):
        super().setUp()
        self.run_of_ions = ("--input", self.write_bodies(self.IONS), "--kernel", "laplace", "--precision", "double")

    def assert_salt(self, rows, tolerance):
        self.assertEqual(len(rows), 8)
        for (*_, q), (potential, *field) in zip(self.IONS, rows):
            self.assertAlmostEqual(-q * potential / 2, self.MADELUNG, delta=tolerance)
            self.assertLess(math.hypot(*field), 4 * tolerance)

    def test_rock_salt_has_its_constant(self):
        for run, tolerance in ((("--method", "direct"), 1e-13),
                               (("--method", "fmm", "--order", 8, "--theta", 0.3), 1e-5),
                               (("--method", "treecode", "--order", 8, "--theta", 0.3), 1e-4)):
            self.assert_salt(self.sums(*self.run_of_ions, "--periodic", "1,1,1", *run), tolerance)

    def test_vectors_are_any_of_the_lattice(self):
        self.assert_salt(self.sums(*self.run_of_ions, "--periodic", "1,0,0,3,1,0,-2,5,-1", "--method", "direct"), 1e-13)

    def test_errors_are_measured_with_ewalds_sums(self):
        run = ("--input", self.write_bodies(grid_bodies()), "--periodic", "9,12,5", "--precision", "double", "--check",
               60, "--order", 8, "--theta", 0.5)
        direct, treecode, fmm = self.report(*run)
        self.assertLess(direct["error"]["force_l2"], 1e-12)
        for entry in (treecode, fmm):
            self.assertLess(entry["error"]["force_l2"], 1e-4)
            self.assertGreater(entry["error"]["force_l2"], 1e-12)
            self.assertEqual(entry["periodic"], [[9, 0, 0], [0, 12, 0], [0, 0, 5]])
            self.assertEqual(entry["boundary"], "tin-foil")

    def test_targets_and_hessians(self):
        """The trace of the Hessian is that of the background, 4 pi Q / V."""
        bodies = grid_bodies()
        run = ("--input", self.write_bodies(bodies), "--kernel", "laplace", "--periodic", "9,12,5",
               "--targets", self.write("x y z\n1 2 3\n20 -7 4.5\n", "targets.txt"), "--hessian", "--check", 2,
               "--precision", "double", "--order", 8, "--theta", 0.4, "--output", self.path("sums.csv"))
        trace = 4 * math.pi * sum(q for *_, q in bodies) / (9 * 12 * 5)
        for method, tolerance in (("direct", 1e-11), ("fmm", 1e-3)):
            entry, = self.report(*run, "--method", method)
            self.assertLess(entry["error"]["force_l2"], tolerance)
            with open(self.path("sums.csv")) as file:
                _, *lines = file.read().splitlines()
            for line in lines:
                xx, yy, zz = map(float, line.split(",")[4:7])
                self.assertAlmostEqual((xx + yy + zz) / trace, 1, delta=tolerance)

    def test_vacuum_adds_the_field_of_the_cell_s_dipole(self):
        """-4 pi / 3 V times the dipole, which is that of the ions as they are given; rock salt's cell here has none."""
        run = (*self.run_of_ions, "--periodic", "1,1,1", "--method", "direct")
        for tin_foil, vacuum in zip(self.sums(*run), self.sums(*run, "--boundary", "vacuum")):
            for a, b in zip(tin_foil, vacuum):
                self.assertAlmostEqual(a, b, delta=1e-12)
        pair = ("--input", self.write("0 0 0 1\n0.5 0 0 -1\n", "pair.txt"), "--kernel", "laplace", "--precision",
                "double", "--periodic", "1,1,1", "--method", "direct")
        for a, b in zip(self.sums(*pair), self.sums(*pair, "--boundary", "vacuum")):
            self.assertAlmostEqual(b[1] - a[1], 4 * math.pi / 3 * 0.5, delta=1e-12)
        entry, = self.report(*pair, "--boundary", "vacuum", "--check", 2)
        self.assertLess(entry["error"]["force_l2"], 1e-12)
        self.assertLess(entry["error"]["potential_l2"], 1e-12)

    def test_a_tolerance_is_held(self):
        run = ("--model", "cube", "--n", 4000, "--charges", "mixed", "--kernel", "laplace", "--check", 4000)
        for box in ("1,1,1", "1,0,0,0.2,1.1,0,-0.3,0.1,1.2"):
            for tolerance in (1e-3, 1e-5):
                entry, = self.report(*run, "--periodic", box, "--tolerance", tolerance)
                self.assertLess(entry["error"]["force_l2"], tolerance)
                self.assertGreater(entry["error"]["force_l2"], 0.01 * tolerance)
        entry, = self.report(*run, "--periodic", "1,1,1", "--tolerance", 1e-4, "--tune")
        self.assertLess(entry["error"]["force_l2"], 1e-4)

    def test_box_of_a_snapshot(self):
        run = ("--input", self.snapshot("box"), "--method", "direct", "--precision", "double")
        entry, = self.report(*run, "--periodic", "file")
        self.assertEqual((entry["periodic"], entry["notes"]), ([[100, 0, 0], [0, 100, 0], [0, 0, 100]], []))
        self.assertEqual(self.sums(*run, "--periodic", "file"), self.sums(*run, "--periodic", "100,100,100"))
        file = self.snapshot("gadget")
        self.run_bad("--input", file, "--periodic", "file", says=(file, "BoxSize"))

    def test_what_is_refused(self):
        for box, *says in (("1,1", "three lengths"), ("1,1,x", "three lengths"), ("1,1,1,", "three lengths"),
                           ("", "three lengths"), ("1,1,0", "volume"), ("1,0,0,0,1,0,1,1,0", "volume"),
                           ("1,1,21", "at most 20"), ("1,1,inf", "periodic vector 2")):
            self.run_bad(*self.run_of_ions, "--periodic", box, says=says)
        run = (*self.run_of_ions, "--periodic", "1,1,1")
        self.run_bad("--input", self.write_bodies(grid_bodies(), "net.txt"), "--periodic", "9,12,5", "--boundary",
                     "vacuum", says=("net charge", "vacuum"))
        self.run_bad(*run, "--boundary", "water", says=("--boundary", "tin-foil", "vacuum"))
        self.run_bad(*self.run_of_ions, "--boundary", "tin-foil", says=("--boundary", "--periodic"))
        self.run_bad("--model", "cube", "--periodic", "file", says=("--periodic file", "--input"))


class Report(Case):
    KEYS = {"method", "traversal", "translation", "kernel", "softening", "order", "theta", "leaf",
            "depth", "tree", "precision", "backend", "device", "threads", "n", "seed", "versions",
            "commit", "seconds", "interactions", "flops", "memory_bytes", "error"}

    def test_fields(self):
        n = 3000
        entries = self.report("--model", "plummer", "--n", n, "--seed", 5, "--softening", 0.01,
                              "--repeat", 4, "--check", 300, "--threads", 1)
        self.assertEqual([entry["method"] for entry in entries], ["direct", "treecode", "fmm"])
        for entry in entries:
            self.assertLessEqual(self.KEYS, entry.keys())
            self.assertEqual((entry["n"], entry["seed"], entry["softening"]), (n, 5, 0.01))
            self.assertEqual((entry["kernel"], entry["precision"]), ("gravity", "float"))
            self.assertIn(entry["threads"], (1, None))
            self.assertLessEqual({"fmm", "kokkos", "compiler", "hdf5"}, entry["versions"].keys())
            seconds = entry["seconds"]
            self.assertEqual(len(seconds["all"]), 4)
            self.assertLessEqual(min(seconds["all"]), seconds["total"])
            self.assertLessEqual(seconds["total"], max(seconds["all"]))
            self.assertGreater(seconds["first"], 0)
            self.assertGreater(seconds["build"], 0)
            self.assertGreater(seconds["evaluate"], 0)
            for stage in ("sort", "tree", "lists", "p2m", "m2l", "m2m", "p2l", "m2p", "l2l", "l2p",
                          "p2p"):
                self.assertGreaterEqual(seconds["stages"][stage], 0)
            self.assertGreater(entry["flops"], 0)
            self.assertGreater(entry["memory_bytes"], 0)
            error = entry["error"]
            self.assertEqual(error["samples"], 300)
            self.assertLess(error["force_l2"], 3e-3)
            for key in ("l2", "p99", "max"):
                self.assertEqual(error["field_" + key], error["force_" + key])
            self.assertLess(error["potential_l2"], 1e-3)
            self.assertLessEqual(error["force_p99"], error["force_max"])
            histogram = error["histogram"]
            self.assertLessEqual(sum(histogram["counts"]), 300)
            self.assertEqual(len(histogram["counts"]), len(histogram["log10_from"]))
        direct, treecode, fmm = entries
        self.assertEqual(direct["interactions"],
                         {"p2p_pairs": n * (n - 1), "m2l": 0, "p2l": 0, "m2p": 0})
        for key in ("order", "theta", "leaf", "tree", "translation"):
            self.assertIsNone(direct[key])
        self.assertGreater(treecode["interactions"]["m2p"], 0)
        self.assertIn(treecode["traversal"], ("barnes-hut", "dual"))  # the latter on a GPU
        self.assertIsNone(treecode["translation"])
        self.assertGreater(fmm["interactions"]["m2l"], 0)
        self.assertEqual((fmm["traversal"], fmm["translation"], fmm["tree"]),
                         ("dual", "rotation", "adaptive"))

    def test_what_was_asked_for(self):
        asked = {"kernel": "laplace", "tree": "uniform", "traversal": "lists", "depth": 3,
                 "translation": "direct", "precision": "double", "leaf": 7, "charges": "mixed"}
        options = [word for key, value in asked.items() for word in (f"--{key}", value)]
        entry, = self.report("--model", "cube", "--n", 3000, "--method", "fmm", *options)
        self.assertEqual({key: entry[key] for key in asked}, asked)
        self.assertAlmostEqual(entry["theta"], 2 / 3)

    def test_one_part(self):
        run = ("--model", "cube", "--n", 20000, "--check", 20000, "--method", "fmm", "--order", 8,
               "--theta", 0.5, "--precision", "mixed")
        two, = self.report(*run)
        one, = self.report(*run, "--one-part")
        self.assertEqual((two["one_part"], one["one_part"]), (False, True))
        self.assertGreater(one["error"]["force_l2"], 2 * two["error"]["force_l2"])

    def test_tolerance(self):
        run = ("--model", "plummer", "--n", 20000, "--check", 20000)
        for precision, tolerance in (("float", 1e-3), ("float", 1e-5), ("double", 1e-7)):
            entry, = self.report(*run, "--tolerance", tolerance, "--precision", precision)
            self.assertEqual((entry["method"], entry["tolerance"]), ("fmm", tolerance))
            self.assertIn(entry["criterion"], ("radius", "power"))
            self.assertEqual(entry["pair_error"] is None, entry["criterion"] == "radius")
            self.assertEqual(entry["precision"], "mixed" if precision == "float" else "double")
            self.assertLess(entry["error"]["force_l2"], tolerance)
        for of in ("field", "potential", "both"):
            entry, = self.report(*run, "--tolerance", 1e-4, "--tolerance-of", of)
            self.assertEqual(entry["tolerance_of"], of)
            for result in ("force_l2", "potential_l2"):
                if of in ("both", result[:-3].replace("force", "field")):
                    self.assertLess(entry["error"][result], 1e-4)
        entry, = self.report(*run, "--tolerance", 1e-4, "--method", "treecode")
        self.assertEqual((entry["method"], entry["tolerance"]), ("treecode", 1e-4))
        self.assertLess(entry["error"]["field_l2"], 1e-4)
        self.assertGreater(entry["error"]["field_l2"], 1e-6)
        for n in (1000, 17000):  # of so many bodies the time is predicted first
            entry, = self.report("--model", "plummer", "--n", n, "--check", 1000, "--tolerance", 1e-9,
                                 "--method", "direct")
            self.assertEqual((entry["method"], entry["tolerance"], entry["precision"]), ("direct", 1e-9, "double"))
            self.assertLess(entry["error"]["field_l2"], 1e-9)
        entry, = self.report(*run, "--tolerance", 1e-4, "--error-norm", "p99")
        self.assertEqual((entry["error_norm"], entry["held"]["by"]), ("p99", "sample"))
        self.assertLess(entry["held"]["seen_error"], 1e-4)
        self.assertGreater(entry["held"]["largest_own_error"], entry["held"]["seen_error"])
        self.assertLess(entry["error"]["field_p99"], 1e-4)
        self.assertEqual(entry["error"]["least_share"], 5e-4)
        # of so many bodies the criterion takes what was found for them; of few what holds for any
        entry, = self.report(*run, "--tolerance", 1e-4, "--order", 8)
        few, = self.report("--model", "plummer", "--n", 2000, "--check", 2000, "--tolerance", 1e-4,
                           "--order", 8)
        for one in (entry, few):
            self.assertEqual(one["order"], 8)
            self.assertLess(one["error"]["force_l2"], 1e-4)
        self.assertEqual(few["criterion"], "power")
        if entry["criterion"] == "power":
            self.assertGreater(entry["pair_error"], 1.1 * few["pair_error"])
        else:
            self.assertIsNone(entry["pair_error"])
            self.assertGreater(entry["theta"], 0.4)

    def test_tune(self):
        run = ("--model", "plummer", "--n", 6000, "--check", 6000, "--tune")
        for precision, tolerance in (("float", 1e-3), ("double", 1e-6)):
            entry, = self.report(*run, "--tolerance", tolerance, "--precision", precision)
            self.assertEqual((entry["method"], entry["tolerance"]), ("fmm", tolerance))
            self.assertIn(entry["one_part"], (True, False))
            self.assertTrue(entry["tuning"]["held"])
            self.assertGreater(entry["tuning"]["trials"], 5)
            self.assertGreater(entry["tuning"]["seconds"], 0)
            self.assertIn(entry["criterion"], ("radius", "power"))
            self.assertLess(entry["error"]["force_l2"], tolerance)
        # against an FMM
        entry, = self.report("--model", "plummer", "--n", 40000, "--check", 40000, "--tune",
                             "--softening", 1e-3, "--tolerance", 1e-4)
        self.assertTrue(entry["tuning"]["held"])
        self.assertEqual(entry["softening_error"], 1e-4)
        self.assertLess(entry["error"]["force_l2"], 1e-4)
        entry, = self.report(*run, "--tolerance", 1e-3, "--leaf", 33)
        self.assertEqual(entry["leaf"], 33)
        entry, = self.report(*run[:-1], "--tolerance", 1e-3)
        self.assertIsNone(entry["tuning"])

    def test_criterion(self):
        run = ("--model", "plummer", "--n", 20000, "--method", "fmm", "--order", 4)
        entry, = self.report(*run, "--criterion", "field", "--pair-error", 1e-4)
        self.assertEqual((entry["criterion"], entry["pair_error"]), ("field", 1e-4))
        stricter, = self.report(*run, "--criterion", "field", "--pair-error", 1e-6)
        self.assertLess(stricter["error"]["force_l2"], 0.3 * entry["error"]["force_l2"])
        by_power, = self.report(*run, "--criterion", "power", "--pair-error", 1e-5)
        self.assertEqual((by_power["criterion"], by_power["pair_error"]), ("power", 1e-5))
        self.assertLess(by_power["error"]["force_l2"], 1e-4)
        self.assertIsNone(by_power["last_field"])
        relative, = self.report(*run, "--criterion", "relative", "--pair-error", 1e-4)
        self.assertEqual((relative["criterion"], relative["pair_error"]), ("relative", 1e-4))
        self.assertIn("not timed", relative["last_field"])
        stricter, = self.report(*run, "--criterion", "relative", "--pair-error", 1e-6)
        self.assertLess(stricter["error"]["force_l2"], 0.3 * relative["error"]["force_l2"])
        radius, = self.report(*run, "--criterion", "radius")
        self.assertEqual((radius["criterion"], radius["pair_error"]), ("radius", None))
        lists, = self.report(*run, "--traversal", "lists")
        self.assertIsNone(lists["criterion"])

    def test_check(self):
        run = ("--model", "cube", "--n", 200, "--method", "fmm")
        self.assertIsNone(self.report(*run, "--check", 0)[0]["error"])
        self.assertEqual(self.report(*run, "--check", 200)[0]["error"]["samples"], 200)
        self.assertEqual(self.report(*run, "--check", 10**9)[0]["error"]["samples"], 200)

    def test_extrapolation_is_said(self):
        run = ("--model", "cube", "--n", 2000000, "--method", "direct", "--repeat", 1,
               "--direct-limit", 1e-3, "--check", 100)
        table = self.run_ok(*run, "--report", self.path("report.json"))
        self.assertIn("extrapolated", table)
        with open(self.path("report.json")) as file:
            entry, = json.load(file)
        self.assertTrue(entry["extrapolated"])
        self.assertLess(entry["sampled_targets"], entry["n"])
        self.assertEqual(entry["error"]["samples"], 100)
        self.assertLess(entry["error"]["force_l2"], 1e-5)
        self.assertEqual(entry["interactions"]["p2p_pairs"], 2000000 * 1999999)
        self.assertGreater(entry["seconds"]["total"], 1e-3)
        entry, = self.report("--model", "cube", "--n", 2000, "--method", "direct")
        self.assertFalse(entry["extrapolated"])

    def test_input_files(self):
        entry = self.report("--input", self.write_bodies(grid_bodies()))[0]
        self.assertEqual((entry["n"], entry["seed"]), (60, None))

    def test_the_table(self):
        table = self.run_ok("--model", "cube", "--n", 1000)
        for word in ("method", "direct", "treecode", "fmm", "force L2", "force p99",
                     "potential L2", "p2p", "m2l"):
            self.assertIn(word, table)


class Results(Case):
    """All ways through the program give the direct sum, in the input's order."""

    def translations(self):
        """Those that the program offers: gemm needs Kokkos Kernels."""
        help = self.run_ok("--help")
        return ("direct", "rotation") + (("gemm",) if "gemm" in help else ())

    def test_every_combination(self):
        bodies = grid_bodies(400)
        file = self.write_bodies(bodies)
        expected = {kernel: direct_sum(bodies, kernel) for kernel in ("gravity", "laplace")}
        theta = {"lists": (), "dual": ("--theta", 0.4), "barnes-hut": ("--theta", 0.4)}
        ways = [("treecode", traversal, ()) for traversal in theta]
        ways += [("fmm", traversal, ("--translation", translation))
                 for traversal in ("lists", "dual") for translation in self.translations()]
        ways += [(method, "dual", ("--criterion", criterion, "--pair-error", 1e-3))
                 for method in ("treecode", "fmm") for criterion in ("field", "relative")]
        ways += [("fmm", "dual", ("--criterion", "power", "--pair-error", 1e-3))]
        for kernel in expected:
            for precision, bound in (("float", 2e-6), ("mixed", 3e-7), ("double", 1e-13)):
                rows = self.sums("--input", file, "--method", "direct", "--precision", precision,
                                 "--kernel", kernel)
                self.assert_sums(rows, expected[kernel], bound)
                for tree, (method, traversal, extra) in itertools.product(("uniform", "adaptive"),
                                                                          ways):
                    if precision == "mixed" and (traversal == "lists" or
                                                 {"direct", "gemm", "relative"} & set(extra)):
                        continue
                    with self.subTest((kernel, precision, tree, method, traversal, extra)):
                        rows = self.sums("--input", file, "--method", method, "--kernel", kernel,
                                         "--traversal", traversal, "--tree", tree, "--leaf", 4,
                                         "--precision", precision, *theta[traversal], *extra)
                        self.assert_sums(rows, expected[kernel], 2e-2)

    def test_data_in_float(self):
        """Errors refer to the bodies as they are handed over: rounding these does not show."""
        if "cuda" not in self.backends():
            self.skipTest("bodies in float need the CUDA backend")
        run = ("--model", "plummer", "--n", 3000, "--method", "direct", "--backend", "cuda")
        as_double, = self.report(*run, "--check", 3000)
        as_float, = self.report(*run, "--check", 3000, "--data", "float")
        self.assertEqual((as_double["data"], as_float["data"]), ("double", "float"))
        for entry in (as_double, as_float):
            self.assertLess(entry["error"]["force_l2"], 1e-5)
        rounded = self.sums(*run, "--data", "float")
        exact = self.sums(*run)
        self.assertNotEqual(rounded, exact)
        self.assert_sums(rounded, exact, 1e-2)
        for scale in (1e23, 1e-20):  # results are in float, too
            far = self.write_bodies([(x * scale, y * scale, z * scale, q)
                                     for x, y, z, q in grid_bodies(300)])
            self.run_bad("--input", far, "--method", "direct", "--backend", "cuda", "--data",
                         "float", says=("1e-30 to 1e30", "double"))

    def test_constants(self):
        bodies = grid_bodies(50)
        rows = self.exact_sums(self.write_bodies(bodies), "--softening", 0.5, "--G", 6.5)
        self.assert_sums(rows, direct_sum(bodies, softening=0.5, g=6.5), 1e-13)
        rows = self.exact_sums(self.write_bodies(bodies), "--softening", 0.5, "--softening-kind",
                               "spline", "--G", 6.5)
        self.assert_sums(rows, direct_sum(bodies, softening=0.5, g=6.5, kind="spline"), 1e-12)

    def test_softening_in_the_far_field(self):
        """Expansions act where they stand for the softened kernel, and nearer if they are told to."""
        run = ("--model", "cube", "--n", 3000, "--softening", 0.05, "--check", 3000, "--leaf", 8,
               "--precision", "double")
        for method in ("treecode", "fmm"):
            def error(*arguments):
                entry, = self.report(*run, "--method", method, *arguments)
                return entry["error"]["force_l2"], entry["softening_kind"], entry["softening_error"]
            spline_error, kind, allowed = error("--softening-kind", "spline")
            self.assertEqual((kind, allowed), ("spline", None))
            self.assertLess(spline_error, 1e-3)
            default_error, kind, allowed = error()
            self.assertEqual((kind, allowed), ("plummer", 5e-4))
            self.assertLess(default_error, 1e-3)
            unbounded, _, allowed = error("--softening-error", 1e3)
            self.assertEqual(allowed, 1e3)
            self.assertGreater(unbounded, 1e-2)
        entry, = self.report(*run, "--method", "direct")
        self.assertEqual((entry["softening_kind"], entry["softening_error"]), ("plummer", None))

    def test_threads_do_not_change_a_bit(self):
        outputs = set()
        for threads in (1, 2, 3):
            self.run_ok("--model", "disk", "--n", 5000, "--method", "fmm", "--threads", threads,
                        "--output", self.path("out.csv"))
            with open(self.path("out.csv")) as file:
                outputs.add(file.read())
        self.assertEqual(len(outputs), 1)

    def test_the_seed_makes_the_bodies(self):
        run = ("--model", "plummer", "--n", 100, "--method", "direct")
        self.assertEqual(self.sums(*run, "--seed", 7), self.sums(*run, "--seed", 7))
        self.assertNotEqual(self.sums(*run, "--seed", 7), self.sums(*run, "--seed", 8))


class EdgeCases(Case):
    METHODS = ("direct", "treecode", "fmm")

    def check(self, bodies, tolerance=1e-3, **physics):
        file = self.write_bodies(bodies)
        expected = direct_sum(bodies, **physics)
        options = [str(word) for key, value in physics.items() for word in (f"--{key}", value)]
        for method in self.METHODS:
            rows = self.sums("--input", file, "--method", method, "--precision", "double",
                             "--theta", 0.4, *options)
            self.assert_sums(rows, expected, 1e-13 if method == "direct" else tolerance)

    def test_no_bodies(self):
        for method in self.METHODS:
            self.assertEqual(self.sums("--model", "cube", "--n", 0, "--method", method), [])
        for entry in self.report("--model", "cube", "--n", 0):
            self.assertEqual((entry["n"], entry["error"]), (0, None))

    def test_one_body(self):
        self.check([(1, 2, 3, 4)])
        for entry in self.report("--model", "plummer", "--n", 1):
            self.assertEqual(entry["error"]["force_l2"], 0)

    def test_all_at_one_point(self):
        bodies = [(0.1, 0.2, 0.3, 1 + i) for i in range(300)]
        self.check(bodies)
        self.check(bodies, softening=0.5)

    def test_on_a_line_and_a_plane(self):
        self.check([(i * 0.01, 0, 0, 1) for i in range(300)])
        self.check([(i % 17, i // 17, 5, 1) for i in range(300)])

    def test_more_duplicates_than_a_leaf_holds(self):
        self.check([(i % 3, 0, 0, 1) for i in range(400)], tolerance=1e-2)

    def test_units(self):
        for scale in (1e-30, 1e30):
            self.check([(x * scale, y * scale, z * scale, q) for x, y, z, q in grid_bodies(300)])

    def test_results_beyond_the_range_of_float(self):
        """Of masses of 1 at distances of 1e23 and 1e-20, in each working precision."""
        for scale in (1e23, 1e-20):
            bodies = [(x * scale, y * scale, z * scale, q) for x, y, z, q in grid_bodies(300)]
            file = self.write_bodies(bodies)
            expected = direct_sum(bodies)
            for method in self.METHODS:
                for precision in ("float", "mixed", "double"):
                    with self.subTest((scale, method, precision)):
                        rows = self.sums("--input", file, "--method", method, "--precision",
                                         precision)
                        self.assert_sums(rows, expected, 1e-2)

    def test_softening_far_beyond_the_bodies(self):
        file = self.write_bodies(grid_bodies(300))
        for kind in ("plummer", "spline"):
            for method in self.METHODS:
                self.run_bad("--input", file, "--method", method, "--softening", 1e20,
                             "--softening-kind", kind, says=("softening", "edges", "double"))

    def test_results_that_are_not_finite_are_said(self):
        file = self.write_bodies([(0, 0, 0, 1e300), (1e-9, 0, 0, 1e300), (1, 0, 0, 1)])
        for method in self.METHODS:
            result = self.start("--input", file, "--method", method, "--precision", "double",
                                "--output", self.path("sums.csv"), "--report",
                                self.path("report.json"))
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            for text in (result.stderr, result.stdout):
                self.assertIn(f"{method}: 2 of 3 bodies have results that are infinite", text)
            self.assertIn(" inf ", result.stdout)  # the error
            with open(self.path("sums.csv")) as sums:
                self.assertEqual(len(sums.readlines()), 4)
            with open(self.path("report.json")) as report:
                entry, = json.load(report)
            self.assertEqual((entry["not_finite"], entry["error"]["not_finite"]), (2, 2))
            self.assertIsNone(entry["error"]["force_l2"])
        entry, = self.report("--model", "cube", "--n", 50, "--method", "fmm")
        self.assertEqual((entry["not_finite"], entry["error"]["not_finite"]), (0, 0))

    def test_massless_bodies(self):
        self.check([(i, i * i % 7, 0, 0 if i % 2 else 1) for i in range(40)])
        self.check([(i, 0, 0, 0) for i in range(10)])


if __name__ == "__main__":
    unittest.main()
