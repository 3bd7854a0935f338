// SPDX-License-Identifier: BSD-3-Clause
// Targets drawn by how strong their results are and by what they erred by.
#include <fmm/tolerance/sampled_targets.hpp>

#include "support.hpp"

namespace fmm_test {
namespace {

using Space = fmm::site_t<Kokkos::DefaultExecutionSpace>;
using fmm::tolerance::DrawnTargets;
using Potentials = fmm::Results<Kokkos::View<double*, Kokkos::DefaultExecutionSpace>>;
using Arrays =
    fmm::tolerance::ResultArrays<Space, decltype(Potentials::potential),
                                 decltype(Potentials::field), decltype(Potentials::hessian)>;

/// One result of targets whose numbers these are.
Arrays results_of(std::vector<double> const& numbers) {
  using Memory = Space::memory_space;
  const Kokkos::DefaultExecutionSpace kokkos;
  const Space space(kokkos);
  const Potentials like{decltype(Potentials::potential)("like", numbers.size()), {}, {}};
  Arrays arrays(like);
  fmm::detail::copy_bytes<Kokkos::HostSpace, Memory>(
      space, numbers.data(), arrays.potential.numbers, numbers.size() * sizeof(double));
  space.fence();  // the numbers are the caller's
  return arrays;
}
double norm_of(std::vector<double> const& numbers) {
  double squares = 0;
  for (const double x : numbers) squares += x * x;
  return std::sqrt(squares);
}
struct Turns {
  mutable double state = 0.3;
  double operator()() const { return state = std::fmod(state + 0.6180339887498949, 1.0); }
};

/// Three of a thousand have nearly all of the norm; another one has nearly all of the error.
struct FewOfMany {
  static constexpr int targets = 1000;
  std::vector<double> found, known;
  FewOfMany() {
    for (int i = 0; i < targets; ++i) {
      found.push_back(i == 5 || i == 500 || i == 999 ? 1000 + i : 1 + 0.1 * (i % 7));
      known.push_back(found.back() + (i == 700 ? 1.0 : 1e-3 * (i % 3)));
    }
  }
  double square(int i) const { return std::pow(found[i] - known[i], 2); }
};

/// These as results.
struct FewResults {
  const Kokkos::DefaultExecutionSpace kokkos = Kokkos::DefaultExecutionSpace();
  const Space space = Space(kokkos);
  const FewOfMany few;
  const Arrays found = results_of(few.found);

  DrawnTargets<Space> drawn() const { return {space, found, {{norm_of(few.found), 0, 0}}}; }
};

TEST(DrawnTargets, AreThoseThatHaveTheNorm) {
  const FewResults results;
  auto const& few = results.few;
  auto drawn = results.drawn();
  const auto numbers = drawn.draw(64, {}, Turns());
  ASSERT_EQ(numbers.size(), 64u);
  int strong = 0;
  for (const int i : numbers) strong += few.found[i] > 100;
  EXPECT_GE(strong, 60);
  for (const int i : {5, 500, 999}) EXPECT_GT(std::count(numbers.begin(), numbers.end(), i), 5);
}

TEST(DrawnTargets, AreThoseThatErredOnceTheseWereNoted) {
  const FewResults results;
  auto const& few = results.few;
  auto drawn = results.drawn();
  fmm::detail::Buffer<double, Space> memory("errors");
  fmm::Array<double, Space> errors;
  const double targets = drawn.note_errors(results_of(few.known), memory, errors);
  EXPECT_GT(targets, 1);  // 0.001 of the square is elsewhere
  EXPECT_LT(targets, 1.1);
  const auto numbers = drawn.draw(32, errors, Turns());
  ASSERT_EQ(numbers.size(), 64u);
  EXPECT_GT(std::count(numbers.begin(), numbers.end(), 700), 28);
  // errors elsewhere are added to those that were noted
  FewOfMany others;
  for (int i = 0; i < others.targets; ++i) others.known[i] = others.found[i] + (i == 100 ? 5 : 0);
  drawn.note_errors(results_of(others.known), memory, errors);
  const auto both = drawn.draw(32, errors, Turns());
  EXPECT_GT(std::count(both.begin(), both.end(), 700), 15);
  EXPECT_GT(std::count(both.begin(), both.end(), 100), 15);
}

/// Squares times weights are on average the sum over all targets.
TEST(DrawnTargets, HaveWeightsThatMakeThemAll) {
  const FewResults results;
  auto const& few = results.few;
  auto const& space = results.space;
  double exact = 0, mean = 0;
  for (int i = 0; i < few.targets; ++i) exact += few.square(i);
  constexpr int trials = 400, evenly = 20;
  Turns random;
  for (int trial = 0; trial < trials; ++trial) {
    auto drawn = results.drawn();
    fmm::detail::Buffer<double, Space> memory("errors"), weight_memory("weights");
    fmm::detail::Buffer<fmm::BodyIndex, Space> number_memory("numbers");
    fmm::Array<double, Space> errors;
    drawn.note_errors(results_of(few.known), memory, errors);
    std::vector<fmm::BodyIndex> numbers;
    for (int i = 0; i < evenly; ++i) numbers.push_back(int((i + random()) * few.targets / evenly));
    for (const int number : drawn.draw(20, errors, random)) numbers.push_back(number);
    const auto weights =
        drawn.weights(fmm::detail::to_device(space, number_memory, numbers), evenly, weight_memory);
    std::vector<double> read(numbers.size());
    fmm::detail::read_back(space, weights.data(), read.data(), read.size());
    for (std::size_t k = 0; k < numbers.size(); ++k)
      mean += read[k] * few.square(numbers[k]) / trials;
  }
  EXPECT_NEAR(mean / exact, 1, 0.01);
}

TEST(DrawnTargets, AreNoneWhereResultsAreNone) {
  const Kokkos::DefaultExecutionSpace kokkos;
  const Space space(kokkos);
  const std::vector<double> zero(100, 0.0);
  const Arrays found = results_of(zero);
  DrawnTargets<Space> drawn(space, found, {{0, 0, 0}});
  EXPECT_TRUE(drawn.draw(16, {}, Turns()).empty());
  fmm::detail::Buffer<double, Space> memory("errors");
  fmm::Array<double, Space> errors;
  EXPECT_EQ(drawn.note_errors(found, memory, errors), 0);
  EXPECT_EQ(errors.extent(0), 0u);
}

}  // namespace
}  // namespace fmm_test
