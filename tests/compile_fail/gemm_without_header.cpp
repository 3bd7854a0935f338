// SPDX-License-Identifier: BSD-3-Clause
// The scheme BatchedGemm without its header.
// expect: needs Kokkos Kernels and #include <fmm/batched_gemm.hpp>
#include <fmm/fmm.hpp>

fmm::Solver<fmm::Laplace, fmm::Fmm<4, fmm::DualTree<>, fmm::BatchedGemm>> solver;
