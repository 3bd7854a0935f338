// SPDX-License-Identifier: BSD-3-Clause
// Bodies from text: a body a line, columns x y z q. Blanks, tabs and at most one comma separate two
// columns; a `#` starts a comment; the first line may name the columns.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bodies.hpp"
#include "user_error.hpp"

namespace forces {

namespace {

constexpr std::array<char const*, 4> column_names{"x", "y", "z", "q"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/// Splits a line at blanks and commas. A comma without a field before or after it makes an empty
/// field, so that a missing column is not closed up. Fields beyond the array are only counted.
std::size_t split(std::string_view line, std::array<std::string_view, 4>& fields) {
  std::size_t count = 0, at = 0;
  const auto skip_blanks = [&] {
    while (at < line.size() && is_blank(line[at])) ++at;
  };
  skip_blanks();
  while (at < line.size()) {
    const std::size_t start = at;
    while (at < line.size() && !is_blank(line[at]) && line[at] != ',') ++at;
    if (count < fields.size()) fields[count] = line.substr(start, at - start);
    ++count;
    skip_blanks();
    if (at < line.size() && line[at] == ',') {
      ++at;
      skip_blanks();
      if (at == line.size()) ++count;  // a comma at the end: one more field, an empty one
    }
  }
  return count;
}

/// A number in C's notation, with a sign or without; nothing if the field is anything else.
std::optional<double> parse_number(std::string_view field) {
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (field.empty() || end != field.data() + field.size()) return std::nullopt;
  // Too large (infinite then, refused later) or too small (zero or subnormal).
  if (error == std::errc::result_out_of_range)
    return std::strtod(std::string(field).c_str(), nullptr);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::string quoted(std::string_view field) {
  constexpr std::size_t longest = 40;
  std::string text(field.substr(0, longest));
  if (field.size() > longest) text += "...";
  return "'" + text + "'";
}

class TextReader {
 public:
  TextReader(std::filesystem::path const& file, KernelKind kernel)
      : name_(file.string()), kernel_(kernel), stream_(file) {
    if (!stream_) throw UserError("--input: " + name_ + " cannot be opened for reading");
  }

  Bodies read() {
    std::string line;
    while (std::getline(stream_, line)) {
      ++line_;
      std::string_view text = line;
      if (line_ == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
      read_line(text.substr(0, text.find('#')));
    }
    if (stream_.bad() || !stream_.eof()) throw UserError(here() + ": the file cannot be read on");
    return std::move(bodies_);
  }

 private:
  std::string here() const { return name_ + ", line " + std::to_string(line_); }

  void read_line(std::string_view text) {
    std::array<std::string_view, 4> fields;
    const std::size_t count = split(text, fields);
    if (count == 0) return;
    const bool first = !std::exchange(begun_, true);
    if (first && is_header(fields, count)) return check_header(fields, count);
    if (count != fields.size())
      throw UserError(here() + ": " + std::to_string(count) +
                      " columns are not allowed: four, x y z q");
    std::array<double, 4> row{};
    for (std::size_t column = 0; column < row.size(); ++column) {
      const auto value = parse_number(fields[column]);
      const auto where = [&] { return here() + ", " + column_names[column]; };
      if (!value) throw fmm::InvalidArgument(where(), quoted(fields[column]), "a finite number");
      row[column] = *value;
      if (!std::isfinite(*value) || (column == 3 && *value < 0))
        column == 3 ? require_charge(*value, kernel_, where()) : require_finite(*value, where());
    }
    append(row);
  }

  /// A first line without any number names the columns.
  static bool is_header(std::array<std::string_view, 4> const& fields, std::size_t count) {
    for (std::size_t i = 0; i < std::min(count, fields.size()); ++i)
      if (parse_number(fields[i])) return false;
    return true;
  }

  void check_header(std::array<std::string_view, 4> const& fields, std::size_t count) const {
    if (count != fields.size())
      throw UserError(here() + ": the header names " + std::to_string(count) +
                      " columns, not four (x y z q)");
    for (std::size_t i = 0; i < fields.size(); ++i)
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (axis != i && lower_case(fields[i]) == column_names[axis])
          throw UserError(here() + ": the header has column '" + column_names[axis] +
                          "' in place " + std::to_string(i + 1) + ", but the order is x y z q");
  }

  static std::string lower_case(std::string_view field) {
    std::string text;
    for (const char c : field)
      if (c != '"' && c != '\'') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return text;
  }

  void append(std::array<double, 4> const& row) {
    if (bodies_.charges.size() == bodies_.charges.capacity()) grow();
    bodies_.positions.insert(bodies_.positions.end(), row.begin(), row.begin() + 3);
    bodies_.charges.push_back(row[3]);
  }

  void grow() {
    const std::size_t count = std::max<std::size_t>(4096, 2 * bodies_.charges.capacity());
    const std::size_t bytes = count * 4 * sizeof(double);
    require_host_memory("the bodies of " + name_, bytes);
    try {
      bodies_.positions.reserve(3 * count);
      bodies_.charges.reserve(count);
    } catch (std::bad_alloc const&) {
      throw fmm::OutOfMemory("the bodies of " + name_, bytes);
    }
  }

  std::string name_;
  KernelKind kernel_;
  std::ifstream stream_;
  std::size_t line_ = 0;
  bool begun_ = false;  // a line with content was seen
  Bodies bodies_;
};

}  // namespace

Bodies read_text(std::filesystem::path const& file, KernelKind kernel) {
  return TextReader(file, kernel).read();
}

}  // namespace forces
