// SPDX-License-Identifier: BSD-3-Clause
// What all sources of bodies share: the choice of the reader and the checks of values and memory.
#include "bodies.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "user_error.hpp"

namespace forces {

namespace {

/// An HDF5 file begins with these bytes (a user block before them is not supported).
bool has_hdf5_signature(std::ifstream& stream) {
  constexpr std::array<char, 8> signature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::array<char, 8> start{};
  stream.read(start.data(), start.size());
  return stream.gcount() == 8 && start == signature;
}

}  // namespace

Bodies read_bodies(std::filesystem::path const& file, Reading const& reading) {
  const std::string argument(reading.argument);
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw UserError(argument + ": " + file.string() + " does not exist");
  if (std::filesystem::is_directory(file, error))
    throw UserError(argument + ": " + file.string() + " is a folder, not a file");
  const auto extension = file.extension();
  bool hdf5 = extension == ".hdf5" || extension == ".h5";
  if (std::filesystem::is_regular_file(file, error)) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw UserError(argument + ": " + file.string() + " cannot be opened for reading");
    hdf5 = has_hdf5_signature(stream) || hdf5;
  }
  Bodies bodies = hdf5 ? read_hdf5(file, reading) : read_text(file, reading);
  if (bodies.size() > static_cast<std::size_t>(max_bodies))
    throw fmm::InvalidArgument("bodies in " + file.string(), bodies.size(),
                               "at most " + std::to_string(max_bodies));
  if (bodies.size() == 0)
    bodies.notes.push_back(file.string() +
                           (reading.only_points ? " has no points" : " has no bodies"));
  return bodies;
}

void require_host_memory(std::string const& what, std::size_t bytes) {
  std::ifstream info("/proc/meminfo");
  for (std::string name, unit, number; info >> name >> number && std::getline(info, unit);)
    if (name == "MemAvailable:") {
      if (bytes / 1024 > std::strtoull(number.c_str(), nullptr, 10))
        throw fmm::OutOfMemory(what, bytes);
      return;
    }
}

void require_finite(double value, std::string const& where) {
  if (!std::isfinite(value)) throw fmm::InvalidArgument(where, value, "a finite number");
}

void require_charge(double value, KernelKind kernel, std::string const& where) {
  require_finite(value, where);
  if (value < 0 && !takes_both_signs(kernel))
    throw fmm::InvalidArgument(where, value, "a mass >= 0 (the laplace kernel takes both signs)");
}

}  // namespace forces
