// SPDX-License-Identifier: BSD-3-Clause
// What all items give together has the bits of Kokkos's own reduction; arrays are filled and copied whole.
#include <fmm/detail/copy.hpp>
#include <fmm/detail/reduce.hpp>
#include <limits>
#include <random>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::detail;

template <class Space>
class Reduce : public testing::Test {};
TYPED_TEST_SUITE(Reduce, Spaces);

const std::int64_t counts_of_items[] = {0, 1, 2, 7, 127, 2048, 4097, 100003};

/// Of different types, and more than a line of memory.
struct Bounds {
  double sum = 0, more[8] = {};
  float least = std::numeric_limits<float>::max();
  FirstIndex negative;
  KOKKOS_FUNCTION void join(Bounds const& other) {
    sum += other.sum;
    for (int k = 0; k < 8; ++k) more[k] += other.more[k];
    if (other.least < least) least = other.least;
    negative.join(other.negative);
  }
};

template <class Space>
struct FindBounds {
  Array<double, Space> numbers;
  KOKKOS_FUNCTION void operator()(std::int64_t i, Bounds& all) const {
    all.sum += numbers(i);
    all.more[i % 8] += numbers(i);
    if (float(numbers(i)) < all.least) all.least = float(numbers(i));
    if (numbers(i) < 0) all.negative.join({i});
  }
};

template <class Space>
struct AddNumbers {
  Array<double, Space> numbers;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& sum) const { sum += numbers(i); }
};

TYPED_TEST(Reduce, HasTheBitsOfKokkos) {
  using Space = TypeParam;
  const Space space;
  for (const std::int64_t n : counts_of_items) {
    std::mt19937_64 random(n);
    std::vector<double> numbers(n);
    for (double& x : numbers) x = double(random() >> 11) * 0x1p-53;
    if (n > 5) numbers[5] = numbers[n - 1] = -1;
    const auto there = column_in<Space>(numbers);
    const Array<double, Space> array(there.data(), n);
    const auto all = reduce<Bounds>("bounds", space, n, FindBounds<Space>{array});
    double sum = 0;
    Kokkos::parallel_reduce("sum", range(space, n), AddNumbers<Space>{array}, sum);
    space.fence();
    EXPECT_EQ(all.sum, sum) << n;
    EXPECT_EQ(all.negative.value, n > 5 ? 5 : FirstIndex().value);
    EXPECT_EQ(all.least, n == 0 ? std::numeric_limits<float>::max()
                                : float(*std::min_element(numbers.begin(), numbers.end())));
    double of_parts = 0;
    for (double part : all.more) of_parts += part;
    EXPECT_NEAR(of_parts, sum, 1e-9 * double(n));
  }
}

TYPED_TEST(Reduce, ArraysAreFilledAndCopiedWhole) {
  using Space = TypeParam;
  using Memory = typename Space::memory_space;
  const Space space;
  for (const std::int64_t n : counts_of_items) {
    Buffer<std::int64_t, Space> one("one"), other("other");
    const auto from = one.resize(n), to = other.resize(n);
    fill<std::int64_t>(space, from, 42);
    copy_bytes<Memory, Memory>(space, from.data(), to.data(), n * sizeof(std::int64_t));
    std::vector<std::int64_t> here(n);
    read_back(space, to.data(), here.data(), here.size());
    EXPECT_EQ(here, std::vector<std::int64_t>(n, 42));
  }
}

}  // namespace
}  // namespace fmm_test
