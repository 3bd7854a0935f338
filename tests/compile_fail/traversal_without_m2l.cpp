// SPDX-License-Identifier: BSD-3-Clause
// Barnes-Hut's lists have no pairs of cells.
// expect: fmm::BarnesHut has no pairs of cells for M2L
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, fmm::Fmm<4, fmm::BarnesHut>> solver;
