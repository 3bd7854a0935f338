// SPDX-License-Identifier: BSD-3-Clause
// Helper of test_program.py, which has no HDF5 of its own:
//   make_snapshot KIND FILE      writes a small snapshot; the kinds are in `edits` below
//   make_snapshot --print FILE   prints Potential, Field, Hessian and ParticleIDs of an output file as JSON
#include <hdf5.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

/// What a snapshot holds; edited to make the kinds. The expected bodies are in test_program.py.
struct Type {
  std::vector<double> coordinates;
  std::vector<double> masses;     // empty: no dataset
  std::vector<std::int64_t> ids;  // empty: no dataset
  std::vector<hsize_t> shape;     // of Coordinates
  hid_t real = H5T_IEEE_F64LE;    // of Coordinates and Masses
  hid_t id = H5T_STD_U64LE;       // of ParticleIDs
  bool has_coordinates = true;
};

struct Snapshot {
  std::map<int, Type> types;
  std::vector<double> mass_table{0, 0, 0, 0, 0, 0};
  std::vector<std::int64_t> counts;  // NumPart_ThisFile; empty: not written
  std::int64_t files = 1;
  bool has_header = true;
  std::vector<std::int64_t> totals = {};              // NumPart_Total; empty: not written
  double box = 0, time = 0, redshift = 0, omega = 0;  // of the header, if they are not 0
  bool is_open = false;                               // RuntimePars/PeriodicBoundariesOn = 0
  bool is_swift_cosmology = false;
};

/// How a dataset lies in the file, or is missing there.
enum class Storage { plain, chunked, some_chunks, unwritten, external, virtual_parts };
Storage storage_of_coordinates = Storage::plain;

/// Type 0 has masses and IDs, type 4 a mass in the table and single precision.
Snapshot gadget() {
  Snapshot s;
  s.types[0] = {{0, 0, 0, 1, 0, 0, 0, 2, 0}, {1, 2, 3}, {11, 12, 13}, {3, 3}};
  s.types[4] = {{0, 0, 3, 1, 1, 1}, {}, {21, 20}, {2, 3}};
  s.types[4].real = H5T_IEEE_F32LE;
  s.types[4].id = H5T_STD_U32LE;
  s.mass_table[4] = 0.5;
  s.counts = {3, 0, 0, 0, 2, 0};
  return s;
}

const std::map<std::string, std::function<void(Snapshot&)>> edits{
    {"gadget", [](Snapshot&) {}},
    {"swift",
     [](Snapshot& s) {  // more types, signed IDs, no mass table, two black hole masses
       for (auto& [number, type] : s.types) type.id = H5T_STD_I64LE;
       s.types[4].masses = {0.5, 0.5};
       s.mass_table.clear();
       s.counts = {3, 0, 0, 0, 2, 0, 0};
     }},
    {"many_types",  // by number, not by name: 10 after 4
     [](Snapshot& s) {
       s.types[10] = s.types[4];
       s.types[10].masses = {7, 8};
       s.types[10].ids = {31, 30};
       s.counts.clear();
     }},
    {"big_id", [](Snapshot& s) { s.types[0].ids[0] = -1; }},  // 2^64 - 1, unsigned
    {"no_header",
     [](Snapshot& s) {
       s.has_header = false;
       s.types.erase(4);
     }},
    {"no_ids", [](Snapshot& s) { s.types[0].ids = s.types[4].ids = {}; }},
    {"some_ids", [](Snapshot& s) { s.types[0].ids = {}; }},
    {"empty",
     [](Snapshot& s) {
       s.types.clear();
       s.counts.assign(6, 0);
     }},
    {"empty_type",
     [](Snapshot& s) {
       s.types[4] = {{}, {}, {}, {0, 3}};
       s.counts[4] = 0;
     }},
    {"no_masses", [](Snapshot& s) { s.mass_table[4] = 0; }},
    {"no_coordinates", [](Snapshot& s) { s.types[0].has_coordinates = false; }},
    {"flat_coordinates", [](Snapshot& s) { s.types[0].shape = {9}; }},
    {"integer_coordinates", [](Snapshot& s) { s.types[0].real = H5T_STD_I32LE; }},
    {"few_masses", [](Snapshot& s) { s.types[0].masses.pop_back(); }},
    {"few_ids", [](Snapshot& s) { s.types[0].ids.pop_back(); }},
    {"real_ids", [](Snapshot& s) { s.types[0].id = H5T_IEEE_F64LE; }},
    {"wrong_count", [](Snapshot& s) { s.counts[0] = 4; }},
    {"lost_types", [](Snapshot& s) { s.types.clear(); }},
    {"no_types",
     [](Snapshot& s) {
       s.types.clear();
       s.has_header = false;
     }},
    {"many_files", [](Snapshot& s) { s.files = 4; }},
    {"nan_coordinate", [](Snapshot& s) { s.types[0].coordinates[5] = std::nan(""); }},
    {"inf_mass", [](Snapshot& s) { s.types[0].masses[1] = HUGE_VAL; }},
    {"negative_mass", [](Snapshot& s) { s.types[0].masses[2] = -3; }},
    {"negative_table", [](Snapshot& s) { s.mass_table[4] = -0.5; }},
    {"totals", [](Snapshot& s) { s.totals = s.counts; }},
    {"a_part", [](Snapshot& s) { s.totals = {3, 0, 0, 0, 7, 0}; }},
    {"box", [](Snapshot& s) { s.box = 100; }},
    {"open_box",
     [](Snapshot& s) {
       s.box = 100;
       s.is_open = true;
     }},
    {"comoving",
     [](Snapshot& s) {
       s.time = 0.25;
       s.redshift = 3;
       s.omega = 0.3;
     }},
    {"not_comoving", [](Snapshot& s) { s.time = 1; }},
    {"swift_comoving", [](Snapshot& s) { s.is_swift_cosmology = true; }},
    {"chunked", [](Snapshot&) { storage_of_coordinates = Storage::chunked; }},
    {"some_chunks", [](Snapshot&) { storage_of_coordinates = Storage::some_chunks; }},
    {"unwritten", [](Snapshot&) { storage_of_coordinates = Storage::unwritten; }},
    {"external", [](Snapshot&) { storage_of_coordinates = Storage::external; }},
    {"virtual", [](Snapshot&) { storage_of_coordinates = Storage::virtual_parts; }},
};

void require(bool condition, char const* what) {
  if (condition) return;
  std::fprintf(stderr, "make_snapshot: %s\n", what);
  std::exit(1);
}

void write_dataset(hid_t group, char const* name, std::vector<hsize_t> const& shape,
                   hid_t file_type, hid_t memory_type, void const* data) {
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t set =
      H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  require(set >= 0, name);
  if (shape[0] > 0)
    require(H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, name);
  H5Dclose(set);
  H5Sclose(space);
}

/// Coordinates (N,3), N >= 2, stored in another way; files beside the snapshot are called
/// FILE.TYPE.raw and FILE.TYPE.0, FILE.TYPE.1; `file_name` is FILE.TYPE.
void write_stored(hid_t group, std::string const& file_name, std::vector<hsize_t> const& shape,
                  hid_t file_type, double const* data) {
  const hid_t space = H5Screate_simple(2, shape.data(), nullptr),
              plan = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t one_row[2] = {1, 3};
  const std::string name = file_name.substr(file_name.rfind('/') + 1);
  switch (storage_of_coordinates) {
    case Storage::chunked:
    case Storage::some_chunks:
      H5Pset_chunk(plan, 2, one_row);
      break;
    case Storage::external:
      H5Pset_external(plan, (file_name + ".raw").c_str(), 0, H5F_UNLIMITED);
      break;
    case Storage::virtual_parts:
      for (hsize_t part = 0; part < 2; ++part) {  // the first row, and all others
        const hsize_t begin[2] = {part, 0}, rows[2] = {part == 0 ? 1 : shape[0] - 1, 3};
        const std::string part_name = name + "." + std::to_string(part);
        const hid_t in_part = H5Screate_simple(2, rows, nullptr);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, rows, nullptr);
        H5Pset_virtual(plan, space, part_name.c_str(), "/rows", in_part);
        const hid_t file = H5Fcreate((file_name + "." + std::to_string(part)).c_str(),
                                     H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        write_dataset(file, "rows", {rows[0], 3}, file_type, H5T_NATIVE_DOUBLE, data + 3 * part);
        H5Fclose(file);
        H5Sclose(in_part);
      }
      H5Sselect_all(space);
      break;
    default:
      break;
  }
  const hid_t set =
      H5Dcreate2(group, "Coordinates", file_type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  require(set >= 0, "Coordinates");
  if (storage_of_coordinates == Storage::chunked || storage_of_coordinates == Storage::external)
    require(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0,
            "Coordinates");
  if (storage_of_coordinates == Storage::some_chunks) {
    const hsize_t begin[2] = {0, 0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, one_row, nullptr);
    const hid_t memory = H5Screate_simple(2, one_row, nullptr);
    require(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data) >= 0, "Coordinates");
    H5Sclose(memory);
  }
  H5Dclose(set);
  H5Pclose(plan);
  H5Sclose(space);
}

void write_attribute(hid_t group, char const* name, hsize_t count, hid_t type, void const* data) {
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  require(attribute >= 0 && H5Awrite(attribute, type, data) >= 0, name);
  H5Aclose(attribute);
  H5Sclose(space);
}

void write(Snapshot const& snapshot, char const* file_name) {
  const hid_t file = H5Fcreate(file_name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  require(file >= 0, file_name);
  if (snapshot.has_header) {
    const hid_t header = H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (!snapshot.mass_table.empty())
      write_attribute(header, "MassTable", snapshot.mass_table.size(), H5T_NATIVE_DOUBLE,
                      snapshot.mass_table.data());
    if (!snapshot.counts.empty())
      write_attribute(header, "NumPart_ThisFile", snapshot.counts.size(), H5T_NATIVE_INT64,
                      snapshot.counts.data());
    if (!snapshot.totals.empty())
      write_attribute(header, "NumPart_Total", snapshot.totals.size(), H5T_NATIVE_INT64,
                      snapshot.totals.data());
    write_attribute(header, "NumFilesPerSnapshot", 1, H5T_NATIVE_INT64, &snapshot.files);
    for (auto const& [name, value] : {std::pair("BoxSize", snapshot.box),
                                      {"Time", snapshot.time},
                                      {"Redshift", snapshot.redshift},
                                      {"Omega0", snapshot.omega}})
      if (value != 0) write_attribute(header, name, 1, H5T_NATIVE_DOUBLE, &value);
    H5Gclose(header);
  }
  const auto write_group = [&](char const* name, char const* attribute, int value) {
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    write_attribute(group, attribute, 1, H5T_NATIVE_INT, &value);
    H5Gclose(group);
  };
  if (snapshot.is_open) write_group("RuntimePars", "PeriodicBoundariesOn", 0);
  if (snapshot.is_swift_cosmology) write_group("Cosmology", "Cosmological run", 1);
  for (auto const& [number, type] : snapshot.types) {
    const std::string name = "PartType" + std::to_string(number);
    const hid_t group = H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (type.has_coordinates && storage_of_coordinates != Storage::plain)
      write_stored(group, std::string(file_name) + "." + name, type.shape, type.real,
                   type.coordinates.data());
    else if (type.has_coordinates)
      write_dataset(group, "Coordinates", type.shape, type.real, H5T_NATIVE_DOUBLE,
                    type.coordinates.data());
    if (!type.masses.empty())
      write_dataset(group, "Masses", {type.masses.size()}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                    type.masses.data());
    if (!type.ids.empty()) {
      const bool is_signed =
          H5Tget_class(type.id) == H5T_INTEGER && H5Tget_sign(type.id) == H5T_SGN_2;
      const bool real = H5Tget_class(type.id) == H5T_FLOAT;
      write_dataset(group, "ParticleIDs", {type.ids.size()}, type.id,
                    is_signed || real ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, type.ids.data());
    }
    H5Gclose(group);
  }
  require(H5Fclose(file) >= 0, file_name);
}

/// "NAME": [...], flat
template <class T>
void print_dataset(hid_t file, char const* name, hid_t memory_type, char const* format) {
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  const hid_t type = H5Dget_type(set);
  std::vector<T> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  require(values.empty() ||
              H5Dread(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0,
          name);
  hsize_t shape[3] = {0, 0, 0};
  const int rank = H5Sget_simple_extent_dims(space, shape, nullptr);
  std::printf("\"%s\": {\"shape\": [%llu", name, static_cast<unsigned long long>(shape[0]));
  for (int d = 1; d < rank; ++d) std::printf(", %llu", static_cast<unsigned long long>(shape[d]));
  std::printf(
      "], \"signed\": %s, \"values\": [",
      H5Tget_class(type) != H5T_INTEGER || H5Tget_sign(type) == H5T_SGN_2 ? "true" : "false");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) std::printf(", ");
    std::printf(format, values[i]);
  }
  std::printf("]}");
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(set);
}

void print(char const* file_name) {
  const hid_t file = H5Fopen(file_name, H5F_ACC_RDONLY, H5P_DEFAULT);
  require(file >= 0, file_name);
  std::printf("{");
  print_dataset<double>(file, "Potential", H5T_NATIVE_DOUBLE, "%.17g");
  std::printf(", ");
  print_dataset<double>(file, "Field", H5T_NATIVE_DOUBLE, "%.17g");
  std::printf(", ");
  if (H5Lexists(file, "Hessian", H5P_DEFAULT) > 0) {
    print_dataset<double>(file, "Hessian", H5T_NATIVE_DOUBLE, "%.17g");
    std::printf(", ");
  }
  print_dataset<unsigned long long>(file, "ParticleIDs", H5T_NATIVE_ULLONG, "%llu");
  std::printf("}\n");
  H5Fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 3, "KIND FILE or --print FILE");
  if (std::string(argv[1]) == "--print") {
    print(argv[2]);
    return 0;
  }
  const auto edit = edits.find(argv[1]);
  require(edit != edits.end(), "unknown kind");
  Snapshot snapshot = gadget();
  edit->second(snapshot);
  write(snapshot, argv[2]);
}
