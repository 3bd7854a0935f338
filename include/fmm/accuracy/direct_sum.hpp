// SPDX-License-Identifier: BSD-3-Clause
// Direct sums in double as a reference.
#pragma once

#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include "../detail/host_thread.hpp"
#include "../engine/charges.hpp"
#include "../engine/checks.hpp"
#include "../engine/chosen_targets.hpp"
#include "../engine/ewald_sums.hpp"
#include "../engine/results.hpp"
#include "../engine/stage.hpp"
#include "../kernels/p2p/p2p.hpp"

namespace fmm {

namespace accuracy {

template <class Space, class Positions, class Charges>
struct CopyBodies {
  Positions positions;
  Charges charges;
  Array<Body<double>, Space> bodies;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    bodies(i) = {double(positions(i, 0)), double(positions(i, 1)), double(positions(i, 2)),
                 double(charges(i))};
  }
};

template <class Space, class Potential, class Field>
struct GiveDirect {
  Array<Sums<double>, Space> sums;
  double potential_unit, field_unit;
  Potential potential;
  Field field;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (!std::is_same_v<Potential, None>)
      potential(i) = sums(i).potential * potential_unit;
    if constexpr (!std::is_same_v<Field, None>) {
      field(i, 0) = sums(i).x * field_unit;
      field(i, 1) = sums(i).y * field_unit;
      field(i, 2) = sums(i).z * field_unit;
    }
  }
};

[[noreturn]] inline void refuse_target(std::int64_t i, double target, std::int64_t bodies) {
  throw InvalidArgument("targets(" + std::to_string(i) + ")", target,
                        "0 <= target < " + std::to_string(bodies));
}

/// Throws InvalidArgument for a target that is no body's number.
template <class Space>
void check_targets(Space const& space, Array<BodyIndex, Space> targets, std::int64_t bodies) {
  const auto count = std::int64_t(targets.extent(0));
  const std::int64_t bad = first_bad(space, "fmm::targets::inspect", count,
                                     CheckNumbers<Array<BodyIndex, Space>>{targets, bodies});
  if (bad < count) refuse_target(bad, double(read_back(space, targets.data() + bad)), bodies);
}

/// A periodic cell for direct sums, which are Ewald's then: kernels count up to the distance `softened`, and beyond it
/// bodies act as points.
struct DirectSumsIn {
  periodic::Lattice lattice;
  double softened;
  bool in_vacuum;
};
/// That of the options, if there is one; None where there are no options, so that no program compiles Ewald's sums that
/// has no use for them. Throws InvalidArgument for a box of no volume.
using PerhapsIn = std::optional<DirectSumsIn>;
template <class Kernel>
PerhapsIn direct_sums_in(Kernel const& kernel, Options const& options) {
  static_assert(kernels::is_harmonic<Kernel>(),
                "fmm: periodic sums are of kernels that are 1/r far away");
  if (!options.periodic) return std::nullopt;
  detail::validate(*options.periodic);
  using kernels::far_from;  // also that of kernels that stand for others
  return DirectSumsIn{periodic::Lattice(options.periodic->vectors), far_from(kernel, options),
                      options.periodic->boundary == Boundary::vacuum};
}

/// sum q x, sum q and sum |q|.
struct DipoleSums {
  double dipole[3] = {}, net = 0, sizes = 0;
  KOKKOS_FUNCTION void join(DipoleSums const& other) {
    for (int c = 0; c < 3; ++c) dipole[c] += other.dipole[c];
    net += other.net;
    sizes += other.sizes;
  }
};
template <class Space>
struct SumDipoles {
  Array<Body<double>, Space> bodies;
  KOKKOS_FUNCTION void operator()(std::int64_t i, DipoleSums& all) const {
    const Body<double> b = bodies(i);
    const double x[3] = {b.x, b.y, b.z};
    for (int c = 0; c < 3; ++c) all.dipole[c] += b.q * x[c];
    all.net += b.q;
    all.sizes += std::fabs(b.q);
  }
};
/// Adds x.D of a body's place, and takes D off its field.
template <class Space>
struct AddDipole {
  double D[3];
  Array<Body<double>, Space> bodies;
  Array<BodyIndex, Space> targets;
  double per_length;
  Array<Sums<double>, Space> sums;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Body<double> b = bodies(targets(i));
    Sums<double>& sum = sums(i);
    sum.potential += (b.x * D[0] + b.y * D[1] + b.z * D[2]) * per_length;
    sum.x -= D[0];
    sum.y -= D[1];
    sum.z -= D[2];
  }
};

/// Direct sums in double over all bodies at those numbered in `targets`, and the units that they are in.
template <class Space, class In = None>
struct DirectSums {
  In in = {};
  double error = 1e-15;  ///< of Ewald's sums
  Buffer<Body<double>, Space> bodies{"direct sum's bodies"};
  Buffer<Sums<double>, Space> sums{"direct sum"};
  double potential_unit = 1, field_unit = 1, per_length = 1;

  /// Sets bodies and units. Returns the kernel in the unit of length, of which the caller's is per_length.
  template <class Kernel, class Positions, class Charges>
  Kernel take_bodies(Space const& space, Kernel const& kernel, Positions const& positions,
                     Charges const& charges) {
    const auto n = std::int64_t(positions.extent(0));
    const auto all = bodies.resize(n);
    for_range("fmm::direct_sum::bodies", space, n,
              CopyBodies<Space, Positions, Charges>{positions, charges, all});
    double length = 1;
    Kernel scaled = kernel;
    potential_unit = prefactor(kernel);
    if constexpr (RescalableKernel<Kernel>) {
      length = root_cube(bounding_box(space, positions)).exact_unit();
      scaled = kernel.rescaled(length);
      check_softening(softening_of(kernel), length, true);
      potential_unit *= kernel.potential_unit(length);
    }
    field_unit = potential_unit / length;
    per_length = 1 / length;
    return scaled;
  }
  /// The same, and the sums.
  template <class Out, class Kernel, class Positions, class Charges>
  Kernel add(Space const& space, Kernel const& kernel, Positions const& positions,
             Charges const& charges, Array<BodyIndex, Space> targets) {
    const Kernel in_unit = take_bodies(space, kernel, positions, charges);
    const auto all = sums.resize(targets.extent(0));
    if constexpr (std::is_same_v<In, PerhapsIn>)
      if (in) {
        engine::ewald_sums_of_chosen(space, in->lattice, in_unit, in->softened, per_length,
                                     bodies.view(), targets, all, error);
        if (in->in_vacuum) add_vacuum(space, positions.extent(0), targets);
        return in_unit;
      }
    p2p_chosen<Out>(space, in_unit, per_length, bodies.view(), targets, all);
    return in_unit;
  }

 private:
  /// (4 pi / 3 V) x.D, of the positions as they are given. Throws InvalidArgument for a net charge.
  void add_vacuum(Space const& space, std::size_t count, Array<BodyIndex, Space> targets) {
    const auto all = bodies.view(count);
    const auto of_bodies = reduce<DipoleSums>("fmm::direct_sum::dipole", space, std::int64_t(count),
                                              SumDipoles<Space>{all});
    space.fence();
    if (!(std::fabs(of_bodies.net) <= 1e-11 * of_bodies.sizes))
      throw InvalidArgument("net charge", of_bodies.net,
                            "0, with a vacuum around the periodic cells");
    const double factor =
        4 * std::numbers::pi / (3 * in->lattice.times(per_length).volume()) * per_length;
    for_range("fmm::direct_sum::vacuum", space, std::int64_t(targets.extent(0)),
              AddDipole<Space>{{factor * of_bodies.dipole[0], factor * of_bodies.dipole[1],
                                factor * of_bodies.dipole[2]},
                               all,
                               targets,
                               per_length,
                               sums.view(targets.extent(0))});
  }
};

/// fmm::direct_sum.
template <class ExecutionSpace, class Kernel, class Positions, class Charges, class Targets,
          class Potential, class Field, class In>
void direct_sum(ExecutionSpace const& space, Kernel const& kernel, Positions const& positions,
                Charges const& charges, Targets const& targets, Potential const& potential,
                Field const& field, In const& in) {
  static_assert(PairKernel<Kernel>);
  static_assert(std::is_same_v<typename Targets::non_const_value_type, BodyIndex>,
                "fmm: targets are numbers of bodies of the type fmm::BodyIndex");
  using Site = site_t<ExecutionSpace>;
  Site const& site = space;
  const detail::HostThread<Site> thread(site);
  engine::check_view<ExecutionSpace, Positions, 2>();
  engine::check_view<ExecutionSpace, Charges, 1>();
  engine::check_result<ExecutionSpace, Potential, 1>();
  engine::check_result<ExecutionSpace, Field, 2>();
  const std::int64_t n = engine::checked_size("positions", positions);
  engine::check_extents("charges", charges, n);
  const std::int64_t m = std::int64_t(targets.extent(0));
  engine::check_extents("potential", potential, m);
  engine::check_extents("field", field, m);
  if (m == 0) return;
  detail::Region region("direct_sum");
  using Out = kernels::Outputs<!std::is_same_v<Potential, None>, !std::is_same_v<Field, None>>;
  detail::Buffer<BodyIndex, Site> target_buffer("direct sum's targets");
  const auto chosen = target_buffer.resize(m);
  if constexpr (std::is_same_v<Site, Host>)
    detail::for_range("fmm::direct_sum::targets", site, m,
                      engine::CopyNumbers<Host, Targets>{targets, chosen});
  else
    Kokkos::deep_copy(space, chosen.view(), targets);
  accuracy::check_targets(site, chosen, n);
  if constexpr (kernels::RescalableKernel<Kernel>)
    engine::check_ranges<double, Potential, Field>(
        kernels::profile_of(kernel), tree::root_cube(tree::bounding_box(site, positions)),
        engine::inspect_charges(site, false, charges).sum);
  accuracy::DirectSums<Site, In> direct{in};
  direct.template add<Out>(site, kernel, typename Positions::const_type(positions),
                           typename Charges::const_type(charges), chosen);
  detail::for_range(
      "fmm::direct_sum::results", site, m,
      accuracy::GiveDirect<Site, Potential, Field>{direct.sums.view(m), direct.potential_unit,
                                                   direct.field_unit, potential, field});
  space.fence();  // the buffers go now
}

}  // namespace accuracy

/// Direct sums in double, in the caller's units, over all N bodies at those numbered in `targets`
/// (M): potential (M) and field (M,3), each a View or fmm::none. Returns when they are there.
/// Throws InvalidArgument for a target that is no body, for extents that do not match and for
/// results whose type has no room for their unit, before any result is touched. Cost: M N pairs.
template <class ExecutionSpace, class Kernel, class Positions, class Charges, class Targets,
          class Potential, class Field>
void direct_sum(ExecutionSpace const& space, Kernel const& kernel, Positions const& positions,
                Charges const& charges, Targets const& targets, Potential const& potential,
                Field const& field) {
  accuracy::direct_sum(space, kernel, positions, charges, targets, potential, field, none);
}

/// The same in the box of options.periodic, if there is one, as of measure_error: Ewald's sums.
template <class ExecutionSpace, class Kernel, class Positions, class Charges, class Targets,
          class Potential, class Field>
void direct_sum(ExecutionSpace const& space, Kernel const& kernel, Options const& options,
                Positions const& positions, Charges const& charges, Targets const& targets,
                Potential const& potential, Field const& field) {
  accuracy::direct_sum(space, kernel, positions, charges, targets, potential, field,
                       accuracy::direct_sums_in(kernel, options));
}

}  // namespace fmm
