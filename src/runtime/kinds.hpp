// SPDX-License-Identifier: BSD-3-Clause
// Kinds of evaluations that are compiled: which results, of what sources carry, in one set of bodies or two. Arrays of
// other kinds are evaluated as one of these.
#pragma once

#include <fmm/fmm.hpp>
#include <tuple>

namespace fmm::runtime {

using Potential = kernels::Outputs<true, false>;
using Field = kernels::Outputs<false, true>;
using Both = kernels::Outputs<true, true>;

template <class WantedOutputs, class ShiftOfSources = OneSet, class OfSources = kernels::Charges<>>
struct Kind {
  using Out = WantedOutputs;
  using Shift = ShiftOfSources;
  using Strengths = OfSources;
};

using WithHessian = kernels::Outputs<true, true, 1, true>;
using OfFour = kernels::Outputs<true, true, 4>;

using BothOfTwo = Kind<Both, NoShift>;
using HessianOfOne = Kind<WithHessian>;
using HessianOfTwo = Kind<WithHessian, NoShift>;
using DipolesOfOne = Kind<WithHessian, OneSet, kernels::Dipoles<true>>;
using DipolesOfTwo = Kind<WithHessian, NoShift, kernels::Dipoles<true>>;
using FourOfOne = Kind<OfFour, OneSet, kernels::Charges<4>>;
using FourOfTwo = Kind<OfFour, NoShift, kernels::Charges<4>>;

/// instance(.., kind) for each kind of any strengths, but for charges of one set without Hessians.
#define FMM_FOR_EACH_KIND(instance, ...)                                       \
  instance(__VA_ARGS__, BothOfTwo) instance(__VA_ARGS__, HessianOfOne)         \
      instance(__VA_ARGS__, HessianOfTwo) instance(__VA_ARGS__, DipolesOfOne)  \
          instance(__VA_ARGS__, DipolesOfTwo) instance(__VA_ARGS__, FourOfOne) \
              instance(__VA_ARGS__, FourOfTwo)

}  // namespace fmm::runtime
