// SPDX-License-Identifier: BSD-3-Clause
// One of the library's pair kernels, chosen at run time: a kernel to all code that runs on the host. Sums over pairs,
// which run on the device, are those of the one that was chosen, each compiled in a translation unit of its own
// (pair_sums.cpp.in).
#pragma once

#include <fmm/kernels/p2p/magnitudes.hpp>
#include <variant>
#include <vector>

#include "compiled_instances.hpp"

namespace fmm::kernels {

struct AnyKernel {
  static constexpr bool harmonic = true;
  static constexpr int most_densities = 4;
  using is_choice = AnyKernel;

  std::variant<Laplace, SoftenedGravity, SplineGravity> one;

  /// As the contract of a kernel says; never called where bodies are summed.
  template <class V>
  PairTerm<V> operator()(V r2) const {
    return std::visit([&](auto const& kernel) { return kernel(r2); }, one);
  }
  template <class V>
  PairDerivatives<V> derivatives(V r2) const {
    return std::visit([&](auto const& kernel) { return kernel.derivatives(r2); }, one);
  }
  double prefactor() const {
    return std::visit([](auto const& kernel) { return kernels::prefactor(kernel); }, one);
  }
  double potential_unit(double length) const {
    return std::visit([&](auto const& kernel) { return kernel.potential_unit(length); }, one);
  }
  AnyKernel rescaled(double length) const {
    return std::visit([&](auto const& kernel) { return AnyKernel{kernel.rescaled(length)}; }, one);
  }
  AnyKernel with(Options const& options) const {
    return std::visit(
        [&]<class Kernel>(Kernel const& kernel) {
          if constexpr (requires { kernel.with(options); })
            return AnyKernel{kernel.with(options)};
          else
            return AnyKernel{kernel};
        },
        one);
  }
};

// ---- what is asked of a kernel by overload; found by the kernel's namespace

inline KernelProfile profile_of(AnyKernel const& any) {
  return std::visit([](auto const& kernel) { return profile_of(kernel); }, any.one);
}
inline double far_from(AnyKernel const& any, Options const& options) {
  return std::visit([&](auto const& kernel) { return far_from(kernel, options); }, any.one);
}
inline double softening_of(AnyKernel const& any) {
  return std::visit([](auto const& kernel) { return softening_of(kernel); }, any.one);
}
inline engine::KernelTraits traits_of_kernel(AnyKernel const& any) {
  return std::visit([](auto const& kernel) { return engine::traits_of_kernel(kernel); }, any.one);
}

template <class F>
void with_kernel(AnyKernel const& any, F const& f) {
  std::visit(f, any.one);
}

template <class Out, class Precision, class Strengths = Charges<>, class Space, class Cells,
          class Bodies>
void p2p(Space const& space, AnyKernel const& any, Cells cells,
         std::type_identity_t<TargetTiles<Space>> tiles, Csr<Space> list, Bodies bodies,
         std::type_identity_t<Bodies> low, Array<Sums<sum_t<Precision>>, Space> sums,
         SplitRows<Space, sum_t<Precision>> rows = {}, MixedSums how = {},
         Array<real_t<Precision>, Space> others = {}, Array<int, Space> left = {}) {
  std::visit(
      [&](auto const& kernel) {
        p2p<Out, Precision, Strengths>(space, kernel, cells, tiles, list, bodies, low, sums, rows,
                                       how, others, left);
      },
      any.one);
}
template <class Out, class Precision, class Strengths = Charges<>, class Space, class Bodies>
void p2p_all(Space const& space, AnyKernel const& any, double per_unit, Bodies const& bodies,
             Array<Tile, Space> tiles, int shape, Array<Sums<sum_t<Precision>>, Space> sums,
             Array<double, Space> others = {}) {
  std::visit(
      [&](auto const& kernel) {
        p2p_all<Out, Precision, Strengths>(space, kernel, per_unit, bodies, tiles, shape, sums,
                                           others);
      },
      any.one);
}
template <class Out, class Space>
void p2p_chosen(Space const& space, AnyKernel const& any, double per_unit,
                Array<Body<double>, Space> bodies, Array<BodyIndex, Space> targets,
                Array<Sums<double>, Space> sums) {
  std::visit(
      [&](auto const& kernel) { p2p_chosen<Out>(space, kernel, per_unit, bodies, targets, sums); },
      any.one);
}
template <class Space>
std::vector<Magnitudes> p2p_magnitudes(Space const& space, AnyKernel const& any, double per_unit,
                                       Array<Body<double>, Space> bodies,
                                       Array<BodyIndex, Space> chosen) {
  return std::visit(
      [&](auto const& kernel) { return p2p_magnitudes(space, kernel, per_unit, bodies, chosen); },
      any.one);
}

}  // namespace fmm::kernels
