// SPDX-License-Identifier: BSD-3-Clause
// The two exceptions that the library throws: a wrong argument, found before any work is done, and
// memory that could not be had.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "detail/finite_math.hpp"
#include "detail/noinline.hpp"
#include "detail/rooms.hpp"
#include "detail/visible.hpp"

namespace fmm {

/// `value` as text: of floating point as many digits, up to 17, as tell it from all others.
FMM_NOINLINE inline std::string to_text(double value) {
  char text[32];
  int length = 0;
  for (int digits = 15; digits <= 17; ++digits) {
    length = std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return {text, std::size_t(length)};
}
FMM_NOINLINE inline std::string to_text(long long value) {
  char text[32];
  return {text, std::size_t(std::snprintf(text, sizeof text, "%lld", value))};
}
FMM_NOINLINE inline std::string to_text(unsigned long long value) {
  char text[32];
  return {text, std::size_t(std::snprintf(text, sizeof text, "%llu", value))};
}

namespace detail {

/// Pieces of text, one after the other.
FMM_NOINLINE inline std::string joined(std::initializer_list<std::string_view> pieces) {
  std::string text;
  for (const std::string_view piece : pieces) text.append(piece.data(), piece.size());
  return text;
}

template <class Number>
using Integer = std::conditional_t<std::is_signed_v<Number>, long long, unsigned long long>;

/// What a message consists of: text, or a number. One type, whose members are kept out of the code around a throw.
class Text {
 public:
  FMM_NOINLINE Text(std::string const& text) : text_(text) {}
  FMM_NOINLINE Text(std::string_view text) : text_(text) {}
  FMM_NOINLINE Text(char const* text) : text_(text) {}
  template <class Number, std::enable_if_t<std::is_floating_point_v<Number>, int> = 0>
  Text(Number value) : text_(to_text(double(value))) {}
  template <class Number, std::enable_if_t<std::is_integral_v<Number>, int> = 0>
  Text(Number value) : text_(to_text(Integer<Number>(value))) {}
  FMM_NOINLINE ~Text() {}

  std::string const& string() const { return text_; }

 private:
  std::string text_;
};

}  // namespace detail

/// Thrown at the door: `what()` reads "theta = 1.5 is not allowed: 0 < theta <= 1".
class FMM_VISIBLE InvalidArgument : public std::invalid_argument {
 public:
  /// The value may be a number.
  FMM_NOINLINE InvalidArgument(detail::Text const& argument, detail::Text const& value,
                               detail::Text const& allowed)
      : std::invalid_argument(detail::joined(
            {argument.string(), " = ", value.string(), " is not allowed: ", allowed.string()})),
        argument_(argument.string()),
        value_(value.string()),
        allowed_(allowed.string()) {}

  /// The argument's name, a body's index included ("positions(17, 2)").
  std::string const& argument() const noexcept { return argument_; }
  /// The value that was handed in, as text.
  std::string const& value() const noexcept { return value_; }
  /// What is allowed instead.
  std::string const& allowed() const noexcept { return allowed_; }

 private:
  std::string argument_;
  std::string value_;
  std::string allowed_;
};

/// Device or host memory ran out; nothing that the caller owns was changed.
class FMM_VISIBLE OutOfMemory : public std::runtime_error {
 public:
  FMM_NOINLINE OutOfMemory(std::string const& label, std::size_t bytes)
      : std::runtime_error(detail::joined({"out of memory: could not allocate ",
                                           to_text(static_cast<unsigned long long>(bytes)),
                                           " bytes for ", label})),
        bytes_(bytes) {}

  /// The size of the allocation that failed.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
};

}  // namespace fmm
