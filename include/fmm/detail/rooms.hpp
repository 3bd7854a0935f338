// SPDX-License-Identifier: BSD-3-Clause
// The rooms of the library, a folder and a namespace each, and the rooms below that each speaks of. An
// include points from a room to its own files, to rooms below it and to the words that all share:
// fmm/arrays.hpp, environment.hpp, errors.hpp, host.hpp, inputs.hpp, strengths.hpp, results.hpp, near_pairs.hpp,
// batch.hpp, exclusions.hpp, options.hpp, precision.hpp, report.hpp, large_pages.hpp and cells/ (namespace fmm).
//
//     runtime     policies as values, compiled in the library fmm::runtime; its headers know no Kokkos
//     tolerance   a solver that is told an error
//     solver.hpp, solver_steps.hpp, plan.hpp, two_set_plan.hpp, batch_plan.hpp
//     accuracy    direct sums in double, and errors against them
//     engine      memory, build and evaluation
//     methods.hpp
//     kernels     pair kernels, expansions, one operator a file    |    tree    keys, octree, criteria, lists
//     tuning.hpp  shapes and costs for each space
//     simd        packs of numbers
//     periodic    lattices: host's geometry, and sums over their vectors (fmm::periodic)
//     detail      Kokkos by version, launches, memory
#pragma once

namespace fmm {

namespace detail {}
namespace simd {
using namespace detail;
}
namespace kernels {
using namespace detail;
using namespace simd;
}  // namespace kernels
namespace tree {
using namespace detail;
using namespace simd;
}  // namespace tree
namespace engine {
using namespace kernels;
using namespace tree;
}  // namespace engine
namespace accuracy {
using namespace engine;
}
namespace tolerance {
using namespace accuracy;
}
namespace runtime {}

}  // namespace fmm
