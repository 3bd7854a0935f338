// SPDX-License-Identifier: BSD-3-Clause
// Who asks for an error gets it: random models, signs, sizes and tolerances.
#include "support.hpp"

namespace fmm_test {
namespace {

using FewOrders = fmm::Orders<3, 5, 8>;
using ManyDigits = fmm::Orders<4, 8, 12>;

template <class Solver>
double error_at(fmm::Options const& options, Bodies const& bodies) {
  Solver solver(options);
  return relative_l2(run(solver, bodies).field, direct_sum<fmm::Laplace>(bodies).field);
}

/// Error / tolerance of random cases, with tolerances of 1e-2 to 10^-digits.
template <class Solver>
std::vector<double> random_cases(int count, double digits, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return double(random() >> 11) * 0x1p-53; };
  const Model models[] = {Model::cube, Model::plummer, Model::shell, Model::disk, Model::clusters};
  std::vector<double> ratios;
  for (int i = 0; i < count; ++i) {
    const Model model = models[random() % 5];
    const bool mixed = random() % 3 == 0;
    const auto n = std::size_t(1000 * std::pow(20, uniform()));
    const double tolerance = 1e-2 * std::pow(10, (2 - digits) * uniform());
    const double error =
        error_at<Solver>({.tolerance = tolerance}, make_bodies(model, n, mixed, unsigned(i) + 1));
    EXPECT_LT(error, tolerance) << name_of(model) << (mixed ? ", mixed, " : ", ") << n;
    ratios.push_back(error / tolerance);
  }
  return ratios;
}

TEST(Tolerance, IsHeldInFloat) {
  using Solver = fmm::ToleranceSolver<fmm::Laplace, FewOrders, float>;
  const auto ratios = random_cases<Solver>(20, 5.5, 1);
  EXPECT_GT(*std::max_element(ratios.begin(), ratios.end()), 0.1);  // not by summing everything
}

TEST(Tolerance, IsHeldInDouble) {
  using Solver = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, double>;
  const auto ratios = random_cases<Solver>(20, 12, 2);
  EXPECT_GT(*std::max_element(ratios.begin(), ratios.end()), 0.1);
}

TEST(Tolerance, ChoosesTheOrder) {
  using Solver = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, double>;
  EXPECT_EQ(Solver({.tolerance = 1e-3}).order(), 4);
  EXPECT_EQ(Solver({.tolerance = 1e-5}).order(), 8);
  EXPECT_EQ(Solver({.tolerance = 1e-9}).order(), 12);
  EXPECT_EQ(Solver({.tolerance = 1e-12}).order(), 12);
}

/// The message names the argument, its value and what is allowed.
template <class Solver>
void refuses(fmm::Options const& options, std::vector<std::string> const& words) {
  try {
    Solver solver(options);
    FAIL() << words[0];
  } catch (fmm::InvalidArgument const& e) {
    for (auto const& word : words)
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

TEST(Tolerance, ThatCannotBeReachedIsRefused) {
  using InFloat = fmm::ToleranceSolver<fmm::Laplace, FewOrders, float>;
  using InDouble = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, double>;
  refuses<InFloat>({}, {"tolerance", "has to be set"});
  refuses<InFloat>({.tolerance = 1e-6}, {"tolerance = 9.99", "3e-6 to 1e-2 in float"});
  refuses<InFloat>({.tolerance = 0.1}, {"tolerance = 0.1", "3e-6 to 1e-2"});
  refuses<InDouble>({.tolerance = 1e-13}, {"tolerance = 1e-13", "1e-12 to 1e-2 in double"});
  refuses<InDouble>({.tolerance = std::nan("")}, {"tolerance = nan"});
  refuses<InDouble>({.tolerance = 1e-6, .theta = 0.5}, {"theta = 0.5", "with a tolerance"});
  refuses<InDouble>({.tolerance = 1e-6, .pair_error = 1e-5}, {"pair_error", "with a tolerance"});
  refuses<fmm::Solver<fmm::Laplace, 4>>({.tolerance = 1e-3}, {"tolerance", "ToleranceSolver"});
}

}  // namespace
}  // namespace fmm_test
