// SPDX-License-Identifier: BSD-3-Clause
// Bodies from text: a body a line, columns x y z q. Blanks, tabs and at most one comma separate two
// columns; a `#` starts a comment; the first line may name the columns, which may then come in
// another order and with others beside them that are known and not needed; so may a comment before
// the first body. With names there may be dipoles, px py pz, beside q or without; and in the place of q
// several densities, q0 q1 .. Of points x y z are enough. Exponents may be Fortran's (1.5D+3).
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

constexpr std::size_t most_columns = 64;
using Fields = std::array<std::string_view, most_columns>;

// Columns by number: positions, the charge, dipoles, and from `first_density` on one for each density.
constexpr int charge = 3, first_dipole = 4, first_density = 7;
constexpr std::array<char const*, 7> column_names{"x", "y", "z", "q", "px", "py", "pz"};
std::string name_of_column(int column) {
  return column < first_density ? column_names[static_cast<std::size_t>(column)]
                                : "q" + std::to_string(column - first_density);
}
bool is_charge(int column) { return column == charge || column >= first_density; }

/// The names that a header may have for each column. (px, py, pz are dipoles, and never positions.)
constexpr std::array<std::array<std::string_view, 6>, 7> known_names{
    {{"x", "pos_x", "posx", "position_x", "coordinates_x", "x_pos"},
     {"y", "pos_y", "posy", "position_y", "coordinates_y", "y_pos"},
     {"z", "pos_z", "posz", "position_z", "coordinates_z", "z_pos"},
     {"q", "charge", "m", "mass", "charges", "masses"},
     {"px", "dipole_x"},
     {"py", "dipole_y"},
     {"pz", "dipole_z"}}};
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

/// Which column stands in each place of a line.
class Columns {
 public:
  explicit Columns(bool only_points) : only_points_(only_points) {
    places_ = only_points ? std::vector{0, 1, 2} : std::vector{0, 1, 2, charge};
  }
  /// Those of names that are known. Says what is missing or there twice, or nothing.
  std::string set(std::vector<int> const& places) {
    places_ = places;
    std::vector<int> sorted;
    for (const int column : places)
      if (column != unused) sorted.push_back(column);
    std::sort(sorted.begin(), sorted.end());
    const auto has = [&](int column) {
      return std::binary_search(sorted.begin(), sorted.end(), column);
    };
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      return "names " + name_of_column(*twice) + " twice";
    densities_ =
        sorted.empty() || sorted.back() < first_density ? 0 : sorted.back() - first_density + 1;
    has_dipoles_ = has(first_dipole) || has(first_dipole + 1) || has(first_dipole + 2);
    const auto none = [&](std::string const& what) {
      return "names " + std::to_string(places.size()) + " columns, and none of them is " + what;
    };
    for (int column = 0; column < 3; ++column)
      if (!has(column)) return none(name_of_column(column));
    if (only_points_) return "";
    if (!has(charge) && densities_ == 0 && !has_dipoles_)
      return none("a charge or mass (q, charge, m, mass)");
    for (int column = first_dipole; column < first_density && has_dipoles_; ++column)
      if (!has(column)) return none(name_of_column(column));
    for (int k = 0; k < densities_; ++k)
      if (!has(first_density + k)) return none(name_of_column(first_density + k));
    if (densities_ > 0 && has(charge)) return "names both q and q0";
    if (densities_ > 0 && has_dipoles_) return "names dipoles beside several densities";
    return "";
  }

  std::size_t count() const { return places_.size(); }
  int at(std::size_t place) const {
    const int column = places_[place];
    return only_points_ && column >= charge ? unused : column;
  }
  int densities() const { return only_points_ ? 0 : densities_; }
  bool has_dipoles() const { return !only_points_ && has_dipoles_; }
  bool only_points() const { return only_points_; }
  /// What there is without a header.
  std::string usual() const { return only_points_ ? "three, x y z" : "four, x y z q"; }

 private:
  bool only_points_;
  std::vector<int> places_;
  int densities_ = 0;
  bool has_dipoles_ = false;
};

class TextReader {
 public:
  TextReader(std::filesystem::path const& file, Reading const& reading)
      : name_(file.string()),
        kernel_(reading.kernel),
        stream_(file),
        columns_(reading.only_points) {
    if (!stream_)
      throw UserError(std::string(reading.argument) + ": " + name_ +
                      " cannot be opened for reading");
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
    if (columns_.densities() > 0) bodies_.densities = columns_.densities();
    if (columns_.has_dipoles())
      bodies_.notes.push_back("px py pz are taken as dipoles: charge times length");
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
    if (count != columns_.count())
      throw UserError(here() + ": " + std::to_string(count) + " columns are not allowed: " +
                      (has_header_ ? "the header names " + std::to_string(columns_.count())
                                   : columns_.usual()));
    row_.assign(static_cast<std::size_t>(first_density + columns_.densities()), 0.0);
    for (std::size_t place = 0; place < count; ++place) {
      const int column = columns_.at(place);
      if (column == unused) continue;
      const auto value = parse_number(fields[place]);
      const auto where = [&] { return here() + ", " + name_of_column(column); };
      if (!value) throw fmm::InvalidArgument(where(), quoted(fields[place]), "a finite number");
      row_[static_cast<std::size_t>(column)] = *value;
      if (!std::isfinite(*value) || (is_charge(column) && *value < 0))
        is_charge(column) ? require_charge(*value, kernel_, where())
                          : require_finite(*value, where());
    }
    append();
  }

  static bool is_empty(std::string_view text) {
    return std::all_of(text.begin(), text.end(), is_blank);
  }

  /// A comment before the first body that names all of the columns, and nothing else, is a header,
  /// too. Of one that has some of the names in another way a note is made.
  void read_comment(std::string_view text) {
    Fields words;
    const std::size_t count = std::min(split(text, words), words.size());
    std::vector<int> places;
    bool all_known = true;
    std::size_t known = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = bare_name(words[i]);
      if (name.empty()) continue;  // a number or a unit
      const auto column = column_of(name);
      all_known = all_known && column;
      known += column && *column != unused;
      places.push_back(column.value_or(unused));
    }
    bodies_.notes.clear();
    Columns columns = columns_;
    if (all_known && columns.set(places).empty()) {
      columns_ = columns;
      has_header_ = true;
    } else if (known > 0 && !has_header_) {
      bodies_.notes.push_back(here() + ": the comment " + quoted(text) +
                              " does not name all columns in known words: they are taken as " +
                              (columns_.only_points() ? "x y z" : "x y z q"));
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

  /// Which column that name is of, or `unused`; nothing if it is not known.
  static std::optional<int> column_of(std::string const& name) {
    if (std::find(unused_names.begin(), unused_names.end(), name) != unused_names.end())
      return unused;
    for (std::size_t column = 0; column < known_names.size(); ++column) {
      auto const& names = known_names[column];
      if (std::find(names.begin(), names.end(), name) != names.end())
        return static_cast<int>(column);
    }
    if (name.size() < 2 || name[0] != 'q') return std::nullopt;
    int density = -1;  // q0, q1, ..
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), density);
    if (error == std::errc() && density >= 0 && density < static_cast<int>(most_columns) &&
        name.substr(1) == std::to_string(density))
      return first_density + density;
    return std::nullopt;
  }

  /// A first line without any number names the columns.
  static bool is_header(Fields const& fields, std::size_t count) {
    for (std::size_t i = 0; i < std::min(count, fields.size()); ++i)
      if (parse_number(fields[i])) return false;
    return true;
  }

  /// Which column stands in each place. A line whose words are not all known is no header, but
  /// something that cannot be read as numbers.
  void read_header(Fields const& fields, std::size_t count) {
    const std::string header = here() + ": the header ";
    if (count > fields.size())
      throw UserError(header + "names " + std::to_string(count) + " columns, more than " +
                      std::to_string(fields.size()));
    has_header_ = true;
    std::vector<int> places;
    for (std::size_t place = 0; place < count; ++place) {
      const auto column = column_of(bare_name(fields[place]));
      if (!column)
        throw UserError(
            here() + ": " + quoted(fields[place]) +
            " is neither a number nor the known name of a column: x y z (or pos_x ..), "
            "q, charge, m or mass, px py pz, q0 q1 ..; vx vy vz and id are passed over");
      places.push_back(*column);
    }
    if (const std::string what = columns_.set(places); !what.empty())
      throw UserError(header + what);
  }

  static std::string lower_case(std::string_view field) {
    std::string text;
    for (const char c : field)
      if (c != '"' && c != '\'') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return text;
  }

  void append() {
    const auto densities = static_cast<std::size_t>(columns_.densities());
    if (bodies_.positions.size() + 3 > bodies_.positions.capacity()) grow(densities);
    const auto add = [&](std::vector<double>& to, std::size_t first, std::size_t count) {
      const auto begin = row_.begin() + static_cast<std::ptrdiff_t>(first);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    add(bodies_.positions, 0, 3);
    if (columns_.only_points()) return;
    if (densities > 0)
      add(bodies_.charges, first_density, densities);
    else
      add(bodies_.charges, charge, 1);
    if (columns_.has_dipoles()) add(bodies_.dipoles, first_dipole, 3);
  }

  void grow(std::size_t densities) {
    const std::size_t count = std::max<std::size_t>(4096, 2 * (bodies_.positions.capacity() / 3));
    const std::size_t charges = columns_.only_points() ? 0 : std::max<std::size_t>(densities, 1),
                      dipoles = columns_.has_dipoles() ? 3 : 0,
                      bytes = count * (3 + charges + dipoles) * sizeof(double);
    require_host_memory("the bodies of " + name_, bytes);
    try {
      bodies_.positions.reserve(3 * count);
      bodies_.charges.reserve(charges * count);
      bodies_.dipoles.reserve(dipoles * count);
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
  Columns columns_;
  std::vector<double> row_;
  Bodies bodies_;
};

}  // namespace

Bodies read_text(std::filesystem::path const& file, Reading const& reading) {
  return TextReader(file, reading).read();
}

}  // namespace forces
