// SPDX-License-Identifier: BSD-3-Clause
// Sums at all targets over those few sources that carry anything, term by term: what an expansion errs by for one
// source is not what it errs by for many, whose errors differ in sign.
#pragma once

#include <algorithm>
#include <vector>

#include "../detail/copy.hpp"
#include "../detail/launch.hpp"
#include "../detail/reduce.hpp"
#include "terms_of_sources.hpp"

namespace fmm::tolerance {

template <class Terms>
struct CountCarriers {
  Terms terms;
  KOKKOS_FUNCTION void operator()(std::int64_t j, SumOf<std::int64_t>& count) const {
    count.value += terms.carries(j);
  }
};

/// In any order.
template <class Space, class Terms>
struct ListCarriers {
  Terms terms;
  Array<BodyIndex, Space> next, list;
  KOKKOS_FUNCTION void operator()(std::int64_t j) const {
    if (terms.carries(j)) list(std::int64_t(Kokkos::atomic_fetch_add(&next(0), 1))) = BodyIndex(j);
  }
};

/// The numbers of the sources that carry anything, ascending; none if there are more than `most`.
template <class Space, class Terms>
std::vector<BodyIndex> carriers(Space const& space, Terms const& terms, std::int64_t most) {
  const auto sources = std::int64_t(terms.sources.extent(0));
  const std::int64_t count = reduce<SumOf<std::int64_t>>("fmm::verification::carriers", space,
                                                         sources, CountCarriers<Terms>{terms})
                                 .value;
  space.fence();
  if (count == 0 || count > most) return {};
  Buffer<BodyIndex, Space> next("next carrier"), list("carriers");
  fill(space, next.resize(1), BodyIndex(0));
  list.resize(std::size_t(count));
  for_range("fmm::verification::list_carriers", space, sources,
            ListCarriers<Space, Terms>{terms, next.view(), list.view()});
  std::vector<BodyIndex> numbers(static_cast<std::size_t>(count));
  read_back(space, list.view().data(), numbers.data(), numbers.size());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// Results of one density from those sources alone.
template <class Space, class Terms, class SomeExclusions>
struct SumCarriers {
  Terms terms;
  Array<BodyIndex, Space> carriers;
  Array<BodyIndex, Space> chosen;  ///< numbers of targets; none: all
  bool are_sources;                ///< whether targets are, so that one does not act on itself
  SomeExclusions exclusions;
  ResultArray<Space> results[3];
  int density;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t target = chosen.extent(0) > 0 ? std::int64_t(chosen(i)) : i;
    double sum[10] = {};
    for (std::int64_t k = 0; k < std::int64_t(carriers.extent(0)); ++k) {
      const auto j = std::int64_t(carriers(k));
      if (!(are_sources && (j == target || is_excluded(exclusions, target, j))))
        terms.add(target, j, sum);
    }
    for (int r = 0; r < 3; ++r)
      for (int c = 0; results[r].numbers && c < results[r].row; ++c)
        results[r](i, density, c) = sum[number_of_result(r) + c];
  }
};

}  // namespace fmm::tolerance
