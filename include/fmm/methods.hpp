// SPDX-License-Identifier: BSD-3-Clause
// The methods of a Solver: how all pairs of bodies are summed, and at which order.
//
//     fmm::DirectSum                                        every pair: O(N^2)
//     fmm::Treecode<6>                                      multipoles act on bodies: O(N log N)
//     fmm::Fmm<6>                                           multipoles act on cells: O(N)
//     fmm::Fmm<10, fmm::FmmList, fmm::NaiveTranslation>     by the classic lists, as the textbooks sum
#pragma once

#include "kernels/spherical/translation.hpp"
#include "tree/traversal.hpp"

namespace fmm {

/// Direct summation over all pairs of bodies. There is no tree, and any pair kernel serves.
struct DirectSum {
  static constexpr const char* name = "all-pairs";
  static constexpr CriterionTraits traits{};
  static constexpr int order = 0;
  using traversal = DirectSum;
  using translation = Rotation;
  static constexpr bool has_locals = false;
};

/// A treecode: the multipole of a cell acts on every body of a target that is far enough (M2P). There are no local
/// expansions; multipoles move up the tree by Rotation.
///
/// Order       highest degree of the multipoles, 0 or more; at most 26 in float and Mixed
/// Traversal   BarnesHut, or the lists of DualTree<criterion>, FmmList or FmmStencil, whose target cells then hand
///             the multipoles on to their bodies
template <int Order, class Traversal = BarnesHut>
struct Treecode {
  static constexpr int order = Order;
  using traversal = Traversal;
  using translation = Rotation;
  static constexpr bool has_locals = false;
};

/// A fast multipole method: multipoles act on local expansions (M2L), which move down the tree (L2L) to the bodies
/// (L2P).
///
/// Order         highest degree of the expansions, 0 or more; at most 26 in float and Mixed
/// Traversal     DualTree<criterion>, FmmList or FmmStencil; with DualTree<VariableOrder<criterion, orders...>> M2L
///               has several orders
/// Translation   Rotation (O(p^3)), NaiveTranslation (O(p^4)) or BatchedGemm (matrix products; batched_gemm.hpp)
template <int Order, class Traversal = DualTree<>, class Translation = Rotation>
struct Fmm {
  static constexpr int order = Order;
  using traversal = Traversal;
  using translation = Translation;
  static constexpr bool has_locals = true;
};

template <class T>
inline constexpr bool is_method_v = false;
template <>
inline constexpr bool is_method_v<DirectSum> = true;
template <int Order, class Traversal>
inline constexpr bool is_method_v<Treecode<Order, Traversal>> = true;
template <int Order, class Traversal, class Translation>
inline constexpr bool is_method_v<Fmm<Order, Traversal, Translation>> = true;

/// One of the three.
template <class T>
concept SummationMethod = is_method_v<T>;

}  // namespace fmm
