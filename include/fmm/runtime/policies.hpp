// SPDX-License-Identifier: BSD-3-Clause
// The policies of a solver as values. Free of Kokkos.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "../detail/visible.hpp"

namespace fmm::runtime {

/// fmm::Laplace, fmm::SoftenedGravity, fmm::SplineGravity.
enum class Kernel { laplace, softened_gravity, spline_gravity };

/// fmm::DirectSum, fmm::Treecode, fmm::Fmm by Rotation.
enum class Method { direct, treecode, fmm };

/// Which cells' expansions act: with Method::fmm by fmm::RadiusCriterion, FieldCriterion or MultipolePowerCriterion,
/// with Method::treecode by BarnesHut (radius) or SourceCriterion (field). With Options::tolerance it is found.
enum class Criterion { radius, field, multipole_power };

/// float, fmm::Mixed, double.
enum class Precision { single, mixed, full };

/// Where everything runs: an execution space of Kokkos.
enum class Backend { serial, openmp, cuda };

/// What was compiled in: backends, and orders in ascending order.
FMM_VISIBLE std::vector<Backend> backends();
FMM_VISIBLE std::vector<int> orders();
/// That of Kokkos::DefaultExecutionSpace.
FMM_VISIBLE Backend default_backend();

/// An aggregate for designated initialisers: `Policies{.kernel = Kernel::softened_gravity, .order = 6}`.
struct Policies {
  Kernel kernel = Kernel::laplace;
  Method method = Method::fmm;
  /// Not set: Criterion::radius, or found with Options::tolerance. Not to be set with that or with Method::direct.
  std::optional<Criterion> criterion = {};

  /// Of the expansions, one of `orders()`. Not set: with Options::tolerance it is found. With Method::direct it is not
  /// to be set; else it has to be.
  std::optional<int> order = {};

  /// With Options::tolerance and no order, those to choose from. None: fmm::ToleranceSolver's that are compiled in.
  std::vector<int> orders_to_choose_from = {};

  /// With Options::tolerance, single means mixed, and all pairs are summed in double.
  Precision precision = Precision::mixed;

  /// Not set: default_backend().
  std::optional<Backend> backend = {};
};

}  // namespace fmm::runtime
