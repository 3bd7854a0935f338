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

void write_csv(OutputFile& file, Results const& results) {
  constexpr std::size_t block = std::size_t{1} << 20;
  std::ofstream stream(file.path(), std::ios::binary);
  std::string text = "potential,field_x,field_y,field_z\n";
  const auto flush = [&] {
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  };
  for (std::size_t i = 0; i < results.size() && stream; ++i) {
    append_number(text, results.potential[i]);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      text += ',';
      append_number(text, results.field[3 * i + axis]);
    }
    text += '\n';
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

void write_hdf5(OutputFile const& output, Bodies const& bodies, Results const& results) {
  const hsize_t n = results.size();
  Hdf5Writer writer(output);
  writer.write("Potential", {n}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, results.potential.data());
  writer.write("Field", {n, 3}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, results.field.data());
  std::vector<std::uint64_t> counted;
  if (bodies.ids.empty()) {
    counted.resize(n);
    std::iota(counted.begin(), counted.end(), std::uint64_t{0});
  }
  const auto& ids = bodies.ids.empty() ? counted : bodies.ids;
  writer.write("ParticleIDs", {n}, bodies.signed_ids ? H5T_STD_I64LE : H5T_STD_U64LE,
               bodies.signed_ids ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, ids.data());
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

void write_output(std::filesystem::path const& file, Bodies const& bodies, Results const& results) {
  OutputFile output(argument, file);
  if (output_format(file) == OutputFormat::csv)
    write_csv(output, results);
  else
    write_hdf5(output, bodies, results);
  output.commit();
}

}  // namespace forces
