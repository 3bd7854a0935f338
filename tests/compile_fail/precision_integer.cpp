// SPDX-License-Identifier: BSD-3-Clause
// A precision that is not a floating point type.
// expect: the precision must be float, double or fmm::Mixed
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, fmm::Fmm<4>, int> solver;
