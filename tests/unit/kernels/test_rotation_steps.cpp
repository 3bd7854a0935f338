// SPDX-License-Identifier: BSD-3-Clause
// Translations by several threads, step by step, against those by one.
#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::kernels;

/// The steps of several threads, one after the other, on one expansion.
template <int Order, Axial Kind, int Split, int Stride = 1, class V>
void translate_in_steps(Route<V> const& route, V* a) {
  using Steps = RotationSteps<Order, Split, Stride>;
  const auto rotate = [&](int back) {
    for (int share = 0; share < Split; ++share) Steps::rotate(route, back, share, a);
  };
  rotate(0);
  for (int share = 0; share < Split; ++share) Steps::template shift<Kind>(share, a);
  rotate(1);
}

template <int Order, class Real>
void steps_agree_with_one_thread() {
  using Expansion = fmm::SphericalExpansion<Order, Real, fmm::Rotation>;
  constexpr int size = fmm::coefficient_count(Order);
  std::mt19937_64 random(Order);
  const auto check = [&]<Axial Kind>(Route<Real> const& route, auto const& alone) {
    std::vector<Real> a(size);
    for (Real& c : a) c = Real(double(random() >> 11) * 0x1p-53 - 0.5);
    auto one = a, two = a, four = a;
    translate_in_steps<Order, Kind, 1>(route, one.data());
    translate_in_steps<Order, Kind, 2>(route, two.data());
    translate_in_steps<Order, Kind, 4>(route, four.data());
    // two expansions at a time, with room between the coefficients
    constexpr int stride = 3;
    std::vector<Two<Real>> eight(stride * size);
    for (int k = 0; k < size; ++k) eight[stride * k] = {a[k], -a[k]};
    Two<Real> routes[Route<Real>::size];
    for (int item = 0; item < 2; ++item) route.template store<2>(routes[0].value + item);
    translate_in_steps<Order, Kind, 8, stride>(Route<Two<Real>>::template load<1>(routes),
                                               eight.data());
    alone(a.data());
    double largest = 0;
    for (const Real c : a) largest = std::max(largest, std::fabs(double(c)));
    const double rounding = 20 * std::numeric_limits<Real>::epsilon() * largest;
    for (int k = 0; k < size; ++k) {
      ASSERT_NEAR(one[k], a[k], rounding) << Order << " " << k;
      ASSERT_NEAR(two[k], a[k], rounding) << Order << " " << k;
      ASSERT_NEAR(four[k], a[k], rounding) << Order << " " << k;
      ASSERT_NEAR(eight[stride * k].value[0], a[k], rounding) << Order << " " << k;
      ASSERT_NEAR(eight[stride * k].value[1], -a[k], rounding) << Order << " " << k;
    }
  };
  const Real axis[][3] = {{0, 0, 1}, {0, 0, -1}, {1, 0, 0}, {0, -1, 0}, {-1, 1, 1}, {1, 2, -3}};
  for (auto const& d : axis) {
    const Real u = Real(0.25), x = d[0] * u, y = d[1] * u, z = d[2] * u, s = u / 4, t = u / 2;
    check.template operator()<Axial::m2l>(Route<Real>::m2l(x, y, z, s, t),
                                          [&](Real* a) { Expansion::m2l(x, y, z, s, t, a); });
    check.template operator()<Axial::m2m>(Route<Real>::m2m(x, y, z),
                                          [&](Real* a) { Expansion::m2m(x, y, z, a); });
    check.template operator()<Axial::l2l>(Route<Real>::l2l(x, y, z),
                                          [&](Real* a) { Expansion::l2l(x, y, z, a); });
  }
}

/// Of each kind of order: even and odd, few degrees and many; in float where a GPU's threads share translations.
TEST(ThreadsThatShareATranslation, AgreeWithOne) {
  for_orders<6, 2, 3, 9, 16>([]<int Order> { steps_agree_with_one_thread<Order, double>(); });
  unless_quick([](auto) {
    steps_agree_with_one_thread<9, float>();
    steps_agree_with_one_thread<12, float>();
  });
}

}  // namespace
}  // namespace fmm_test
