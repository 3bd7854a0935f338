// SPDX-License-Identifier: BSD-3-Clause
// The order chosen per interaction (VariableOrder; Dachsel 2010, J. Chem. Phys. 132:119901) against single orders:
// time and error of build and evaluation over a grid of orders, criteria' parameters and leaf capacities, as JSON,
// for the default execution space.
//
//     orders [bodies [repeats]]            300000, 3
//
// A unit cube and a Plummer sphere of equal masses. Times are the best of the repeats, after one to warm up; errors
// are relative L2 errors of the field at 4096 bodies.
#include <cstdio>
#include <cstdlib>
#include <fmm/fmm.hpp>
#include <initializer_list>
#include <string>

#include "bodies.hpp"

namespace orders {

using Space = Kokkos::DefaultExecutionSpace;
using fmm::DualTree, fmm::FieldCriterion, fmm::VariableOrder, fmm::RadiusCriterion;

struct Problem {
  std::string model;
  Kokkos::View<double* [3], Space> positions;
  Kokkos::View<double*, Space> charges;
  int repeats;

  Problem(forces::Model kind, std::size_t n, int times)
      : model(forces::name_of(kind)),
        positions("positions", n),
        charges("charges", n),
        repeats(times) {
    const auto bodies = forces::make_model(kind, n, 1, forces::ChargeKind::equal);
    const auto x = Kokkos::create_mirror_view(positions);
    const auto q = Kokkos::create_mirror_view(charges);
    for (std::size_t i = 0; i < n; ++i) {
      for (int d = 0; d < 3; ++d) x(i, d) = bodies.positions[3 * i + d];
      q(i) = bodies.charges[i];
    }
    Kokkos::deep_copy(positions, x);
    Kokkos::deep_copy(charges, q);
  }
};

/// What a line says of a criterion.
template <class Criterion>
struct Named {
  static constexpr char const* name =
      std::is_base_of_v<RadiusCriterion, Criterion> ? "radius" : "field";
  static std::string lower() { return ""; }
};
template <class Criterion, int... Lower>
struct Named<VariableOrder<Criterion, Lower...>> : Named<Criterion> {
  static std::string lower() {
    std::string all;
    ((all += (all.empty() ? "" : ", ") + std::to_string(Lower)), ...);
    return all;
  }
};

inline char const* separator = "[";  ///< before the next line of the list

template <class Criterion, int Order, class Real>
void measure(Space const& space, Problem const& problem, fmm::Options const& options) {
  fmm::Solver<fmm::Laplace, fmm::Fmm<Order, DualTree<Criterion>>, Real, Space> solver(options);
  const auto n = problem.charges.extent(0);
  const Kokkos::View<double*, Space> potential("potential", n);
  const Kokkos::View<double* [3], Space> field("field", n);
  double best = 0, m2l = 0;
  for (int i = 0; i <= problem.repeats; ++i) {
    fmm::Report report;
    auto plan = solver.build(space, problem.positions, &report);
    solver.evaluate(space, plan, problem.charges, potential, field, &report);
    const double seconds = report.build_seconds + report.evaluate_seconds;
    if (i == 0 || (i > 1 && seconds >= best)) continue;
    best = seconds;
    m2l = report.find("m2l")->seconds;
  }
  const auto error = fmm::measure_error(space, solver.kernel(), problem.positions, problem.charges,
                                        potential, field, 4096);
  using Name = Named<Criterion>;
  std::printf(
      "%s{\"model\": \"%s\", \"n\": %zu, \"precision\": \"%s\", \"criterion\": \"%s\", "
      "\"order\": %d, \"lower\": [%s], \"theta\": %g, \"pair_error\": %g, \"leaf\": %d, "
      "\"seconds\": %.4g, \"m2l_seconds\": %.4g, \"field_l2\": %.3g}",
      separator, problem.model.c_str(), n, sizeof(Real) == 4 ? "float" : "double", Name::name,
      Order, Name::lower().c_str(), options.theta.value_or(0), options.pair_error.value_or(0),
      solver.options().leaf_capacity.value_or(0), best, m2l, error.field_l2);
  std::fflush(stdout);
  separator = ",\n ";
}

/// Parameters of both criteria, and leaves of the default capacity, of 0.7 and of 1.4 times that.
template <class Real, int Order, int... Lower>
void scan(Space const& space, Problem const& problem, std::initializer_list<double> thetas,
          std::initializer_list<double> pair_errors) {
  const auto either = [&]<class Criterion>(Criterion const*, fmm::Options const& options) {
    if constexpr (sizeof...(Lower) == 0)
      measure<Criterion, Order, Real>(space, problem, options);
    else
      measure<VariableOrder<Criterion, Lower...>, Order, Real>(space, problem, options);
  };
  const int usual = fmm::Tuning<Space, Real>::leaf_capacity(Order);
  for (const int leaf : {usual * 7 / 10, usual, usual * 14 / 10}) {
    for (const double theta : thetas)
      either(static_cast<RadiusCriterion*>(nullptr), {.theta = theta, .leaf_capacity = leaf});
    for (const double error : pair_errors)
      either(static_cast<FieldCriterion*>(nullptr), {.pair_error = error, .leaf_capacity = leaf});
  }
}

void measure_all(Space const& space, Problem const& problem) {
  scan<float, 5>(space, problem, {0.65, 0.7, 0.75, 0.8, 0.85}, {1e-4, 2e-4, 4e-4, 8e-4});
  scan<float, 6>(space, problem, {0.65, 0.7, 0.75, 0.8, 0.85}, {5e-5, 1e-4, 2e-4, 4e-4});
  scan<float, 8>(space, problem, {0.65, 0.7, 0.75, 0.8, 0.85}, {5e-5, 1e-4, 2e-4, 4e-4});
  scan<float, 6, 3, 4>(space, problem, {0.6, 0.65, 0.7, 0.75, 0.8, 0.85}, {5e-5, 1e-4, 2e-4, 4e-4});
  scan<float, 8, 4, 6>(space, problem, {0.55, 0.6, 0.65, 0.7, 0.75, 0.8},
                       {1e-5, 2.5e-5, 5e-5, 1e-4});
  const auto large = {1e-6, 3e-6, 1e-5, 3e-5}, small = {3e-8, 1e-7, 3e-7, 1e-6, 3e-6};
  scan<double, 8>(space, problem, {0.6, 0.65, 0.7, 0.75, 0.8}, large);
  scan<double, 10>(space, problem, {0.6, 0.65, 0.7, 0.75, 0.8}, small);
  scan<double, 12>(space, problem, {0.6, 0.65, 0.7, 0.75, 0.8}, small);
  scan<double, 10, 5, 7>(space, problem, {0.5, 0.55, 0.6, 0.65, 0.7, 0.75}, small);
  scan<double, 12, 6, 9>(space, problem, {0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8}, small);
}

}  // namespace orders

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard guard(argc, argv);
  const std::size_t n = argc > 1 ? std::atoi(argv[1]) : 300000;
  for (const auto model : {forces::Model::cube, forces::Model::plummer})
    orders::measure_all({}, {model, n, argc > 2 ? std::atoi(argv[2]) : 3});
  std::printf("]\n");
}
