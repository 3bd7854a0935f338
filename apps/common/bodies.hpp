// SPDX-License-Identifier: BSD-3-Clause
// The bodies on the host: where they come from (a model, a text file, an HDF5 snapshot) and what
// holds for them afterwards: every number is finite, and no mass is negative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmm/errors.hpp>
#include <fmm/large_pages.hpp>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "names.hpp"

namespace forces {

struct Bodies {
  std::vector<double> positions;   ///< (N,3), row after row
  std::vector<double> charges;     ///< (N): masses or charges; of K densities (N,K), row after row
  std::vector<double> dipoles;     ///< (N,3), or empty
  std::optional<int> densities;    ///< K, if the file names several
  std::vector<std::uint64_t> ids;  ///< (N), or empty: 0..N-1
  bool signed_ids = false;         ///< the file's IDs are signed integers
  double box = 0;                  ///< the edge of the file's periodic cube, if it has one
  std::vector<std::string> notes;  ///< what the sums leave out of what the file says

  std::size_t size() const { return positions.size() / 3; }
};

/// The largest number of bodies that the library can index.
inline constexpr std::int64_t max_bodies = 2147483647;

/// Whether the kernel takes negative charges.
inline bool takes_both_signs(KernelKind kernel) { return kernel == KernelKind::laplace; }

/// `n` bodies of a model with sum |q| = 1. Body i depends on (model, seed, i, n) alone, and on no
/// mathematical library, so that every machine makes the same bits.
///   cube     uniform in the unit cube
///   plummer  Plummer's sphere, a = 1, cut at r = 20
///   shell    uniform on the unit sphere's surface
///   disk     exponential in radius (scale length 1) and in height (scale height 0.1)
///   clusters Plummer's spheres of a = 0.3 around the origin (a third of the bodies) and of a = 1 around (300, 0, 0)
///   fractal  uniform in cells of the unit cube: of every cell four random eighths are kept, down to those with
///            sixteen bodies in the mean at most
/// Throws fmm::OutOfMemory.
Bodies make_model(Model model, std::size_t n, std::uint64_t seed, ChargeKind charges);

/// What is read of a file, and what for.
struct Reading {
  std::string_view argument;  ///< "--input": of messages
  KernelKind kernel;
  bool only_points = false;  ///< no more than positions and IDs
};

/// Reads a file, whose content tells its format. Throws UserError or fmm::InvalidArgument, with the
/// file's name and the line or the dataset, for a file that cannot be read or whose content is
/// wrong.
Bodies read_bodies(std::filesystem::path const& file, Reading const& reading);

/// Text: columns x y z q, or of points x y z, separated by blanks or commas; a header line, which may name them in
/// another order, and more of them, and `#` comments may be there.
Bodies read_text(std::filesystem::path const& file, Reading const& reading);

/// A snapshot in the way of GADGET and SWIFT: PartType*/Coordinates, Masses or Header/MassTable,
/// ParticleIDs. All types one after the other, by the type's number.
Bodies read_hdf5(std::filesystem::path const& file, Reading const& reading);

/// Throws fmm::OutOfMemory if the host has less memory available than that: the system would hand
/// out the addresses and end the program when it uses them.
void require_host_memory(std::string const& what, std::size_t bytes);

/// vector.resize(count), in large pages where the system has them, or fmm::OutOfMemory that names what and how many
/// bytes.
template <class T>
void resize(std::vector<T>& vector, std::size_t count, std::string const& what) {
  const std::size_t bytes = count * sizeof(T);
  require_host_memory(what, bytes - vector.size() * sizeof(T));
  try {
    vector.reserve(count);
    fmm::prefer_large_pages(vector.data(), bytes);
    vector.resize(count);
  } catch (std::bad_alloc const&) {
    throw fmm::OutOfMemory(what, bytes);
  }
}

/// Throws fmm::InvalidArgument, "`where` = `value` is not allowed: ...".
void require_finite(double value, std::string const& where);
void require_charge(double value, KernelKind kernel, std::string const& where);

}  // namespace forces
