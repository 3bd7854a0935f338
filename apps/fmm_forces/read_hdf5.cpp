// SPDX-License-Identifier: BSD-3-Clause
// Bodies from a snapshot in the way of GADGET and SWIFT (HDF5): for every group PartType<t>, by the
// number t, the datasets Coordinates (N,3), Masses (N) and ParticleIDs (N). Masses may instead
// stand in the attribute MassTable of the group Header, one number a type; IDs may be absent.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bodies.hpp"
#include "hdf5_handle.hpp"
#include "user_error.hpp"

namespace forces {

namespace {

/// The `hsize_t` extents of a dataspace.
std::vector<hsize_t> extents_of(hid_t space) {
  std::vector<hsize_t> extents(
      static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return extents;
}

class SnapshotReader {
 public:
  SnapshotReader(std::filesystem::path const& file, KernelKind kernel)
      : name_(file.string()),
        kernel_(kernel),
        file_(H5Fopen(name_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose) {
    if (!file_) fail("", "not an HDF5 file, or truncated");
  }

  Bodies read() {
    const auto parts = header<std::int64_t>("NumFilesPerSnapshot", H5T_NATIVE_INT64);
    if (!parts.empty() && parts.front() > 1)
      fail("Header/NumFilesPerSnapshot", "the snapshot is spread over " +
                                             std::to_string(parts.front()) +
                                             " files; one that holds all bodies is needed");
    mass_table_ = header<double>("MassTable", H5T_NATIVE_DOUBLE);
    counts_ = header<std::int64_t>("NumPart_ThisFile", H5T_NATIVE_INT64);

    const auto types = find_types();
    if (types.empty() && std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}) != 0)
      fail("", "no group PartType<number>, though Header/NumPart_ThisFile counts bodies");
    if (types.empty() && counts_.empty()) fail("", "no group PartType<number>");
    for (const int type : types) read_type(type);
    if (!has_ids_) bodies_.ids.clear();
    return std::move(bodies_);
  }

 private:
  [[noreturn]] void fail(std::string const& object, std::string const& what) const {
    throw UserError("--input: " + name_ + (object.empty() ? "" : ", " + object) + ": " + what);
  }

  /// An attribute of the group Header, as numbers; empty if it is not there.
  template <class T>
  std::vector<T> header(char const* attribute, hid_t memory_type) const {
    if (H5Lexists(file_, "Header", H5P_DEFAULT) <= 0 ||
        H5Aexists_by_name(file_, "Header", attribute, H5P_DEFAULT) <= 0)
      return {};
    const Hdf5Handle id(H5Aopen_by_name(file_, "Header", attribute, H5P_DEFAULT, H5P_DEFAULT),
                        H5Aclose);
    const Hdf5Handle space(H5Aget_space(id), H5Sclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    std::vector<T> values(static_cast<std::size_t>(std::max<hssize_t>(0, count)));
    if (count < 0 || H5Aread(id, memory_type, values.data()) < 0)
      fail(std::string("Header/") + attribute, "the attribute cannot be read as numbers");
    return values;
  }

  /// The numbers of all groups PartType<number>, rising.
  std::vector<int> find_types() const {
    std::vector<int> types;
    const auto visit = [](hid_t, char const* link, H5L_info_t const*, void* result) -> herr_t {
      const std::string_view text(link), prefix("PartType");
      int type = 0;
      if (!text.starts_with(prefix)) return 0;
      const auto [end, error] = std::from_chars(link + prefix.size(), link + text.size(), type);
      if (error == std::errc() && end == link + text.size() && type >= 0)
        static_cast<std::vector<int>*>(result)->push_back(type);
      return 0;
    };
    if (H5Literate(file_, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, &types) < 0)
      fail("", "the groups cannot be listed (truncated?)");
    std::sort(types.begin(), types.end());
    return types;
  }

  bool has(std::string const& path) const {
    return H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0;
  }

  void read_type(int type) {
    const std::string group = "PartType" + std::to_string(type);
    const auto index = static_cast<std::size_t>(type);
    const std::int64_t declared = index < counts_.size() ? counts_[index] : -1;
    if (declared == 0 && !has(group + "/Coordinates")) return;

    const std::size_t before = bodies_.size();
    const std::size_t count = read_coordinates(
        group + "/Coordinates",
        declared < 0 ? std::nullopt : std::optional(static_cast<hsize_t>(declared)));
    read_masses(group, index, before, count);
    read_ids(group + "/ParticleIDs", before, count);
  }

  /// Opens a dataset of the wanted class and shape ((N,columns), or (N) for 1 column; N rows
  /// expected, if that is known) and reads it to the end of `to`. Returns N.
  template <class T>
  std::size_t append(std::string const& path, std::size_t columns, std::optional<hsize_t> expected,
                     hid_t memory_type, std::vector<T>& to) const {
    if (!has(path)) fail(path, "the dataset is missing");
    const Hdf5Handle data(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!data) fail(path, "the dataset cannot be opened (truncated?)");
    const Hdf5Handle type(H5Dget_type(data), H5Tclose), space(H5Dget_space(data), H5Sclose);
    const H5T_class_t wanted = std::is_floating_point_v<T> ? H5T_FLOAT : H5T_INTEGER;
    constexpr std::size_t widest = 16;  // bytes; a damaged file may claim any number
    if (H5Tget_class(type) != wanted || H5Tget_size(type) > widest)
      fail(path, wanted == H5T_FLOAT ? "not of a floating point type" : "not of an integer type");
    const auto extents = extents_of(space);
    const bool table = extents.size() == 2 && extents[1] == columns;
    if (!table && !(columns == 1 && extents.size() == 1))
      fail(path, columns == 1 ? "not of shape (N)" : "not of shape (N,3)");
    if (expected && extents[0] != *expected)
      fail(path, std::to_string(extents[0]) + " rows, not " + std::to_string(*expected) +
                     " as there are bodies of this type");
    if (extents[0] > static_cast<hsize_t>(max_bodies))
      fail(path, std::to_string(extents[0]) + " rows, more than " + std::to_string(max_bodies));

    const std::size_t old = to.size(), added = extents[0] * columns;
    resize(to, old + added, name_ + ", " + path);
    if (added > 0 && H5Dread(data, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to.data() + old) < 0)
      fail(path, "the dataset cannot be read (truncated?)");
    return extents[0];
  }

  std::size_t read_coordinates(std::string const& path, std::optional<hsize_t> expected) {
    auto& positions = bodies_.positions;
    const std::size_t before = positions.size();
    const std::size_t count = append(path, 3, expected, H5T_NATIVE_DOUBLE, positions);
    for (std::size_t k = before; k < positions.size(); ++k)
      if (!std::isfinite(positions[k]))
        require_finite(positions[k], name_ + ", " + path + "[" + std::to_string((k - before) / 3) +
                                         "," + std::to_string((k - before) % 3) + "]");
    return count;
  }

  void read_masses(std::string const& group, std::size_t type, std::size_t before,
                   std::size_t count) {
    // SWIFT's black holes have two masses; the one that gravitates is the dynamical one.
    for (auto const* dataset : {"/Masses", "/DynamicalMasses"}) {
      const std::string path = group + dataset;
      if (!has(path)) continue;
      append(path, 1, count, H5T_NATIVE_DOUBLE, bodies_.charges);
      for (std::size_t i = before; i < bodies_.charges.size(); ++i)
        if (!std::isfinite(bodies_.charges[i]) || bodies_.charges[i] < 0)
          require_charge(bodies_.charges[i], kernel_,
                         name_ + ", " + path + "[" + std::to_string(i - before) + "]");
      return;
    }
    const double mass = type < mass_table_.size() ? mass_table_[type] : 0;
    if (mass == 0 && count > 0)
      fail(group, "no dataset Masses, and no mass of this type in Header/MassTable");
    require_charge(mass, kernel_, name_ + ", Header/MassTable[" + std::to_string(type) + "]");
    resize(bodies_.charges, before + count, name_ + ", " + group);
    std::fill(bodies_.charges.begin() + static_cast<std::ptrdiff_t>(before), bodies_.charges.end(),
              mass);
  }

  /// A type without IDs continues the count of the bodies.
  void read_ids(std::string const& path, std::size_t before, std::size_t count) {
    auto& ids = bodies_.ids;
    if (!has(path)) {
      resize(ids, before + count, name_ + ", " + path);
      std::iota(ids.begin() + static_cast<std::ptrdiff_t>(before), ids.end(), before);
      return;
    }
    has_ids_ = true;
    const Hdf5Handle data(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Handle type(H5Dget_type(data), H5Tclose);
    const bool is_signed = H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
    bodies_.signed_ids = bodies_.signed_ids || is_signed;
    append(path, 1, count, is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, ids);
  }

  std::string name_;
  KernelKind kernel_;
  Hdf5Handle file_;
  std::vector<double> mass_table_;
  std::vector<std::int64_t> counts_;
  bool has_ids_ = false;
  Bodies bodies_;
};

}  // namespace

Bodies read_hdf5(std::filesystem::path const& file, KernelKind kernel) {
  return SnapshotReader(file, kernel).read();
}

}  // namespace forces
