// SPDX-License-Identifier: BSD-3-Clause
// The choice of a session's backend and precision at run time.
#pragma once

#include <backends.hpp>
#include <memory>
#include <type_traits>

#include "bodies_on.hpp"
#include "session.hpp"

namespace forces {

/// Of the direct sums that results are compared with.
inline fmm::Options reference_options(fmm::Options const& used) {
  fmm::Options options{.softening = used.softening, .G = used.G, .periodic = used.periodic};
  if (used.periodic) options.softening_error = used.softening_error;
  return options;
}

/// A session of that kind on the backend, with data in that precision; float is a device's alone.
template <template <class Space, class Data> class Kind, class Sums>
std::unique_ptr<Session> open_on(Backend backend, Data data, Sums const& sums) {
  std::unique_ptr<Session> session;
  fmm::runtime::for_each_backend([&]<class Space>(Backend candidate, std::type_identity<Space>) {
    if (candidate != backend) return;
    if (data == Data::in_double)
      session = std::make_unique<Kind<Space, double>>(sums);
    else if constexpr (!on_host<Space>)
      session = std::make_unique<Kind<Space, float>>(sums);
  });
  return session;
}

}  // namespace forces
