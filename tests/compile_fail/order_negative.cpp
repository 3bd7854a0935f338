// SPDX-License-Identifier: BSD-3-Clause
// An order below 0.
// expect: the expansion order is the highest degree, 0 or more
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, fmm::Fmm<-1>> solver;
