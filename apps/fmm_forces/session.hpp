// SPDX-License-Identifier: BSD-3-Clause
// The bodies in the memory of one backend, and the sums that are measured there. This header keeps
// Kokkos and the library out of everything that only handles settings, files and reports.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bodies.hpp"
#include "measurement.hpp"
#include "progress.hpp"
#include "settings.hpp"

namespace forces {

/// How to measure, for all methods alike.
struct RunRequest {
  int repeats = 1;
  double direct_limit = 0;  ///< seconds that a full direct sum may take
  double long_direct = 0;   ///< seconds from which a full direct sum is run only once
  std::int64_t check = 0;   ///< random targets whose sums are compared with a direct sum in double
  std::uint64_t check_seed = 0;
  bool wants_results = false;  ///< all results are wanted on the host (of a direct sum in full)
};

class Session {
 public:
  virtual ~Session() = default;

  /// Name of the device that computes.
  virtual std::string device() const = 0;
  /// Threads of the host that compute; nothing for a GPU.
  virtual std::optional<int> threads() const = 0;
  virtual Measurement run(MethodSettings const& settings, RunRequest const& request,
                          Progress& progress) = 0;
};

/// The bodies, handed to the backend in that precision, must outlive the session. Kokkos must be
/// initialised.
std::unique_ptr<Session> open_session(Backend backend, Data data, Bodies const& bodies);

/// Charges, dipoles or both, of one density or several; at the bodies, or at targets of their own.
struct AnySums {
  Bodies const& bodies;
  Bodies const* targets;
  bool hessian;
};
/// The same of any of them.
std::unique_ptr<Session> open_session(Backend backend, Data data, AnySums const& sums);

/// Orders and backends compiled in.
Build build_facts();

}  // namespace forces
