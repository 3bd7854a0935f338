// SPDX-License-Identifier: BSD-3-Clause
// Targets of their own with M2L by matrix products: the check alone, since the scheme's header needs Kokkos Kernels.
// expect: BatchedGemm is for targets that are the sources, in their place: use
#include <fmm/fmm.hpp>

using Method = fmm::Fmm<4, fmm::DualTree<>, fmm::BatchedGemm>;

static_assert(fmm::engine::check_two_sets<Method, fmm::None, fmm::None>());
