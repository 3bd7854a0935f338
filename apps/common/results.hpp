// SPDX-License-Identifier: BSD-3-Clause
// Sums on the host, in the order of the bodies, and the files they are written to.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "bodies.hpp"

namespace forces {

/// Sums at the targets, in their order; of K densities (n,K), (n,K,3) and (n,K,6).
struct Results {
  std::vector<double> potential;  ///< (n)
  std::vector<double> field;      ///< (n,3), row after row
  std::vector<double> hessian;    ///< (n,6): xx, yy, zz, xy, xz, yz
  bool has_hessian = false;
  std::optional<int> densities;  ///< K, if there are several
};

enum class OutputFormat { csv, hdf5 };

/// The format that a file's extension asks for. Throws UserError for any other one.
OutputFormat output_format(std::filesystem::path const& file);

/// CSV: the header `potential,field_x,field_y,field_z`, and with Hessians `hessian_xx,hessian_yy,hessian_zz,hessian_xy,
/// hessian_xz,hessian_yz`, then a line a target with 17 digits; of several densities one after the other, with _0, _1
/// .. behind the names. HDF5: datasets Potential (N), Field (N,3), Hessian (N,6) and ParticleIDs (N) of the targets; of
/// K densities (N,K), (N,K,3), (N,K,6). Throws UserError.
void write_output(std::filesystem::path const& file, Bodies const& targets, Results const& results);

}  // namespace forces
