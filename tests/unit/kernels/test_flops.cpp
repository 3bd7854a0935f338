// SPDX-License-Identifier: BSD-3-Clause
// Operations of the library's expansions: what the polynomials give is what counting gives, for every order to 14.
#include <fmm/kernels/flops.hpp>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm::kernels;

void expect_same(OperatorFlops const& known, OperatorFlops const& counted, std::string const& of) {
  EXPECT_EQ(known.p2m, counted.p2m) << of;
  EXPECT_EQ(known.m2m, counted.m2m) << of;
  EXPECT_EQ(known.m2l, counted.m2l) << of;
  EXPECT_EQ(known.l2l, counted.l2l) << of;
  EXPECT_EQ(known.p2l, counted.p2l) << of;
  EXPECT_EQ(known.m2p, counted.m2p) << of;
  EXPECT_EQ(known.l2p, counted.l2p) << of;
}

template <int Order, class Real>
void check_order() {
  using Expansion = fmm::SphericalExpansion<Order, Real, fmm::Rotation>;
  using Basis = basis_t<Expansion>;
  const std::string of = "order " + std::to_string(Order);
  expect_same(body_flops<Basis, Real, true, true>(), counted_body_flops<Basis, Real, true, true>(),
              of);
  expect_same(body_flops<Basis, Real, true, false>(),
              counted_body_flops<Basis, Real, true, false>(), of + ", potential");
  expect_same(body_flops<Basis, Real, false, true>(),
              counted_body_flops<Basis, Real, false, true>(), of + ", field");
  expect_same(translation_flops<Expansion, Real>(), counted_translation_flops<Expansion, Real>(),
              of);
}

template <class Real, int... Orders>
void check_orders(std::integer_sequence<int, Orders...>) {
  (check_order<Orders, Real>(), ...);
}

TEST(Flops, PolynomialsAreWhatIsCounted) {
  constexpr std::make_integer_sequence<int, quick ? 5 : 15> orders;
  unless_quick([&](auto) { check_orders<float>(orders); });
  check_orders<double>(orders);
}

/// Derives from the library's, and translates in its own way: it is counted.
struct OwnExpansion : fmm::SphericalExpansion<3, float, fmm::Rotation> {
  template <class V>
  static void m2l(V x, V, V, V, V, V* a) {
    a[0] = a[0] * x;
  }
};

TEST(Flops, OthersAreCounted) {
  EXPECT_EQ((translation_flops<OwnExpansion, float>().m2l), 1 + OwnExpansion::size);
  using ByNaive = fmm::SphericalExpansion<3, float, fmm::NaiveTranslation>;
  EXPECT_EQ((translation_flops<ByNaive, float>().m2l), 1522);
}

}  // namespace
}  // namespace fmm_test
