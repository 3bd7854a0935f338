// SPDX-License-Identifier: BSD-3-Clause
// exp and erfc in lanes, against those of long double: the square, up to 42, that both are of is rounded, or not.
#include <fmm/simd/error_functions.hpp>

#include "support.hpp"

namespace fmm_test {
namespace {

/// W arguments at a time.
template <class Space>
struct Evaluate {
  using V = fmm::simd::Lanes<Space, double>;
  using T = fmm::simd::LaneTraits<V>;
  static constexpr int W = fmm::simd::lane_count_v<V>;
  Kokkos::View<double const*, typename Space::memory_space> x;
  Kokkos::View<double*, typename Space::memory_space> exponential, complementary;

  KOKKOS_FUNCTION void operator()(int pack) const {
    const V at = T::load(&x(pack * W)), e = fmm::simd::exp_of_minus(at * at);
    T::store(e, &exponential(pack * W));
    T::store(fmm::simd::erfc_of(at, e), &complementary(pack * W));
  }
};

template <class Space>
class ErrorFunctions : public testing::Test {};
TYPED_TEST_SUITE(ErrorFunctions, Spaces, );

TYPED_TEST(ErrorFunctions, AreThoseOfLongDouble) {
  using Site = fmm::site_t<TypeParam>;
  constexpr int W = Evaluate<Site>::W, count = 4096 * W;
  std::vector<double> arguments;
  for (int i = 0; i < count; ++i) arguments.push_back(1 + 5.5 * i / (count - 1));
  const auto x = column_in<TypeParam>(arguments);
  const ViewIn<double*, TypeParam> exponential("e", count), complementary("erfc", count);
  Kokkos::parallel_for(Kokkos::RangePolicy<TypeParam>(0, count / W),
                       Evaluate<Site>{x, exponential, complementary});
  const auto e = to_host(exponential), c = to_host(complementary);
  for (int i = 0; i < count; ++i) {
    const long double y = arguments[std::size_t(i)];
    ASSERT_NEAR(double(e[std::size_t(i)] / std::exp(-y * y)), 1, 6e-15) << i;
    ASSERT_NEAR(double(c[std::size_t(i)] / std::erfc(y)), 1, 7e-15) << i;
  }
}

}  // namespace
}  // namespace fmm_test
