// SPDX-License-Identifier: BSD-3-Clause
// A class that is no traversal.
// expect: the traversal of fmm::Fmm must be fmm::DualTree<criterion>
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, fmm::Fmm<4, int>> solver;
