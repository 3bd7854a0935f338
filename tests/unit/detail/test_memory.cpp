// SPDX-License-Identifier: BSD-3-Clause
// Memory that grows, is lent, and lies in large pages.
#include <fstream>
#include <numeric>
#include <sstream>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::engine;

template <class Space>
class MemoryTest : public testing::Test {};
TYPED_TEST_SUITE(MemoryTest, Spaces);

TYPED_TEST(MemoryTest, LentMemoryIsSharedOut) {
  using Space = TypeParam;
  Buffer<char, Space> owner("owner");
  Buffer<double, Space> a("a"), b("b"), c("c");
  const char* const first = owner.resize(1000).data();
  Lender<Space> lender(owner.view());
  lender.lend(a, 10);  // 80 bytes, to the end of a line of 128
  lender.lend(b, lender.share(2) / sizeof(double));
  lender.lend(c, 1000);  // more than is left
  const auto in = [first](Buffer<double, Space> const& buffer) {
    return reinterpret_cast<char const*>(buffer.view().data()) - first;
  };
  EXPECT_EQ(a.resize(10).data(), reinterpret_cast<double const*>(first));
  EXPECT_EQ(in(b), 128);
  EXPECT_EQ(b.view().extent(0), 384 / sizeof(double));  // of 872
  EXPECT_EQ(a.bytes() + b.bytes() + c.bytes(), 0);
  EXPECT_EQ(c.view().extent(0), 0);
  // what needs more has its own, and keeps that unless more is lent
  c.resize(5);
  a.resize(11);
  EXPECT_EQ(a.bytes(), 88);
  EXPECT_EQ(c.bytes(), 40);
  Lender<Space> again(owner.view());
  again.lend(a, 10);
  EXPECT_NE(in(a), 0);
  again.lend(c, 6);
  EXPECT_EQ(in(c), 128);
  // contents move along when a lent buffer grows
  const Space space;
  Kokkos::deep_copy(b.resize(3).view(), 2.5);
  b.grow(space, 100, 3);
  space.fence();
  EXPECT_EQ(to_host(b.view(3)), std::vector<double>(3, 2.5));
}

/// The flags that Linux tells of the mapping that the address is in; empty where it tells none.
std::string mapping_flags(void const* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin, end;
    char dash;
    std::istringstream range(line);
    if (range >> std::hex >> begin >> dash >> end && dash == '-')
      inside = begin <= wanted && wanted < end;
    else if (inside && line.rfind("VmFlags:", 0) == 0)
      return line + " ";
  }
  return "";
}

TYPED_TEST(MemoryTest, OfACpuIsAskedForInLargePages) {
  using Space = TypeParam;
  if (!is_host_space_v<Space>) GTEST_SKIP() << "a GPU's";
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "a system without large pages";
  constexpr std::size_t count = std::size_t(1) << 26;
  Buffer<char, Space> large("large");
  const std::string flags = mapping_flags(large.resize(count).data() + count / 2);
  if (flags.empty()) GTEST_SKIP() << "a system that does not tell";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
}

TEST(LargePages, LeaveContentsAndOddPlacesAlone) {
  fmm::prefer_large_pages(nullptr, 0);
  std::vector<int> numbers(5'000'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const std::size_t first : {0, 1, 77'777})
    for (const std::size_t count : {0, 1, 1000, 4'000'000})
      fmm::prefer_large_pages(numbers.data() + first, count * sizeof(int));
  for (int i = 0; i < int(numbers.size()); ++i) ASSERT_EQ(numbers[i], i);
}

TEST(Memory, RunningOutNamesTheBytes) {
  for (const std::size_t count :
       {std::size_t(1) << 46, std::numeric_limits<std::size_t>::max() / 2}) {
    try {
      Buffer<double, Kokkos::DefaultExecutionSpace>("too much").resize(count);
      ADD_FAILURE() << "allocated " << count;
    } catch (fmm::OutOfMemory const& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(error.bytes())), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("too much"), std::string::npos);
      if (count == std::size_t(1) << 46) {
        EXPECT_EQ(error.bytes(), count * sizeof(double));
      }
    }
  }
}

}  // namespace
}  // namespace fmm_test
