// SPDX-License-Identifier: BSD-3-Clause
// A traversal is not a method.
// expect: the method must be fmm::DirectSum
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, fmm::BarnesHut> solver;
