// SPDX-License-Identifier: BSD-3-Clause
#include "reference.hpp"

#include "backends.hpp"

namespace fmm::runtime {

template <class From, class To>
struct CopyColumn {
  From from;
  To to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = from(i); }
};
template <class From, class To>
struct CopyRows {
  From from;
  To to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int k = 0; k < 3; ++k) to(i, k) = from(i, k);
  }
};

template <class From, class To>
CopyColumn<From, To> copy_column(From const& from, To const& to) {
  return {from, to};
}
template <class From, class To>
CopyRows<From, To> copy_rows(From const& from, To const& to) {
  return {from, to};
}

template <class Space>
ErrorMeasure compare_with_reference(Space const& space, kernels::AnyKernel const& kernel,
                                    Options const& options, ConstArray const& positions,
                                    ConstArray const& charges, ConstArray const& potential,
                                    ConstArray const& field, std::vector<BodyIndex> const* targets,
                                    std::size_t samples, std::uint64_t seed, double least_share) {
  if (!potential && !field)
    throw InvalidArgument("potential and field", "none", "at least one of the two");
  const std::int64_t n = engine::checked_size("positions", rows<double const, Space>(positions));
  engine::check_extents("charges", column<double const, Space>(charges), n);
  if (potential) engine::check_extents("potential", column<double const, Space>(potential), n);
  if (field) engine::check_extents("field", rows<double const, Space>(field), n);
  const detail::HostThread<Space> thread(space);
  // in double, so that there are fewer types to compile what follows for
  detail::Buffer<double, Space> numbers("results to compare");
  double* const first = numbers.resize(std::size_t(4 * n)).data();
  const MutableArray p(first, {Number::in_double, Memory::both, 1, {n, 1}, {1, 1}});
  const MutableArray f(first + n, {Number::in_double, Memory::both, 2, {n, 3}, {3, 1}});
  const auto phi = column<double, Space>(p);
  const auto a = rows<double, Space>(f);
  if (potential)
    with_column<Space>(potential, [&](auto const& from) {
      detail::for_range("fmm::error::potential", space, n, copy_column(from, phi));
    });
  if (field)
    with_rows<Space>(field, [&](auto const& from) {
      detail::for_range("fmm::error::field", space, n, copy_rows(from, a));
    });
  using Numbers =
      Kokkos::View<BodyIndex const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  return with_rows<Space>(positions, [&](auto const& x) {
    return with_column<Space>(charges, [&](auto const& q) {
      const auto compare = [&](auto const& potentials, auto const& fields) {
        if (!targets)
          return fmm::measure_error(space, kernel, options, x, q, potentials, fields, samples, seed,
                                    least_share);
        return fmm::measure_error(space, kernel, options, x, q, potentials, fields,
                                  Numbers(targets->data(), targets->size()), samples, seed,
                                  least_share);
      };
      return !potential ? compare(none, a) : !field ? compare(phi, none) : compare(phi, a);
    });
  });
}

#define FMM_IN(Space)                                                                         \
  template ErrorMeasure compare_with_reference(                                               \
      Space const&, kernels::AnyKernel const&, Options const&, ConstArray const&,             \
      ConstArray const&, ConstArray const&, ConstArray const&, std::vector<BodyIndex> const*, \
      std::size_t, std::uint64_t, double);
FMM_FOR_EACH_SITE(FMM_IN)

}  // namespace fmm::runtime
