// SPDX-License-Identifier: BSD-3-Clause
// Solid harmonics, their derivatives, rotations and translations, lane by lane on the host.
#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::engine;

constexpr int top = 12;
using Coefficients = std::vector<double>;

struct Point {
  double x, y, z;
};
// the axes, and points of no symmetry
const Point points[] = {{1, 0, 0},  {-1, 0, 0},       {0, 1, 0},         {0, -1, 0},      {0, 0, 1},
                        {0, 0, -1}, {0.3, -0.7, 0.2}, {-0.5, 0.4, -0.8}, {1.5, 2.5, -3.5}};

/// P_n^m(cos theta) without the Condon-Shortley phase, from the closed sum over powers.
long double legendre(int n, int m, long double c, long double s) {
  long double sum = 0;
  for (int k = 0; 2 * k <= n - m;
       ++k) {  // d^(m) / dx^m of P_n = 2^-n sum (-1)^k (2n-2k)! / (k! (n-k)! (n-2k)!) x^(n-2k)
    long double term = k % 2 ? -1 : 1;
    term *= std::tgamma((long double)(2 * n - 2 * k + 1)) / std::tgamma((long double)(k + 1)) /
            std::tgamma((long double)(n - k + 1)) / std::tgamma((long double)(n - m - 2 * k + 1));
    sum += term * std::pow(c, (long double)(n - m - 2 * k));
  }
  return std::pow(s, (long double)m) * sum / std::pow(2.0L, (long double)n);
}

TEST(Harmonics, AreTheirClosedForms) {
  for (auto const& [x, y, z] : points) {
    const long double r = std::sqrt((long double)(x)*x + (long double)(y)*y + (long double)(z)*z);
    const long double c = z / r, s = std::sqrt((long double)(x)*x + (long double)(y)*y) / r;
    const long double phi = std::atan2((long double)y, (long double)x);
    double u[fmm::coefficient_count(top)], v[fmm::coefficient_count(top)];
    regular_harmonics<top>(x, y, z, u);
    irregular_harmonics<top>(x, y, z, v);
    for (int n = 0; n <= top; ++n)
      for (int m = 0; m <= n; ++m) {
        const long double p = legendre(n, m, c, s);
        const long double U =
            std::pow(r, (long double)n) / std::tgamma((long double)(n + m + 1)) * p;
        const long double V =
            std::tgamma((long double)(n - m + 1)) / std::pow(r, (long double)(n + 1)) * p;
        const double norm = std::sqrt(std::tgamma(n - m + 1) * std::tgamma(n + m + 1)),
                     scale_u = double(std::pow(r, (long double)n) / norm),
                     scale_v = double(norm / std::pow(r, (long double)(n + 1)));
        EXPECT_NEAR(u[index_re(n, m)], double(U * std::cos(m * phi)), 1e-13 * scale_u) << n << m;
        EXPECT_NEAR(v[index_re(n, m)], double(V * std::cos(m * phi)), 1e-13 * scale_v) << n << m;
        if (m > 0) {
          EXPECT_NEAR(u[index_im(n, m)], double(U * std::sin(m * phi)), 1e-13 * scale_u);
          EXPECT_NEAR(v[index_im(n, m)], double(V * std::sin(m * phi)), 1e-13 * scale_v);
        }
      }
  }
}

TEST(Harmonics, AdditionTheorem) {
  const double a[3] = {0.2, -0.1, 0.15}, b[3] = {1.1, -0.9, 1.3};
  double u[fmm::coefficient_count(24)], v[fmm::coefficient_count(24)];
  regular_harmonics<24>(a[0], a[1], a[2], u);
  irregular_harmonics<24>(b[0], b[1], b[2], v);
  double sum = 0;
  for (int n = 0; n <= 24; ++n)
    for (int m = 0; m <= n; ++m)
      sum +=
          m == 0
              ? u[index_re(n, 0)] * v[index_re(n, 0)]
              : 2 * (u[index_re(n, m)] * v[index_re(n, m)] + u[index_im(n, m)] * v[index_im(n, m)]);
  const double r =
      std::sqrt(std::pow(b[0] - a[0], 2) + std::pow(b[1] - a[1], 2) + std::pow(b[2] - a[2], 2));
  EXPECT_NEAR(sum, 1 / r, 1e-14 / r);
}

TEST(Harmonics, StayInFloatsRange) {
  for (auto const& [x, y, z] : points) {
    float u[fmm::coefficient_count(16)], v[fmm::coefficient_count(17)];
    regular_harmonics<16>(float(x), float(y), float(z), u);
    irregular_harmonics<17>(float(x), float(y), float(z), v);
    for (const float value : u) EXPECT_TRUE(std::isfinite(value));
    for (const float value : v) EXPECT_TRUE(std::isfinite(value));
    static constexpr auto table = NormTable<16, float>::make();
    for (int k = 0; k < fmm::coefficient_count(16); ++k) {
      EXPECT_TRUE(std::isfinite(table.regular[k]) && std::isfinite(table.dual[k]));
      EXPECT_GT(table.inverse[k], 1e-37f);
    }
  }
}

/// e_nm = N U of a point.
template <int P>
Coefficients basis(double x, double y, double z) {
  static constexpr auto table = NormTable<P, double>::make();
  Coefficients e(fmm::coefficient_count(P));
  regular_harmonics<P>(x, y, z, e.data());
  for (std::size_t k = 0; k < e.size(); ++k) e[k] *= table.regular[k];
  return e;
}

TEST(Rotations, SwapMatricesAreOrthogonalAndSymmetric) {
  using Table = SwapTable<top, double>;
  static constexpr auto table = Table::make();
  for (int n = 0; n <= top; ++n)
    for (int m = 0; m <= n; ++m)
      for (int l = 0; l <= n; ++l) {
        EXPECT_NEAR(table.cos[Table::index_cos(n, m, l)], table.cos[Table::index_cos(n, l, m)],
                    1e-13);
        double product = 0;
        for (int k = 0; k <= n; ++k)
          product += table.cos[Table::index_cos(n, m, k)] * table.cos[Table::index_cos(n, l, k)];
        EXPECT_NEAR(product, m == l, 1e-13);
        if ((n + m + l) % 2) {
          EXPECT_NEAR(table.cos[Table::index_cos(n, m, l)], 0, 1e-13);
        } else if (m > 0 && l > 0) {
          EXPECT_NEAR(table.sin[Table::index_sin(n, m, l)], 0, 1e-13);
        }
      }
}

TEST(Rotations, SwapAndTurnAreWhatTheySay) {
  for (auto const& [x, y, z] : points) {
    Coefficients e = basis<top>(x, y, z);
    swap_xz<top>(e.data());
    EXPECT_LT(relative_l2(e, basis<top>(z, y, x)), 1e-13);
    e = basis<top>(x, y, z);
    const double c = std::cos(0.7), s = std::sin(0.7);
    turn_about_z<top>(e.data(), c, s);
    EXPECT_LT(relative_l2(e, basis<top>(c * x - s * y, s * x + c * y, z)), 1e-13);
  }
}

TEST(Rotations, TakeEveryDirectionToTheZAxis) {
  for (auto const& [x, y, z] : points) {
    const double r = std::sqrt(x * x + y * y + z * z);
    const Coefficients original = basis<top>(x, y, z);
    Coefficients e = original;
    const Rotator<double> rotator(x, y, z);
    EXPECT_NEAR(rotator.inverse_length, 1 / r, 1e-15 / r);
    rotator.to_z<top>(e.data());
    EXPECT_LT(relative_l2(e, basis<top>(0, 0, r)), 1e-12);
    rotator.from_z<top>(e.data());
    EXPECT_LT(relative_l2(e, original), 1e-12);
  }
}

template <int P>
void check_shifts() {
  for (auto const& [x, y, z] : points) {
    // a body at a, seen from a centre that lies (x, y, z) below the old one
    const Point a{0.31, -0.22, 0.17};
    const Coefficients expected = basis<P>(a.x + x, a.y + y, a.z + z);
    for (const bool rotate : {false, true}) {
      Coefficients M = basis<P>(a.x, a.y, a.z);
      rotate ? fmm::Rotation::m2m<P>(x, y, z, M.data())
             : fmm::NaiveTranslation::m2m<P>(x, y, z, M.data());
      EXPECT_LT(relative_l2(M, expected), 1e-12) << P << rotate;
    }
    // L2L is the transpose of M2M: <L, M2M e> = <L2L L, e>
    std::mt19937_64 random(P);
    Coefficients L(fmm::coefficient_count(P));
    for (double& l : L) l = double(random() >> 11) * 0x1p-53 - 0.5;
    double one = 0;
    for (std::size_t k = 0; k < L.size(); ++k) one += L[k] * expected[k];
    for (const bool rotate : {false, true}) {
      Coefficients shifted = L;
      rotate ? fmm::Rotation::l2l<P>(x, y, z, shifted.data())
             : fmm::NaiveTranslation::l2l<P>(x, y, z, shifted.data());
      const Coefficients e = basis<P>(a.x, a.y, a.z);
      double other = 0, size = 0;
      for (std::size_t k = 0; k < L.size(); ++k) {
        other += shifted[k] * e[k];
        size += std::fabs(L[k] * expected[k]);
      }
      EXPECT_NEAR(one, other, 1e-12 * size) << P << rotate;
    }
  }
}

TEST(Translations, ShiftsAreExact) {
  for_orders<4, 0, 1, 2, 5, 10>([]<int Order> { check_shifts<Order>(); });
}

template <int P>
void check_m2l() {
  const double tolerance = P <= 4 ? 1e-14 : P <= 12 ? 1e-13 : 1e-12;
  for (auto const& [x, y, z] : points)
    for (const double s : {1.0, 0.25}) {
      const double t = 0.5, r = std::sqrt(x * x + y * y + z * z), far = 2 / r;
      Coefficients direct = basis<P>(0.31, -0.22, 0.17), rotated = direct;
      fmm::NaiveTranslation::m2l<P>(x * far, y * far, z * far, s, t, direct.data());
      fmm::Rotation::m2l<P>(x * far, y * far, z * far, s, t, rotated.data());
      EXPECT_LT(relative_l2(rotated, direct), tolerance) << P;
    }
}

TEST(Translations, DirectAndRotationAgreeToRounding) {
  for_orders<4, 0, 1, 2, 8, 12, 16, 20, 24, 28>([]<int Order> { check_m2l<Order>(); });
}

/// A unit charge at a, through M2L and L2P to b, through P2L and L2P, and through M2P: 1/|b-a| within the
/// ratio's power.
template <int P>
void check_chain() {
  using Expansion = fmm::SphericalExpansion<P, double, fmm::Rotation>;
  const double a[3] = {0.3, -0.25, 0.2}, b[3] = {-0.2, 0.35, -0.3};
  for (auto const& [x, y, z] : points) {
    const double r = std::sqrt(x * x + y * y + z * z), far = 2.2 / r,
                 d[3] = {x * far, y * far, z * far};
    Coefficients M(Expansion::size, 0.0), prepared(Expansion::prepared_size);
    Expansion::p2m(a[0], a[1], a[2], 1.0, M.data());
    double separation[3], r2 = 0;
    for (int c = 0; c < 3; ++c) r2 += std::pow(separation[c] = d[c] + b[c] - a[c], 2);
    const double u = 1 / std::sqrt(r2), bound = 3 * (P + 1) * std::pow((0.45 + 0.51) / 2.2, P);
    const auto compare = [&](auto const& value, double factor) {
      EXPECT_NEAR(value.potential, u, factor * bound * u) << P;
      const double gradient[3] = {value.x, value.y, value.z};
      for (int c = 0; c < 3; ++c)
        EXPECT_NEAR(gradient[c], -separation[c] * u * u * u, factor * bound * u * u) << P;
    };
    for (int k = 0; k < Expansion::prepared_size; ++k)
      prepared[k] = Expansion::prepare_multipole(M.data(), k);
    fmm::kernels::PotentialGradient<double> sum{0, 0, 0, 0};
    Expansion::template m2p<true, true>(d[0] + b[0], d[1] + b[1], d[2] + b[2], 1.0, prepared.data(),
                                        sum);
    compare(sum, 0.5);
    const auto compare_local = [&](Coefficients const& L, double factor) {
      for (int k = 0; k < Expansion::prepared_size; ++k)
        prepared[k] = Expansion::prepare_local(L.data(), k);
      compare(Expansion::template l2p<true, true>(b[0], b[1], b[2], prepared.data()), factor);
    };
    Coefficients L(Expansion::size, 0.0);
    Expansion::p2l(a[0] - d[0], a[1] - d[1], a[2] - d[2], 1.0, 1.0, L.data());
    compare_local(L, 0.5);
    Expansion::m2l(d[0], d[1], d[2], 1.0, 1.0, M.data());
    compare_local(M, 1);
  }
}

TEST(Translations, ChainsConvergeGeometrically) {
  for_orders<4, 2, 8, 12, 16, 20, 24, 28>([]<int Order> { check_chain<Order>(); });
}

/// A multipole as a polynomial gives what its harmonics give.
template <int P, class Real>
void check_polynomial(double tolerance) {
  using Basis = fmm::SphericalBasis<P, Real>;
  static_assert(Basis::polynomial && Basis::prepared_size == (P + 1) * (P + 2) * (P + 3) / 6);
  static constexpr auto table = NormTable<P, double>::make();
  std::mt19937_64 random(P);
  const auto uniform = [&] { return double(random() >> 11) * 0x1p-52 - 1; };
  for (auto const& [px, py, pz] : points) {
    Real M[Basis::size] = {}, S[Basis::prepared_size];
    for (int body = 0; body < 20; ++body)
      Basis::p2m(Real(0.5 * uniform()), Real(0.5 * uniform()), Real(0.5 * uniform()),
                 Real(uniform()), M);
    for (int k = 0; k < Basis::prepared_size; ++k) S[k] = Basis::prepare_multipole(M, k);
    const double far = 1.5 / std::sqrt(px * px + py * py + pz * pz);
    const Real x = Real(px * far), y = Real(py * far), z = Real(pz * far);
    double v[fmm::coefficient_count(P + 1)], plain[Basis::size];
    for (int k = 0; k < Basis::size; ++k) plain[k] = table.inverse[k] * double(M[k]);
    irregular_harmonics<P + 1>(double(x), double(y), double(z), v);
    const auto expected = fmm::kernels::evaluate_multipole<P, true, true>(v, plain);
    const double f = 4;  // a cell of edge 1/4
    fmm::kernels::PotentialGradient<Real> both{1, 1, 1, 1}, potential = both, field = both;
    Basis::template m2p<true, true>(x, y, z, Real(f), S, both);
    Basis::template m2p<true, false>(x, y, z, Real(f), S, potential);
    Basis::template m2p<false, true>(x, y, z, Real(f), S, field);
    const auto near = [&](Real a, double b, double unit) {
      EXPECT_NEAR(a - 1, unit * b, tolerance * unit) << P << " at " << x << " " << y << " " << z;
    };
    near(both.potential, expected.potential, f);
    near(potential.potential, expected.potential, f);
    for (auto const& sum : {both, field}) {
      near(sum.x, expected.x, f * f);
      near(sum.y, expected.y, f * f);
      near(sum.z, expected.z, f * f);
    }
  }
}

template <class Real, int... P>
void check_polynomials(double tolerance, std::integer_sequence<int, P...>) {
  (check_polynomial<P, Real>(tolerance), ...);
}

TEST(Polynomials, GiveWhatTheHarmonicsGive) {
  check_polynomials<double>(1e-14, std::integer_sequence<int, 0, 1, 2, 3, 4, 5, 8>());
  check_polynomials<float>(5e-6, std::integer_sequence<int, 0, 3, 4, 6, 8>());
}

TEST(Polynomials, OrderTheirCoefficientsForHorner) {
  constexpr int P = 5;
  std::vector<int> seen(fmm::kernels::monomial_count(3, P), 0);
  const double x[3] = {2, 3, 5};
  for (int a = 0; a <= P; ++a)
    for (int b = 0; a + b <= P; ++b)
      for (int c = 0; a + b + c <= P; ++c) {
        std::vector<double> one(seen.size(), 0.0);
        const int at = fmm::kernels::monomial_index(P, a, b, c);
        ++seen[at];
        one[at] = 1;
        const auto p = fmm::kernels::horner<3, P, true>(x, one.data());
        const double value = std::pow(2, a) * std::pow(3, b) * std::pow(5, c);
        EXPECT_DOUBLE_EQ(p.value, value);
        EXPECT_DOUBLE_EQ(p.d[0], a * value / 2);
        EXPECT_DOUBLE_EQ(p.d[1], b * value / 3);
        EXPECT_DOUBLE_EQ(p.d[2], c * value / 5);
      }
  for (const int count : seen) EXPECT_EQ(count, 1);
}

template <class Real>
void check_lanes() {
  using V = Lanes<Kokkos::DefaultHostExecutionSpace, Real>;
  using T = LaneTraits<V>;
  constexpr int W = T::count;
  Real x[W], y[W], z[W], result[W];
  for (int l = 0; l < W; ++l)
    x[l] = Real(0.1 * l - 0.3), y[l] = Real(0.2 - 0.05 * l), z[l] = Real(0.5);
  V u[fmm::coefficient_count(6)];
  regular_harmonics<6>(T::load(x), T::load(y), T::load(z), u);
  const Real tolerance = sizeof(Real) == 4 ? Real(1e-6) : Real(1e-15);
  for (int l = 0; l < W; ++l) {
    Real one[fmm::coefficient_count(6)];
    regular_harmonics<6>(x[l], y[l], z[l], one);
    for (int k = 0; k < fmm::coefficient_count(6); ++k) {
      T::store(u[k], result);
      EXPECT_NEAR(result[l], one[k], tolerance);
    }
  }
  Real sum = 0;
  for (int l = 0; l < W; ++l) sum += x[l];
  EXPECT_NEAR(T::sum(T::load(x)), sum, W * tolerance);
  // reciprocal square roots, over many binades
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    for (int l = 0; l < W; ++l)
      x[l] = Real(std::ldexp(1 + double(random() >> 11) * 0x1p-53, int(random() % 60) - 30));
    T::store(fmm::simd::rsqrt(T::load(x)), result);
    for (int l = 0; l < W; ++l)
      EXPECT_NEAR(result[l] * std::sqrt(double(x[l])), 1, sizeof(Real) == 4 ? 4e-7 : 1e-15);
  }
  EXPECT_EQ(T::sum(select(T::iota() == V(Real(0)), V(Real(1)), V(Real(0)))), 1);
}

TEST(Lanes, DoWhatOneLaneDoes) {
  check_lanes<float>();
  check_lanes<double>();
}

}  // namespace
}  // namespace fmm_test
