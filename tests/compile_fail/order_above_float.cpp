// SPDX-License-Identifier: BSD-3-Clause
// An order whose factorials float has no room for.
// expect: expansions in float and Mixed are of order 26 at most
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, fmm::Treecode<27>, fmm::Mixed> solver;
