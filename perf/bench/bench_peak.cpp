// SPDX-License-Identifier: BSD-3-Clause
// What the machine can do, measured with the same compiler and lanes as the library: multiply-adds in
// registers, and copies of memory. The bounds of roofline plots.
#include "bench.hpp"

namespace fmm_bench {
namespace {

using namespace fmm;
using namespace fmm::engine;

/// Chains of multiply-adds, enough of them to hide their latency.
template <class Real>
struct MultiplyAdds {
  using V = Lanes<Space, Real>;
  static constexpr int chains = 16;
  Array<Real, Space> out;
  int steps;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    V a[chains];
    for (int k = 0; k < chains; ++k) a[k] = V(Real(k));
    const V factor(Real(0.999)), addend(Real(i + 1));
    for (int step = 0; step < steps; ++step) {
      FMM_UNROLL
      for (int k = 0; k < chains; ++k) a[k] = a[k] * factor + addend;
    }
    V sum(Real(0));
    for (int k = 0; k < chains; ++k) sum += a[k];
    out(i) = LaneTraits<V>::sum(sum);
  }
};

template <class Real>
void multiply_adds(benchmark::State& state) {
  using Functor = MultiplyAdds<Real>;
  const Space space = default_space();
  const std::int64_t items = std::int64_t(space.concurrency()) * (on_host ? 1 : 4);
  const int steps = on_host ? 1 << 20 : 1 << 12;
  Kokkos::View<Real*, Device<Space>> out("out", std::size_t(items));
  const Functor functor{Array<Real, Space>(out.data(), out.extent(0)), steps};
  time(state, space, [&] {
    Kokkos::parallel_for("fmm_bench::multiply_adds", Kokkos::RangePolicy<KokkosSpace>(0, items),
                         functor);
  });
  rate(state, "issued_flops",
       2.0 * double(items) * steps * Functor::chains * lane_count_v<typename Functor::V>);
}

void copy(benchmark::State& state) {
  const Space space = default_space();
  const std::size_t count = std::size_t(on_host ? 1 << 25 : 1 << 28);  // doubles, beyond any cache
  Kokkos::View<double*, Device<Space>> from("from", count), to("to", count);
  time(state, space, [&] { Kokkos::deep_copy(KokkosSpace(), to, from); });
  rate(state, "bytes", 2.0 * double(count) * sizeof(double));
}

const Registrar registrar([](std::vector<Point> const&) {
  add("peak/multiply-add/float", multiply_adds<float>);
  add("peak/multiply-add/double", multiply_adds<double>);
  add("peak/copy", copy);
});

}  // namespace
}  // namespace fmm_bench
