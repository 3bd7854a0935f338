// SPDX-License-Identifier: BSD-3-Clause
// Orders are M2L's.
// expect: VariableOrder is of M2L, and a fmm::Treecode has none
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace,
            fmm::Treecode<6, fmm::DualTree<fmm::VariableOrder<fmm::RadiusCriterion, 4>>>>
    solver;
