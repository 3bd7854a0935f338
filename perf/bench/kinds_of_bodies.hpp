// SPDX-License-Identifier: BSD-3-Clause
// Kinds of bodies that a tolerance is tried with: those that its constants were found with, and those that nobody
// tuned for.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace kinds {

struct Bodies {
  std::vector<double> positions;  ///< (N,3), row after row
  std::vector<double> charges;    ///< (N)

  std::size_t size() const { return charges.size(); }
  void add(double x, double y, double z, double q) {
    positions.insert(positions.end(), {x, y, z});
    charges.push_back(q);
  }
};

struct Kind {
  char const* name;
  Bodies (*make)(std::size_t n, std::mt19937_64& random);
  bool has_signs;  ///< charges of its own; else masses, to which signs may be given
  /// Bodies closer to each other than coordinates can tell, or lengths that differ by more than their digits: what may
  /// be refused.
  bool is_hierarchy;
};

/// Those of kinds_of_other_fields.cpp, of kinds_of_attackers.cpp, of kinds_of_users.cpp, of
/// kinds_of_newcomers.cpp, of kinds_of_strangers.cpp, of kinds_of_visitors.cpp, of kinds_of_guests.cpp,
/// of kinds_of_callers.cpp and of kinds_of_clients.cpp.
std::vector<Kind> const& of_other_fields();
std::vector<Kind> const& of_attackers();
std::vector<Kind> const& of_users();
std::vector<Kind> const& of_newcomers();
std::vector<Kind> const& of_strangers();
std::vector<Kind> const& of_visitors();
std::vector<Kind> const& of_guests();
std::vector<Kind> const& of_callers();
std::vector<Kind> const& of_clients();

/// All kinds; a kind keeps its place.
std::vector<Kind> const& all();

}  // namespace kinds
