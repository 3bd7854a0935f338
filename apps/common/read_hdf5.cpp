// SPDX-License-Identifier: BSD-3-Clause
// Bodies from a snapshot in the way of GADGET and SWIFT (HDF5): for every group PartType<t>, by the
// number t, the datasets Coordinates (N,3), Masses (N) and ParticleIDs (N). Masses may instead
// stand in the attribute MassTable of the group Header, one number a type; IDs may be absent.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

/// A text that HDF5 gives in two calls, of its length and of itself.
template <class Get>
std::string text_of(Get const& get) {
  const auto length = get(nullptr, 0);
  std::string text(static_cast<std::size_t>(std::max<decltype(length)>(0, length)), '\0');
  if (!text.empty()) get(text.data(), text.size() + 1);
  return text;
}

/// A prefix of file names that HDF5 takes from the environment; ${ORIGIN} is the folder of the file
/// that names others.
std::filesystem::path with_origin(std::string const& prefix, std::filesystem::path const& folder) {
  constexpr std::string_view origin = "${ORIGIN}";
  if (!prefix.starts_with(origin)) return prefix;
  return folder.string() + prefix.substr(origin.size());
}

/// Where HDF5 looks for the file of a virtual dataset's part, in its order; `parent` is the file
/// that names it.
std::vector<std::filesystem::path> places_of_part(std::string const& name,
                                                  std::string const& parent) {
  const std::filesystem::path file(name), folder = std::filesystem::path(parent).parent_path(),
                                          relative = file.is_relative() ? file : file.filename();
  std::vector<std::filesystem::path> places;
  if (file.is_absolute()) places.push_back(file);
  if (char const* const prefixes = std::getenv("HDF5_VDS_PREFIX")) {
    std::istringstream all(prefixes);
    for (std::string prefix; std::getline(all, prefix, ':');)
      if (!prefix.empty()) places.push_back(with_origin(prefix, folder) / relative);
  }
  places.push_back(folder / relative);
  places.push_back(relative);
  std::error_code error;  // where `parent` is a link, beside what it points to
  places.push_back(std::filesystem::weakly_canonical(parent, error).parent_path() / relative);
  return places;
}

/// The one place where HDF5 looks for a file of external data.
std::filesystem::path place_of_external(std::string const& name, std::string const& parent) {
  char const* const prefix = std::getenv("HDF5_EXTFILE_PREFIX");
  if (!prefix || *prefix == '\0' || std::filesystem::path(name).is_absolute()) return name;
  return with_origin(prefix, std::filesystem::path(parent).parent_path()) / name;
}

std::optional<std::string> missing_data(hid_t file, hid_t data, std::string const& name);

/// What is missing of part `i` of a virtual dataset.
std::optional<std::string> missing_part(hid_t file, hid_t plan, std::size_t i,
                                        std::string const& name) {
  const std::string source = text_of(
      [&](char* to, std::size_t size) { return H5Pget_virtual_filename(plan, i, to, size); });
  const std::string set = text_of(
      [&](char* to, std::size_t size) { return H5Pget_virtual_dsetname(plan, i, to, size); });
  const std::string part = "its part, dataset " + set + " of file " + source + ", ";
  if (source.find('%') != std::string::npos || set.find('%') != std::string::npos)
    return part + "is named by a pattern, which is not read";
  std::vector<Hdf5Handle> opened;
  std::string used = name;
  hid_t holder = source == "." ? file : hid_t{-1};
  if (holder < 0)
    for (auto const& place : places_of_part(source, name)) {
      Hdf5Handle candidate(H5Fopen(place.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
      if (!candidate) continue;
      used = place.string();
      holder = candidate;
      opened.push_back(std::move(candidate));
      break;
    }
  if (holder < 0) return part + "is missing";
  const Hdf5Handle data(H5Dopen2(holder, set.c_str(), H5P_DEFAULT), H5Dclose);
  if (!data) return part + "is missing";
  const Hdf5Handle wanted(H5Pget_virtual_srcspace(plan, i), H5Sclose),
      there(H5Dget_space(data), H5Sclose);
  const auto extents = extents_of(there);
  std::vector<hsize_t> first(extents.size()), last(extents.size());
  if (H5Sget_simple_extent_ndims(wanted) == static_cast<int>(extents.size()) &&
      H5Sget_select_bounds(wanted, first.data(), last.data()) >= 0)
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (last[d] >= extents[d] && last[d] != H5S_UNLIMITED) return part + "is too short";
  if (const auto missing = missing_data(holder, data, used)) return part + *missing;
  return std::nullopt;
}

/// What HDF5 would read as zeros from a dataset of `file`, called `name`, without a word: parts of
/// a virtual dataset that are not there, external files that are too short, and what was never
/// written.
std::optional<std::string> missing_data(hid_t file, hid_t data, std::string const& name) {
  const Hdf5Handle plan(H5Dget_create_plist(data), H5Pclose), space(H5Dget_space(data), H5Sclose);
  const auto extents = extents_of(space);
  const H5D_layout_t layout = H5Pget_layout(plan);
  if (layout == H5D_VIRTUAL) {
    std::size_t parts = 0;
    H5Pget_virtual_count(plan, &parts);
    hsize_t mapped = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      if (const auto missing = missing_part(file, plan, i, name)) return missing;
      const Hdf5Handle region(H5Pget_virtual_vspace(plan, i), H5Sclose);
      const hssize_t points = H5Sget_select_npoints(region);
      const bool all = points < 0 || static_cast<hsize_t>(points) == H5S_UNLIMITED;
      mapped += all ? static_cast<hsize_t>(H5Sget_simple_extent_npoints(space))
                    : static_cast<hsize_t>(points);
    }
    if (mapped < static_cast<hsize_t>(H5Sget_simple_extent_npoints(space)))
      return "only " + std::to_string(mapped) + " of its numbers have a part that they come from";
    return std::nullopt;
  }
  if (const int files = H5Pget_external_count(plan); files > 0) {
    hsize_t left = static_cast<hsize_t>(H5Sget_simple_extent_npoints(space)) *
                   H5Tget_size(Hdf5Handle(H5Dget_type(data), H5Tclose));
    for (unsigned i = 0; i < static_cast<unsigned>(files) && left > 0; ++i) {
      std::array<char, 4096> external{};
      off_t offset = 0;
      hsize_t bytes = 0;
      H5Pget_external(plan, i, external.size() - 1, external.data(), &offset, &bytes);
      const hsize_t wanted = std::min(bytes, left);
      std::error_code error;
      const auto size = std::filesystem::file_size(place_of_external(external.data(), name), error);
      if (error || size < static_cast<hsize_t>(offset) + wanted)
        return "its external file " + std::string(external.data()) + " is missing or too short";
      left -= wanted;
    }
    return std::nullopt;
  }
  H5D_space_status_t status{};
  H5Dget_space_status(data, &status);
  if (layout != H5D_COMPACT && status == H5D_SPACE_STATUS_NOT_ALLOCATED)
    return std::string("it was never written");
  if (layout == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(extents.size());
    H5Pget_chunk(plan, static_cast<int>(chunk.size()), chunk.data());
    hsize_t all = 1, written = 0;
    for (std::size_t d = 0; d < extents.size(); ++d)
      all *= (extents[d] + chunk[d] - 1) / std::max<hsize_t>(1, chunk[d]);
    if (H5Dget_num_chunks(data, space, &written) >= 0 && written < all)
      return "only " + std::to_string(written) + " of its " + std::to_string(all) +
             " chunks were written";
  }
  return std::nullopt;
}

class SnapshotReader {
 public:
  SnapshotReader(std::filesystem::path const& file, Reading const& reading)
      : name_(file.string()),
        reading_(reading),
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

    check_totals();
    note_what_is_left_out();
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
    throw UserError(std::string(reading_.argument) + ": " + name_ +
                    (object.empty() ? "" : ", " + object) + ": " + what);
  }

  /// An attribute of a group, as numbers; empty if it is not there, nothing if it cannot be read as
  /// numbers.
  template <class T>
  std::optional<std::vector<T>> attribute(char const* group, char const* name,
                                          hid_t memory_type) const {
    std::vector<T> values;
    if (H5Lexists(file_, group, H5P_DEFAULT) <= 0 ||
        H5Aexists_by_name(file_, group, name, H5P_DEFAULT) <= 0)
      return values;
    const Hdf5Handle id(H5Aopen_by_name(file_, group, name, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const Hdf5Handle space(H5Aget_space(id), H5Sclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    values.resize(static_cast<std::size_t>(std::max<hssize_t>(0, count)));
    if (count < 0 || H5Aread(id, memory_type, values.data()) < 0) return std::nullopt;
    return values;
  }

  /// One of the group Header.
  template <class T>
  std::vector<T> header(char const* name, hid_t memory_type) const {
    const auto values = attribute<T>("Header", name, memory_type);
    if (!values) fail(std::string("Header/") + name, "the attribute cannot be read as numbers");
    return *values;
  }

  /// The largest number of an attribute; 0 if it is not there or no number.
  double largest(char const* group, char const* name) const {
    const auto values = attribute<double>(group, name, H5T_NATIVE_DOUBLE);
    if (!values || values->empty()) return 0;
    return *std::max_element(values->begin(), values->end());
  }
  bool is_zero(char const* group, char const* name) const {
    const auto values = attribute<double>(group, name, H5T_NATIVE_DOUBLE);
    return values && !values->empty() && values->front() == 0;
  }

  /// A file that counts fewer bodies than its snapshot has is a part of it, whatever it says of its
  /// parts.
  void check_totals() const {
    const auto low = attribute<std::int64_t>("Header", "NumPart_Total", H5T_NATIVE_INT64),
               high = attribute<std::int64_t>("Header", "NumPart_Total_HighWord", H5T_NATIVE_INT64);
    if (!low || !high) return;
    for (std::size_t type = 0; type < std::min(low->size(), counts_.size()); ++type) {
      const std::int64_t words = type < high->size() ? (*high)[type] << 32 : 0;
      if (const std::int64_t all = (*low)[type] + words; all > counts_[type])
        fail("Header/NumPart_Total", std::to_string(all) + " bodies of type " +
                                         std::to_string(type) + ", of which this file has " +
                                         std::to_string(counts_[type]));
    }
  }

  /// A periodic box, and comoving coordinates: sums are those of the coordinates as they are.
  void note_what_is_left_out() {
    const double box = largest("Header", "BoxSize");
    if (box > 0 && !is_zero("RuntimePars", "PeriodicBoundariesOn")) bodies_.box = box;
    const double redshift = largest("Header", "Redshift"), time = largest("Header", "Time");
    const bool by_time =
        largest("Header", "Omega0") > 0 && std::abs(time * (1 + redshift) - 1) < 1e-6;
    if (by_time || largest("Parameters", "ComovingIntegrationOn") > 0 ||
        largest("Cosmology", "Cosmological run") > 0)
      bodies_.notes.push_back("the snapshot is comoving (redshift " + fmm::to_text(redshift) +
                              "), and its coordinates are taken as they are");
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
    if (!reading_.only_points) read_masses(group, index, before, count);
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

    if (extents[0] > 0)
      if (const auto missing = missing_data(file_, data, name_)) fail(path, *missing);

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
          require_charge(bodies_.charges[i], reading_.kernel,
                         name_ + ", " + path + "[" + std::to_string(i - before) + "]");
      return;
    }
    const double mass = type < mass_table_.size() ? mass_table_[type] : 0;
    if (mass == 0 && count > 0)
      fail(group, "no dataset Masses, and no mass of this type in Header/MassTable");
    require_charge(mass, reading_.kernel,
                   name_ + ", Header/MassTable[" + std::to_string(type) + "]");
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
  Reading reading_;
  Hdf5Handle file_;
  std::vector<double> mass_table_;
  std::vector<std::int64_t> counts_;
  bool has_ids_ = false;
  Bodies bodies_;
};

}  // namespace

Bodies read_hdf5(std::filesystem::path const& file, Reading const& reading) {
  return SnapshotReader(file, reading).read();
}

}  // namespace forces
