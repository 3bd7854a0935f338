// SPDX-License-Identifier: BSD-3-Clause
// What the tests share: the spaces and precisions they run over, models of bodies, and runs of a solver
// with everything on the host at the end.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fmm/fmm.hpp>
#include <random>
#include <string>
#include <vector>

#ifdef FMM_HAS_INSTANCES
#include <compiled_instances.hpp>  // what fmm::runtime has compiled is tested as it is there
#endif

namespace fmm_test {

using fmm::BarnesHut;
using fmm::DirectSum;
using fmm::DualTree;
using fmm::FmmList;
using fmm::Laplace;
using fmm::NaiveTranslation;
using fmm::Rotation;
using fmm::SoftenedGravity;

// ---- types ----------------------------------------------------------------------------------------

template <class Space_, class Real_>
struct Case {
  using Space = Space_;
  using Real = Real_;
};

/// Every execution space that is enabled.
using Spaces = testing::Types<
#ifdef KOKKOS_ENABLE_CUDA
    Kokkos::Cuda,
#endif
#ifdef KOKKOS_ENABLE_OPENMP
    Kokkos::OpenMP,
#endif
    Kokkos::Serial>;

/// Of `scripts/test --quick`: double alone, and of several orders or models a part.
#ifdef FMM_TEST_QUICK
inline constexpr bool quick = true;
#else
inline constexpr bool quick = false;
#endif

/// The default space in both precisions, and Serial in double.
using Cases = std::conditional_t<
    quick,
    testing::Types<Case<Kokkos::DefaultExecutionSpace, double>, Case<Kokkos::Serial, double>>,
    testing::Types<Case<Kokkos::DefaultExecutionSpace, float>,
                   Case<Kokkos::DefaultExecutionSpace, double>, Case<Kokkos::Serial, double>>>;

/// check.operator()<Order>() for each order; quick for the first alone.
template <int First, int... Others, class Check>
void for_orders(Check const& check) {
  check.template operator()<First>();
  if constexpr (!quick) (check.template operator()<Others>(), ...);
}
/// check(0), a generic lambda, which quick is not compiled.
template <class Check>
void unless_quick(Check const& check) {
  if constexpr (!quick) check(0);
}

/// Views of what the library is compiled for, so that the spaces of a host share what is compiled with the Views.
template <class T, class Space>
using ViewIn = Kokkos::View<T, fmm::Device<fmm::site_t<Space>>>;

/// A space's default instance as what the library is compiled for, of tests that call its parts themselves.
template <class Space>
fmm::site_t<Space> site() {
  static const Space space;
  return space;
}

/// In the place of a translation: a treecode.
struct NoTranslation {};

/// The method of a traversal and a translation, for tests that go over all of them.
template <int Order, class Traversal, class Translation>
using MethodOf = std::conditional_t<
    std::is_same_v<Traversal, DirectSum>, DirectSum,
    std::conditional_t<std::is_same_v<Translation, NoTranslation>, fmm::Treecode<Order, Traversal>,
                       fmm::Fmm<Order, Traversal, Translation>>>;

// ---- bodies ---------------------------------------------------------------------------------------

/// Positions and charges on the host.
struct Bodies {
  std::vector<double> x;  // 3 N
  std::vector<double> q;
  std::size_t size() const { return q.size(); }
};

inline void add_body(Bodies& bodies, double x, double y, double z, double q) {
  bodies.x.insert(bodies.x.end(), {x, y, z});
  bodies.q.push_back(q);
}

/// Alternating charges at the points of a cubic grid, each moved by up to `moved` along each axis.
inline Bodies rock_salt(int side, double moved = 0, unsigned seed = 7) {
  std::mt19937_64 random(seed);
  Bodies bodies;
  for (int i = 0; i < side * side * side; ++i) {
    const int place[] = {i / (side * side), i / side % side, i % side};
    for (const int k : place)
      bodies.x.push_back(k + moved * (double(random() >> 11) * 0x1p-52 - 1));
    bodies.q.push_back((place[0] + place[1] + place[2]) % 2 ? -1 : 1);
  }
  return bodies;
}

enum class Model { cube, plummer, shell, disk, clusters, line, plane, point };

inline const char* name_of(Model model) {
  const char* names[] = {"cube", "plummer", "shell", "disk", "clusters", "line", "plane", "point"};
  return names[int(model)];
}

inline constexpr Model all_models[] = {Model::cube,     Model::plummer, Model::shell, Model::disk,
                                       Model::clusters, Model::line,    Model::plane, Model::point};

/// `n` bodies of a model; total charge 1, or random signs with `mixed`. The same for the same seed.
inline Bodies make_bodies(Model model, std::size_t n, bool mixed = false, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double a = 0, double b = 1) {
    return a + (b - a) * double(random() >> 11) * 0x1p-53;
  };
  const auto direction = [&](double r, double* x) {
    const double z = uniform(-1, 1), phi = uniform(0, 2 * std::acos(-1.0)),
                 s = std::sqrt(1 - z * z);
    x[0] = r * s * std::cos(phi), x[1] = r * s * std::sin(phi), x[2] = r * z;
  };
  Bodies bodies{std::vector<double>(3 * n), std::vector<double>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    double* const x = &bodies.x[3 * i];
    switch (model) {
      case Model::cube:
        for (int d = 0; d < 3; ++d) x[d] = uniform();
        break;
      case Model::plummer: {
        double r;
        do r = 1 / std::sqrt(std::pow(uniform(), -2.0 / 3) - 1);
        while (!(r < 20));
        direction(r, x);
        break;
      }
      case Model::shell:
        direction(1, x);
        break;
      case Model::disk: {
        const double r = -std::log(uniform(1e-9, 1) * uniform(1e-9, 1)),
                     phi = uniform(0, 2 * std::acos(-1.0));
        x[0] = r * std::cos(phi), x[1] = r * std::sin(phi), x[2] = 0.1 * uniform(-1, 1);
        break;
      }
      case Model::clusters:  // two small clusters, far apart, one of them far from the origin
        direction(1e-3 * std::cbrt(uniform()), x);
        if (i % 2) x[0] += 100, x[1] += 37;
        break;
      case Model::line:
        x[0] = uniform(), x[1] = 0.5, x[2] = 0.25;
        break;
      case Model::plane:
        x[0] = uniform(), x[1] = uniform(), x[2] = 0.25;
        break;
      case Model::point:
        x[0] = 1, x[1] = 2, x[2] = 3;
        break;
    }
    bodies.q[i] = (mixed && random() % 2 ? -1.0 : 1.0) / double(n);
  }
  return bodies;
}

/// The bodies in memory of a space.
template <class Space>
struct DeviceBodies {
  ViewIn<double* [3], Space> x;
  ViewIn<double*, Space> q;

  explicit DeviceBodies(Bodies const& bodies)
      : x("positions", bodies.size()), q("charges", bodies.size()) {
    const auto hx = Kokkos::create_mirror_view(x);
    const auto hq = Kokkos::create_mirror_view(q);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      for (int d = 0; d < 3; ++d) hx(i, d) = bodies.x[3 * i + d];
      hq(i) = bodies.q[i];
    }
    Kokkos::deep_copy(x, hx);
    Kokkos::deep_copy(q, hq);
  }
};

// ---- sums -----------------------------------------------------------------------------------------

/// Potentials (N) and fields (3 N) on the host.
struct Results {
  std::vector<double> potential, field;
};

template <class Potential, class Field>
Results to_host(Potential const& potential, Field const& field) {
  const auto hp = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), potential);
  const auto hf = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  Results r;
  for (std::size_t i = 0; i < hp.extent(0); ++i) {
    r.potential.push_back(hp(i));
    for (int d = 0; d < 3; ++d) r.field.push_back(hf(i, d));
  }
  return r;
}

/// A one-dimensional array, on the host.
template <class View>
  requires(Kokkos::is_view<View>::value)
auto to_host(View const& array) {
  using T = typename View::non_const_value_type;
  std::vector<T> values(array.extent(0));
  Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        values.data(), values.size()),
                    array);
  return values;
}

/// The rows of a two-dimensional View, one after the other, on the host.
template <class View>
std::vector<double> rows_on_host(View const& rows) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rows);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < host.extent(0); ++i)
    for (std::size_t c = 0; c < host.extent(1); ++c) numbers.push_back(host(i, c));
  return numbers;
}

template <class T, class Space>
auto to_host(fmm::Array<T, Space> const& array) {
  return to_host(array.view());
}

/// The numbers of an array of Sums, one after the other.
template <class View>
std::vector<double> numbers_of(View const& sums) {
  std::vector<double> numbers;
  for (auto const& sum : to_host(sums))
    numbers.insert(numbers.end(),
                   {double(sum.potential), double(sum.x), double(sum.y), double(sum.z)});
  return numbers;
}

/// The rows of a list, on the host.
template <class Space>
std::vector<std::vector<fmm::CellIndex>> to_host(fmm::Csr<Space> const& list) {
  const auto offsets = to_host(list.offsets);
  if (offsets.empty()) return {};
  const auto entries = to_host(list.entries);
  std::vector<std::vector<fmm::CellIndex>> rows(offsets.size() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].assign(entries.begin() + offsets[i], entries.begin() + offsets[i + 1]);
  return rows;
}

/// Numbers (N), in memory of a space.
template <class Space, class T>
ViewIn<T*, Space> column_in(std::vector<T> const& numbers) {
  const ViewIn<T*, Space> there("numbers", numbers.size());
  Kokkos::deep_copy(
      there, Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                 numbers.data(), numbers.size()));
  return there;
}

/// A field (3 N), in memory of a space.
template <class Space>
ViewIn<double* [3], Space> to_space(std::vector<double> const& field) {
  const ViewIn<double* [3], Space> there("field", field.size() / 3);
  const auto here = Kokkos::create_mirror_view(there);
  for (std::size_t i = 0; i < field.size(); ++i) here(i / 3, i % 3) = field[i];
  Kokkos::deep_copy(there, here);
  return there;
}

/// Build and evaluate on a space; results in double. `last_field` (3 N) for a solver that uses it; `report` of the
/// evaluation.
template <class Solver>
Results run(Solver& solver, Bodies const& bodies, std::vector<double> const& last_field = {},
            fmm::Report* report = nullptr) {
  using Space = typename Solver::execution_space;
  const Space space;
  const DeviceBodies<Space> device(bodies);
  ViewIn<double*, Space> potential("potential", bodies.size());
  ViewIn<double* [3], Space> field("field", bodies.size());
  auto plan = [&] {
    if constexpr (Solver::uses_last_field)
      return solver.build(space,
                          fmm::Inputs{device.x, device.q, fmm::none, to_space<Space>(last_field)});
    else if constexpr (Solver::uses_charges)
      return solver.build(space, fmm::Inputs{device.x, device.q});
    else
      return solver.build(space, device.x);
  }();
  solver.evaluate(space, plan, device.q, potential, field, report);
  space.fence();
  return to_host(potential, field);
}

/// The sums in long double, straight from the definition. G = 1; gravity's signs if `gravity`.
inline Results direct_reference(Bodies const& bodies, bool gravity, double softening = 0) {
  const std::size_t n = bodies.size();
  Results r{std::vector<double>(n), std::vector<double>(3 * n)};
  const long double sign = gravity ? -1 : 1;
  for (std::size_t i = 0; i < n; ++i) {
    long double p = 0, f[3] = {};
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      long double d[3], r2 = (long double)(softening)*softening;
      for (int c = 0; c < 3; ++c) {
        d[c] = (long double)(bodies.x[3 * i + c]) - bodies.x[3 * j + c];
        r2 += d[c] * d[c];
      }
      if (r2 == 0) continue;
      const long double u = 1 / std::sqrt(r2);
      p += bodies.q[j] * u;
      for (int c = 0; c < 3; ++c) f[c] += bodies.q[j] * u * u * u * d[c];
    }
    r.potential[i] = double(sign * p);
    for (int c = 0; c < 3; ++c) r.field[3 * i + c] = double(sign * f[c]);
  }
  return r;
}

/// sqrt(sum |a - b|^2 / sum |b|^2).
inline double relative_l2(std::vector<double> const& a, std::vector<double> const& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

/// Laplace with expansions that do not take single bodies.
struct LaplaceWithoutP2L {
  template <int Order, class Real, class Translation>
  struct Expansion : fmm::SphericalExpansion<Order, Real, Translation> {
    using basis = Expansion;
    static void p2l() = delete;
  };
  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    return fmm::Laplace()(r2);
  }
  KOKKOS_FUNCTION LaplaceWithoutP2L rescaled(double) const { return *this; }
  KOKKOS_FUNCTION double potential_unit(double length) const { return 1 / length; }
};

/// Relative force errors of all bodies.
struct Errors {
  double l2, p99;
};
inline Errors errors_of(Results const& sums, Results const& reference) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < reference.potential.size(); ++i) {
    double difference = 0, norm = 0;
    for (std::size_t d = 3 * i; d < 3 * i + 3; ++d) {
      difference += std::pow(sums.field[d] - reference.field[d], 2);
      norm += std::pow(reference.field[d], 2);
    }
    errors.push_back(std::sqrt(difference / norm));
  }
  const auto rank = errors.begin() + std::ptrdiff_t(0.99 * double(errors.size()));
  std::nth_element(errors.begin(), rank, errors.end());
  return {relative_l2(sums.field, reference.field), *rank};
}

/// The direct sum in double on the default execution space: fast, and itself tested against
/// direct_reference.
template <class Kernel>
Results direct_sum(Bodies const& bodies, fmm::Options const& options = {}) {
  fmm::Solver<Kernel, fmm::DirectSum, double> solver(options);
  return run(solver, bodies);
}

}  // namespace fmm_test
