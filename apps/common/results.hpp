// SPDX-License-Identifier: BSD-3-Clause
// Sums on the host, in the order of the bodies, and the files they are written to.
#pragma once

#include <filesystem>
#include <vector>

#include "bodies.hpp"

namespace forces {

struct Results {
  std::vector<double> potential;  ///< (n)
  std::vector<double> field;      ///< (n,3), row after row

  std::size_t size() const { return potential.size(); }
};

enum class OutputFormat { csv, hdf5 };

/// The format that a file's extension asks for. Throws UserError for any other one.
OutputFormat output_format(std::filesystem::path const& file);

/// CSV: the header `potential,field_x,field_y,field_z`, then a line a body with 17 digits.
/// HDF5: datasets Potential (N), Field (N,3) and ParticleIDs (N). Throws UserError.
void write_output(std::filesystem::path const& file, Bodies const& bodies, Results const& results);

}  // namespace forces
