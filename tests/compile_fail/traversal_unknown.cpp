// SPDX-License-Identifier: BSD-3-Clause
// A class that is no traversal.
// expect: the traversal must be fmm::AllPairs, fmm::BarnesHut
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, 4, fmm::Rotation, int> solver;
