// SPDX-License-Identifier: BSD-3-Clause
// The command line: what the user asked for, checked before any work is done, and what follows from
// it for each method.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fmm/options.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "defaults.hpp"
#include "names.hpp"

namespace forces {

/// As typed; what is not set has a default that depends on the method or the backend.
struct Settings {
  std::optional<std::filesystem::path> input;
  std::optional<std::filesystem::path> targets;
  std::optional<Model> model;
  std::int64_t n = defaults::n;
  std::uint64_t seed = defaults::seed;
  ChargeKind charges = ChargeKind::equal;

  KernelKind kernel = defaults::kernel;
  double softening = 0;
  SofteningKind softening_kind = defaults::softening_kind;
  std::optional<double> softening_error;
  double G = 1;

  std::optional<fmm::PeriodicBox> periodic;
  bool periodic_of_file = false;  // the box is that of the input, which is not read yet
  fmm::Boundary boundary = fmm::Boundary::tin_foil;

  std::vector<Method> methods;  // in the order asked for, each once
  std::optional<int> order;
  std::optional<double> theta;
  std::optional<int> leaf;
  std::optional<int> depth;
  TreeKind tree = defaults::tree;
  std::optional<Traversal> traversal;
  std::optional<Criterion> criterion;
  std::optional<double> pair_error;
  std::optional<double> tolerance;
  std::optional<ToleranceOf> tolerance_of;
  std::optional<ErrorNorm> error_norm;
  bool tune = false;
  bool one_part = false;
  Translation translation = defaults::translation;

  Precision precision = defaults::precision;
  Data data = defaults::data;  // of positions and charges in the backend's memory
  Backend backend{};           // "auto" is resolved
  std::optional<int> threads;

  bool hessian = false;
  bool any_strengths = false;  // targets, Hessians, dipoles or several densities

  std::int64_t check = 0;
  std::uint64_t check_seed = defaults::check_seed;
  std::optional<int> repeat;
  double direct_limit = defaults::direct_limit;

  std::optional<std::filesystem::path> output;
  std::optional<std::filesystem::path> report;
};

/// Whether the far field errs by what it knows nothing of: Plummer's softening.
inline bool has_softening_error(Settings const& settings) {
  return settings.kernel == KernelKind::gravity &&
         settings.softening_kind == SofteningKind::plummer;
}

/// Whether bodies repeat.
inline bool is_periodic(Settings const& settings) {
  return settings.periodic || settings.periodic_of_file;
}

/// One method with everything that it needs to know.
struct MethodSettings {
  Method method;
  KernelKind kernel;
  SofteningKind softening_kind;
  Traversal traversal;
  std::optional<Criterion> criterion;  // of the dual traversal
  Translation translation;
  Precision precision;
  Backend backend;
  int order;             // -1: the library finds it for a tolerance
  fmm::Options options;  // what is not set is the library's choice
  bool tune = false;     // the fastest setting is to be found for the tolerance
};

/// What was compiled in.
struct Build {
  std::vector<int> orders;        // rising
  std::vector<Backend> backends;  // of Kokkos
  Backend default_backend;
};

/// "1, 2, 3"
inline std::string join(std::vector<int> const& numbers) {
  std::string text;
  for (const int number : numbers) (text += text.empty() ? "" : ", ") += std::to_string(number);
  return text;
}

/// Whether the user gave that option ("--n").
using Given = std::function<bool(char const* flag)>;

/// Throws fmm::InvalidArgument or UserError for options that contradict each other.
void check(Settings const& settings, Given const& given);

/// The checked settings; nothing if help or the version was asked for and printed. Throws
/// fmm::InvalidArgument or UserError.
std::optional<Settings> parse_command_line(int argc, char const* const* argv, Build const& build);

/// The settings of one method, defaults filled in. Throws fmm::InvalidArgument.
MethodSettings resolve(Settings const& settings, Method method, Build const& build);

}  // namespace forces
