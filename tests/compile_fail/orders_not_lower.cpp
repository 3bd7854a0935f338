// SPDX-License-Identifier: BSD-3-Clause
// Orders per pair that do not ascend to less than the solver's.
// expect: VariableOrder's orders ascend from 0 or more and are lower than the
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace,
            fmm::Fmm<6, fmm::DualTree<fmm::VariableOrder<fmm::RadiusCriterion, 4, 6>>>>
    solver;
