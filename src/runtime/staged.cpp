// SPDX-License-Identifier: BSD-3-Clause
#include "staged.hpp"

#include <fmm/tolerance/result_arrays.hpp>

#include "backends.hpp"

namespace fmm::runtime {

/// Numbers from one array into another.
template <class From, class To>
struct CopyStrided {
  From const* from;
  Strides of_from;
  To* to;
  Strides of_to;
  std::int64_t densities, row;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::int64_t k = 0; k < densities; ++k)
      for (std::int64_t c = 0; c < row; ++c)
        to[at(of_to, i, k, c)] = To(from[at(of_from, i, k, c)]);
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t at(Strides const& of, std::int64_t i,
                                                     std::int64_t k, std::int64_t c) {
    return i * of.body + k * of.density + c * of.number;
  }
};

/// Into double, one after the other by `dense`.
template <class Space>
void take_numbers(Space const& space, ConstArray const& from, int densities, int row, double* to,
                  Strides const& dense) {
  const auto copy = [&](auto const* numbers) {
    using From = std::remove_cvref_t<decltype(*numbers)>;
    detail::for_range("fmm::strengths", space, from.size(),
                      CopyStrided<From, double>{numbers, strides_of(from.shape(), row), to, dense,
                                                densities, row});
  };
  if (from.shape().number == Number::in_float)
    copy(static_cast<float const*>(from.data()));
  else
    copy(static_cast<double const*>(from.data()));
}

template <class Space>
StagedPositions<Space>::StagedPositions(Space const& space, ConstArray const& positions)
    : size_(positions.size()) {
  const auto to = numbers_.resize(std::size_t(3 * size_));
  take_numbers(space, positions, 1, 3, to.data(), {3, 0, 1});
}

template <class Space>
StagedNumbers<Space>::StagedNumbers(Space const& space, ConstArray const& numbers)
    : size_(numbers.size()) {
  const auto to = numbers_.resize(std::size_t(numbers.size()));
  const auto copy = [&](auto const* from) {
    using From = std::remove_cvref_t<decltype(*from)>;
    detail::for_range("fmm::targets", space, numbers.size(),
                      CopyStrided<From, std::int64_t>{from, strides_of(numbers.shape(), 1),
                                                      to.data(), Strides{1, 0, 0}, 1, 1});
  };
  if (numbers.shape().number == Number::in_int32)
    copy(static_cast<std::int32_t const*>(numbers.data()));
  else
    copy(static_cast<std::int64_t const*>(numbers.data()));
}

template <class Space>
Staged<Space>::Staged(Space const& space, AnyStrengths const& strengths, AnyResults const& results,
                      Bounds const& bounds)
    : space_(space), strengths_(strengths), results_(results), bounds_(bounds) {
  check();
}

template <class Space>
void Staged<Space>::check() {
  ConstArray const &q = strengths_.charges, &p = strengths_.dipoles;
  if (!q && !p) throw InvalidArgument("charges and dipoles", "none", "at least one of the two");
  MutableArray const &u = results_.potential, &f = results_.field, &h = results_.hessian;
  if (!u && !f && !h)
    throw InvalidArgument("potential, field and hessian", "none", "at least one of the three");
  const bool of_densities = q ? q.shape().rank == 2 : p.shape().rank == 3;
  densities_ = of_densities ? int((q ? q.shape() : p.shape()).extent[1]) : 1;
  const auto check_one = [&](char const* name, auto const& array, int row, std::int64_t bodies,
                             char const* of, bool is_written) {
    if (!array) return;
    check_array(name, array.data(), array.shape(),
                {(row == 1 ? 1 : 2) + of_densities, detail::is_host_space_v<Space>, is_written,
                 space_.name(), row == 1 ? 0 : row});
    if (array.size() != bodies) engine::refuse_size(name, std::size_t(array.size()), bodies, of);
    if (of_densities && array.shape().extent[1] != densities_)
      engine::refuse_extent(name, 1, std::size_t(array.shape().extent[1]),
                            "that of the " + std::string(q ? "charges" : "dipoles") + ", " +
                                std::to_string(densities_));
  };
  check_one("charges", q, 1, bounds_.sources, bounds_.of_sources, false);
  check_one("dipoles", p, 3, bounds_.sources, bounds_.of_sources, false);
  check_one("potential", u, 1, bounds_.targets, bounds_.of_targets, true);
  check_one("field", f, 3, bounds_.targets, bounds_.of_targets, true);
  check_one("hessian", h, 6, bounds_.targets, bounds_.of_targets, true);
  const auto check_two = [&](char const* name, MutableArray const& a, int row, char const* of_other,
                             MutableArray const& b, int row_of_other) {
    if (a && b)
      engine::check_no_overlap(name, place_of(a, row, densities_), of_other,
                               place_of(b, row_of_other, densities_));
  };
  check_two("field", f, 3, "potential", u, 1);
  check_two("hessian", h, 6, "potential", u, 1);
  check_two("hessian", h, 6, "field", f, 3);
}

/// Whether an array lies as the numbers in double do.
template <class Space>
template <class SomeArray>
bool Staged<Space>::is_dense(SomeArray const& array, int row, std::int64_t bodies) const {
  if (array.shape().number != Number::in_double ||
      reinterpret_cast<std::uintptr_t>(array.data()) % alignof(double) != 0)
    return false;
  if (densities_ > 1 && !are_together())
    return false;  // one after the other: nothing is given before all is well
  const Strides is = strides_of(array.shape(), row), wanted = dense(row, bodies);
  return (bodies <= 1 || is.body == wanted.body) &&
         (densities_ == 1 || is.density == wanted.density) && (row == 1 || is.number == 1);
}
/// Whether strengths lie where a result goes.
template <class Space>
bool Staged<Space>::is_result(ConstArray const& strengths, int row) const {
  const auto place = place_of(strengths, row, densities_);
  const auto meets = [&](MutableArray const& result, int row_of_result) {
    return result && engine::share_memory(place, place_of(result, row_of_result, densities_));
  };
  return meets(results_.potential, 1) || meets(results_.field, 3) || meets(results_.hessian, 6);
}
template <class Space>
void Staged<Space>::take_strengths(Numbers<double const>& to, ConstArray const& from, int row) {
  if (is_dense(from, row, bounds_.sources) && !is_result(from, row))
    to.first = static_cast<double const*>(from.data());
  else
    take_numbers(space_, from, densities_, row,
                 to.resize(std::size_t(row) * densities_ * bounds_.sources),
                 dense(row, bounds_.sources));
}
template <class Space>
void Staged<Space>::make_room(Numbers<double>& numbers, MutableArray const& wanted, int row) {
  // with results in float, which may have no room for theirs, nothing is written before that is known
  numbers.is_the_callers = wanted && !are_in_float() && is_dense(wanted, row, bounds_.targets);
  if (numbers.is_the_callers)
    numbers.first = static_cast<double*>(wanted.data());
  else
    numbers.resize(std::size_t(row) * densities_ * bounds_.targets);
}
template <class Space>
void Staged<Space>::take() {
  if (strengths_.charges) {
    take_strengths(charges_, strengths_.charges, 1);
  } else {
    charges_.resize(std::size_t(densities_ * bounds_.sources));
    detail::fill(space_, charges_.buffer.view(), 0.0);
  }
  if (has_dipoles()) take_strengths(dipoles_, strengths_.dipoles, 3);
  make_room(potential_, results_.potential, 1);
  make_room(field_, results_.field, 3);
  if (has_dipoles() || results_.hessian) make_room(hessian_, results_.hessian, 6);
}

/// Whether all numbers of a target are finite.
template <class Space>
struct CountNotFinite {
  double const* numbers[3];  ///< of results; nullptr: not wanted
  Strides of[3];
  int rows[3], densities;

  KOKKOS_FUNCTION void operator()(std::int64_t i, detail::SumOf<std::int64_t>& count) const {
    bool finite = true;
    for (int r = 0; r < 3; ++r)
      for (int k = 0; numbers[r] && k < densities; ++k)
        for (int c = 0; c < rows[r]; ++c) {
          const double number = numbers[r][i * of[r].body + k * of[r].density + c * of[r].number];
          finite = finite && number - number == 0;
        }
    count.value += !finite;
  }
};

template <class Space>
std::int64_t Staged<Space>::not_finite() const {
  CountNotFinite<Space> count{};
  count.densities = densities_;
  const auto add = [&](int r, Numbers<double> const& from, int row, MutableArray const& wanted) {
    count.numbers[r] = wanted ? from.first : nullptr;
    count.of[r] = dense(row, bounds_.targets);
    count.rows[r] = row;
  };
  add(0, potential_, 1, results_.potential);
  add(1, field_, 3, results_.field);
  add(2, hessian_, 6, results_.hessian);
  return detail::reduce<detail::SumOf<std::int64_t>>("fmm::results", space_, bounds_.targets, count)
      .value;
}

template <class Space>
void Staged<Space>::give() const {
  // whether there is room, before anything is given
  const auto check_room = [&](char const* name, Numbers<double> const& from, int row,
                              MutableArray const& to) {
    if (!is_float(to)) return;
    for (int k = 0; k < densities_; ++k) {
      const auto numbers =
          are_together()
              ? tolerance::ResultArray<Space>{from.first, bounds_.targets, densities_, row}
              : tolerance::ResultArray<Space>{from.first + std::int64_t(k) * row * bounds_.targets,
                                              bounds_.targets, 1, row};
      const double largest = tolerance::largest_of(space_, numbers, are_together() ? k : 0);
      if (std::isfinite(largest) && largest != 0 &&
          !(largest <= std::numeric_limits<float>::max() && largest >= 1e-30))
        throw InvalidArgument("the largest number of the " + std::string(name) + " in float",
                              largest, "1e-30 to 3.4e38: take arrays of double, or other units");
    }
  };
  check_room("potential", potential_, 1, results_.potential);
  check_room("field", field_, 3, results_.field);
  check_room("hessian", hessian_, 6, results_.hessian);
  give_one(potential_, 1, results_.potential);
  give_one(field_, 3, results_.field);
  give_one(hessian_, 6, results_.hessian);
  space_.fence();
}

template <class Space>
void Staged<Space>::give_one(Numbers<double> const& from, int row, MutableArray const& to) const {
  if (!to || from.is_the_callers) return;
  const auto copy = [&](auto* numbers) {
    using To = std::remove_pointer_t<decltype(numbers)>;
    detail::for_range("fmm::results", space_, bounds_.targets,
                      CopyStrided<double, To>{from.first, dense(row, bounds_.targets), numbers,
                                              strides_of(to.shape(), row), densities_, row});
  };
  if (is_float(to))
    copy(static_cast<float*>(to.data()));
  else
    copy(static_cast<double*>(to.data()));
}

#define FMM_IN(Space)                    \
  template class StagedPositions<Space>; \
  template class StagedNumbers<Space>;   \
  template class Staged<Space>;
FMM_FOR_EACH_SITE(FMM_IN)

}  // namespace fmm::runtime
