// SPDX-License-Identifier: BSD-3-Clause
// expect: fmm: CalibratedSolver's precision must be double or fmm::Mixed
#include <fmm/fmm.hpp>

fmm::CalibratedSolver<fmm::Laplace, 4, float> solver({.tolerance = 1e-3});
