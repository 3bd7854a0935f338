// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>

#include "hdf5_handle.hpp"
#include "output_file.hpp"
#include "results.hpp"
#include "user_error.hpp"

namespace forces {

namespace {

constexpr char argument[] = "--output";

/// Appends `value` with 17 significant digits, which give the same double when read.
void append_number(std::string& text, double value) {
  std::array<char, 40> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                          std::chars_format::general, 17);
  text.append(digits.data(), end);
}

/// One of the results, as it is called in either format.
struct Column {
  std::vector<double> const& numbers;
  std::size_t row;  ///< numbers of a target and density
  char const* dataset;
  std::array<char const*, 6> names;
};
std::vector<Column> columns_of(Results const& results) {
  std::vector<Column> columns{{results.potential, 1, "Potential", {"potential"}},
                              {results.field, 3, "Field", {"field_x", "field_y", "field_z"}}};
  if (results.has_hessian)
    columns.push_back(
        {results.hessian,
         6,
         "Hessian",
         {"hessian_xx", "hessian_yy", "hessian_zz", "hessian_xy", "hessian_xz", "hessian_yz"}});
  return columns;
}

void write_csv(OutputFile& file, std::size_t targets, Results const& results) {
  constexpr std::size_t block = std::size_t{1} << 20;
  std::ofstream stream(file.path(), std::ios::binary);
  const auto columns = columns_of(results);
  const auto densities = static_cast<std::size_t>(results.densities.value_or(1));
  std::string text;
  /// Calls add(column, density, number) for each number of a line.
  const auto for_line = [&](auto const& add) {
    for (std::size_t k = 0; k < densities; ++k)
      for (auto const& column : columns)
        for (std::size_t c = 0; c < column.row; ++c) {
          add(column, k, c);
          text += ',';
        }
    text.back() = '\n';
  };
  const auto flush = [&] {
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  };
  for_line([&](Column const& column, std::size_t k, std::size_t c) {
    text += column.names[c];
    if (results.densities) text += "_" + std::to_string(k);
  });
  for (std::size_t i = 0; i < targets && stream; ++i) {
    for_line([&](Column const& column, std::size_t k, std::size_t c) {
      append_number(text, column.numbers[(i * densities + k) * column.row + c]);
    });
    if (text.size() > block) flush();
  }
  flush();
  stream.close();
  if (!stream) file.fail(std::strerror(errno));
}

class Hdf5Writer {
 public:
  explicit Hdf5Writer(OutputFile const& output)
      : output_(output),
        file_(H5Fcreate(output.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose) {
    if (!file_) output_.fail("HDF5 cannot create it");
  }

  void write(char const* name, std::vector<hsize_t> const& extents, hid_t file_type,
             hid_t memory_type, void const* data) const {
    const Hdf5Handle space(
        H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
    Hdf5Handle set(H5Dcreate2(file_, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Dclose);
    const bool written = set && (extents[0] == 0 || H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL,
                                                             H5P_DEFAULT, data) >= 0);
    if (!set.close() || !written) output_.fail(std::string("HDF5 cannot write ") + name);
  }

  void close() {
    if (!file_.close()) output_.fail("HDF5 cannot complete it");
  }

 private:
  OutputFile const& output_;
  Hdf5Handle file_;
};

void write_hdf5(OutputFile const& output, Bodies const& targets, Results const& results) {
  const hsize_t n = targets.size();
  Hdf5Writer writer(output);
  for (auto const& column : columns_of(results)) {
    std::vector<hsize_t> extents{n};
    if (results.densities) extents.push_back(static_cast<hsize_t>(*results.densities));
    if (column.row > 1) extents.push_back(column.row);
    writer.write(column.dataset, extents, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, column.numbers.data());
  }
  std::vector<std::uint64_t> counted;
  if (targets.ids.empty()) {
    counted.resize(n);
    std::iota(counted.begin(), counted.end(), std::uint64_t{0});
  }
  const auto& ids = targets.ids.empty() ? counted : targets.ids;
  writer.write("ParticleIDs", {n}, targets.signed_ids ? H5T_STD_I64LE : H5T_STD_U64LE,
               targets.signed_ids ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, ids.data());
  writer.close();
}

}  // namespace

OutputFormat output_format(std::filesystem::path const& file) {
  const auto extension = file.extension();
  if (extension == ".csv") return OutputFormat::csv;
  if (extension == ".hdf5" || extension == ".h5") return OutputFormat::hdf5;
  throw UserError("--output = " + file.string() +
                  " is not allowed: a name that ends in .csv, .hdf5 or .h5");
}

void write_output(std::filesystem::path const& file, Bodies const& targets,
                  Results const& results) {
  OutputFile output(argument, file);
  if (output_format(file) == OutputFormat::csv)
    write_csv(output, targets.size(), results);
  else
    write_hdf5(output, targets, results);
  output.commit();
}

}  // namespace forces
