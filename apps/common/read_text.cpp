// SPDX-License-Identifier: BSD-3-Clause
// Bodies from text: a body a line, columns x y z q. Blanks, tabs and at most one comma separate two
// columns; a `#` starts a comment; the first line may name the columns, which may then come in
// another order and with others beside them that are known and not needed; so may a comment before
// the first body. Exponents may be Fortran's (1.5D+3).
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
#include <vector>

#include "bodies.hpp"
#include "user_error.hpp"

namespace forces {

namespace {

constexpr std::array<char const*, 4> column_names{"x", "y", "z", "q"};
constexpr std::size_t most_columns = 64;
using Fields = std::array<std::string_view, most_columns>;

/// The names that a header may have for each column. (px, py, pz are dipoles or momenta, and never
/// positions.)
constexpr std::array<std::array<std::string_view, 6>, 4> known_names{
    {{"x", "pos_x", "posx", "position_x", "coordinates_x", "x_pos"},
     {"y", "pos_y", "posy", "position_y", "coordinates_y", "y_pos"},
     {"z", "pos_z", "posz", "position_z", "coordinates_z", "z_pos"},
     {"q", "charge", "m", "mass", "charges", "masses"}}};
/// Names of columns that are known, and have no part in the sums.
constexpr std::array<std::string_view, 16> unused_names{
    "id",   "ids",        "particle_id", "particleids", "vx",   "vy",
    "vz",   "vel_x",      "vel_y",       "vel_z",       "velx", "vely",
    "velz", "velocity_x", "velocity_y",  "velocity_z"};
constexpr int unused = -1;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/// Splits a line at blanks and commas. A comma without a field before or after it makes an empty
/// field, so that a missing column is not closed up. Fields beyond the array are only counted.
std::size_t split(std::string_view line, Fields& fields) {
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

/// A number in the notation of C or Fortran, with a sign or without; nothing if the field is
/// anything else.
std::optional<double> parse_number(std::string_view field) {
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (field.empty()) return std::nullopt;
  if (end != field.data() + field.size()) {
    if (end == field.data() || (*end != 'd' && *end != 'D')) return std::nullopt;
    std::string in_c(field);
    in_c[static_cast<std::size_t>(end - field.data())] = 'e';
    return parse_number(in_c);
  }
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
      const auto comment = text.find('#');
      if (!begun_ && comment != std::string_view::npos && is_empty(text.substr(0, comment)))
        read_comment(text.substr(comment + 1));
      read_line(text.substr(0, comment));
    }
    if (stream_.bad() || !stream_.eof()) throw UserError(here() + ": the file cannot be read on");
    return std::move(bodies_);
  }

 private:
  std::string here() const { return name_ + ", line " + std::to_string(line_); }

  void read_line(std::string_view text) {
    Fields fields;
    const std::size_t count = split(text, fields);
    if (count == 0) return;
    const bool first = !std::exchange(begun_, true);
    if (first && is_header(fields, count)) {
      bodies_.notes.clear();  // what comments before it say does not matter
      return read_header(fields, count);
    }
    if (count != columns_.size())
      throw UserError(here() + ": " + std::to_string(count) + " columns are not allowed: " +
                      (has_header_ ? "the header names " + std::to_string(columns_.size())
                                   : std::string("four, x y z q")));
    std::array<double, 4> row{};
    for (std::size_t place = 0; place < count; ++place) {
      if (columns_[place] == unused) continue;
      const auto column = static_cast<std::size_t>(columns_[place]);
      const auto value = parse_number(fields[place]);
      const auto where = [&] { return here() + ", " + column_names[column]; };
      if (!value) throw fmm::InvalidArgument(where(), quoted(fields[place]), "a finite number");
      row[column] = *value;
      if (!std::isfinite(*value) || (column == 3 && *value < 0))
        column == 3 ? require_charge(*value, kernel_, where()) : require_finite(*value, where());
    }
    append(row);
  }

  static bool is_empty(std::string_view text) {
    return std::all_of(text.begin(), text.end(), is_blank);
  }

  /// A comment before the first body that names all of the columns, and nothing else, is a header,
  /// too. Of one that has some of the names in another way a note is made.
  void read_comment(std::string_view text) {
    Fields words;
    const std::size_t count = std::min(split(text, words), words.size());
    std::vector<std::string> names;
    std::array<bool, 4> found{};
    bool all_known = true;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = bare_name(words[i]);
      if (name.empty()) continue;  // a number or a unit
      names.push_back(name);
      const auto column = column_of(name);
      all_known = all_known && column;
      if (column && *column != unused) found[static_cast<std::size_t>(*column)] = true;
    }
    const auto known = std::count(found.begin(), found.end(), true);
    bodies_.notes.clear();
    if (known == 4 && all_known && names.size() <= most_columns) {
      Fields fields;
      std::copy(names.begin(), names.end(), fields.begin());
      read_header(fields, names.size());
    } else if (known > 0 && !has_header_) {
      bodies_.notes.push_back(
          here() + ": the comment " + quoted(text) +
          " does not name all columns in known words: they are taken as x y z q");
    }
  }

  /// A name as in a header, without its quotes, its number ("1:x", "[1]x") and its unit ("x[kpc]",
  /// "x(kpc)").
  static std::string bare_name(std::string_view field) {
    std::string name;
    int depth = 0;
    for (const char c : lower_case(field)) {
      if (c == '[' || c == '(') ++depth;
      if (depth == 0) name += c;
      if (c == ']' || c == ')') depth = std::max(0, depth - 1);
    }
    const auto letter = std::find_if(name.begin(), name.end(),
                                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    const bool is_numbered = std::all_of(name.begin(), letter, [](char c) {
      return (c >= '0' && c <= '9') || c == ':' || c == '.' || c == '=';
    });
    return is_numbered ? std::string(letter, name.end()) : name;
  }

  /// Which of x y z q that name is of, or `unused`; nothing if it is not known.
  static std::optional<int> column_of(std::string const& name) {
    if (std::find(unused_names.begin(), unused_names.end(), name) != unused_names.end())
      return unused;
    for (std::size_t column = 0; column < known_names.size(); ++column) {
      auto const& names = known_names[column];
      if (std::find(names.begin(), names.end(), name) != names.end())
        return static_cast<int>(column);
    }
    return std::nullopt;
  }

  /// A first line without any number names the columns.
  static bool is_header(Fields const& fields, std::size_t count) {
    for (std::size_t i = 0; i < std::min(count, fields.size()); ++i)
      if (parse_number(fields[i])) return false;
    return true;
  }

  /// Which of x y z q each column is. A line whose words are not all known is no header, but
  /// something that cannot be read as numbers.
  void read_header(Fields const& fields, std::size_t count) {
    const std::string header = here() + ": the header";
    if (count > fields.size())
      throw UserError(header + " names " + std::to_string(count) + " columns, more than " +
                      std::to_string(fields.size()));
    has_header_ = true;
    columns_.assign(count, unused);
    std::array<bool, 4> found{};
    for (std::size_t place = 0; place < count; ++place) {
      const auto column = column_of(bare_name(fields[place]));
      if (!column)
        throw UserError(here() + ": " + quoted(fields[place]) +
                        " is neither a number nor the known name of a column: x y z (or pos_x ..), "
                        "q, charge, m or mass; vx vy vz and id are passed over");
      if (*column == unused) continue;
      const auto index = static_cast<std::size_t>(*column);
      if (std::exchange(found[index], true))
        throw UserError(header + " names " + column_names[index] + " twice: " +
                        quoted(fields[place]) + " in place " + std::to_string(place + 1));
      columns_[place] = static_cast<int>(index);
    }
    for (std::size_t column = 0; column < 4; ++column)
      if (!found[column])
        throw UserError(
            header + " names " + std::to_string(count) + " columns, and none of them is " +
            (column == 3 ? "a charge or mass (q, charge, m, mass)" : column_names[column]));
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
  bool has_header_ = false;
  std::vector<int> columns_{0, 1, 2, 3};  // what stands in each place: x, y, z, q, or unused
  Bodies bodies_;
};

}  // namespace

Bodies read_text(std::filesystem::path const& file, KernelKind kernel) {
  return TextReader(file, kernel).read();
}

}  // namespace forces
