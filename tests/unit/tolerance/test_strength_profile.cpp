// SPDX-License-Identifier: BSD-3-Clause
// What evaluations that were compared say of others: of strengths at the same places, and of none elsewhere.
#include <fmm/tolerance/strength_profile.hpp>

#include "support.hpp"

namespace fmm_test {
namespace {

using fmm::tolerance::expected_error;
using fmm::tolerance::SeenDensity;
using DefaultSpace = Kokkos::DefaultExecutionSpace;
using Site = fmm::site_t<DefaultSpace>;

/// Sources with a charge and a dipole each, of which only some are lit.
struct Terms {
  static constexpr int numbers = 4;
  int first_charge, charges, first_dipole, dipoles;  ///< which, and how many
  bool alternate;

  KOKKOS_FUNCTION static constexpr bool is_dipole(int k) { return k > 0; }
  KOKKOS_FUNCTION double number(std::int64_t source, int k) const {
    const int first = is_dipole(k) ? first_dipole : first_charge,
              count = is_dipole(k) ? dipoles : charges;
    if (source < first || source >= first + count) return 0;
    return alternate && source % 2 == 1 ? -1 : 1;
  }
};

constexpr int n = 640;

SeenDensity seen(Terms const& terms, double error, double field = 1) {
  const Site space{DefaultSpace()};
  std::vector<fmm::BodyIndex> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = n - 1 - i;
  fmm::detail::Buffer<fmm::BodyIndex, Site> buffer("permutation");
  const auto permutation = fmm::detail::to_device(space, buffer, numbers);
  SeenDensity one;
  one.strength = terms.charges + 3.0 * terms.dipoles;
  one.field = field;
  one.error = error;
  one.profile =
      fmm::tolerance::profile_of(space, terms, permutation, one.strength, /*per_length*/ 1.0);
  return one;
}
double expected(std::vector<SeenDensity> const& before, SeenDensity const& now) {
  return expected_error(before, before.size(), now, &SeenDensity::field);
}

TEST(StrengthProfile, KnowsTheSameStrengthsInAnyUnits) {
  const Terms all{0, n, 0, n, false};
  const SeenDensity before = seen(all, 0.25, 3);
  EXPECT_NEAR(expected({before}, before), 0.25, 1e-14);
  EXPECT_NEAR(expected({before, before}, before), 0.25, 1e-14);
  for (const double unit : {1e-250, 1e-30, 1e200}) {  // of lengths or strengths
    SeenDensity one = before, other = seen(all, 0, 1.5);
    for (SeenDensity* density : {&one, &other}) density->strength *= unit, density->field /= unit;
    EXPECT_NEAR(expected({one}, one), 0.25, 1e-14);
    EXPECT_NEAR(expected({one}, other), 0.5, 1e-14);  // half the results
  }
}

TEST(StrengthProfile, KnowsNothingOfOtherPlacesAndKinds) {
  const SeenDensity here = seen({0, 320, 0, 0, false}, 0.01),
                    there = seen({320, 320, 0, 0, false}, 0), all = seen({0, n, 0, 0, false}, 0),
                    dipoles = seen({0, 320, 10, 50, false}, 0);
  EXPECT_TRUE(std::isinf(expected({here}, there)));
  EXPECT_TRUE(std::isinf(expected({here}, all)));
  EXPECT_TRUE(std::isinf(expected({here}, dipoles)));
  EXPECT_LT(expected({here, seen({320, 320, 0, 0, false}, 0.01)}, all), 0.05);
  SeenDensity exact = here;  // an error of 0 says nothing of them, either
  exact.error = 0;
  EXPECT_TRUE(std::isinf(expected({exact}, there)));
  EXPECT_EQ(expected({exact}, here), 0);
}

TEST(StrengthProfile, KnowsNothingOfFarStrongerResults) {
  const Terms all{0, n, 0, 0, false};
  EXPECT_TRUE(std::isinf(expected({seen(all, 0.01, 1)}, seen(all, 0, 5))));
  EXPECT_LT(expected({seen(all, 0.01, 1)}, seen(all, 0, 3)), 0.01);
}

TEST(StrengthProfile, ErrorsOfEqualSignsAddUp) {
  const SeenDensity random = seen({0, n, 0, 0, true}, 0.01),
                    equal = seen({0, n, 0, 0, false}, 0.01);
  EXPECT_LT(random.profile.coherence, 0.01);
  EXPECT_NEAR(equal.profile.coherence, 16, 1e-12);
  EXPECT_NEAR(expected({random}, equal), 0.04, 1e-14);
  EXPECT_NEAR(expected({equal}, random), 0.01, 1e-14);
}

}  // namespace
}  // namespace fmm_test
