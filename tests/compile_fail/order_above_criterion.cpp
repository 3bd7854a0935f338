// SPDX-License-Identifier: BSD-3-Clause
// An order for which the criterion has no binomials.
// expect: the expansion order is higher than the criterion's largest_order
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, fmm::Fmm<fmm::MultipolePowerCriterion::traits.largest_order + 1,
                                   fmm::DualTree<fmm::MultipolePowerCriterion>>>
    solver;
