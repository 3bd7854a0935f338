// SPDX-License-Identifier: BSD-3-Clause
// Errors of results against direct sums in double.
#pragma once

#include <vector>

#include "any_kernel.hpp"
#include "views.hpp"

namespace fmm::runtime {

/// AnySolver::measure_error, of arrays that were checked, in the options' periodic box, if there is one; at random ones
/// of all bodies, or of the targets.
template <class Space>
ErrorMeasure compare_with_reference(Space const& space, kernels::AnyKernel const& kernel,
                                    Options const& options, ConstArray const& positions,
                                    ConstArray const& charges, ConstArray const& potential,
                                    ConstArray const& field, std::vector<BodyIndex> const* targets,
                                    std::size_t samples, std::uint64_t seed, double least_share);

}  // namespace fmm::runtime
