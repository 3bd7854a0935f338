// SPDX-License-Identifier: BSD-3-Clause
// Orders per pair under a criterion to which neither order nor theta means anything.
// expect: VariableOrder needs a criterion that goes by the order or by theta
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, fmm::Fmm<6, fmm::DualTree<fmm::VariableOrder<fmm::CubeCriterion, 4>>>>
    solver;
