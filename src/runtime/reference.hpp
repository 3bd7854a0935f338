// SPDX-License-Identifier: BSD-3-Clause
// Errors of results against direct sums in double.
#pragma once

#include "any_kernel.hpp"
#include "views.hpp"

namespace fmm::runtime {

/// AnySolver::measure_error, of arrays that were checked.
template <class Space>
ErrorMeasure compare_with_reference(Space const& space, kernels::AnyKernel const& kernel,
                                    ConstArray const& positions, ConstArray const& charges,
                                    ConstArray const& potential, ConstArray const& field,
                                    std::size_t samples, std::uint64_t seed);

}  // namespace fmm::runtime
