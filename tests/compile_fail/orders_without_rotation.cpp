// SPDX-License-Identifier: BSD-3-Clause
// Orders per pair by another scheme than Rotation.
// expect: VariableOrder needs the translation scheme fmm::Rotation
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, fmm::Fmm<6, fmm::DualTree<fmm::VariableOrder<fmm::RadiusCriterion, 4>>,
                                   fmm::NaiveTranslation>>
    solver;
