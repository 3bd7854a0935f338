// SPDX-License-Identifier: BSD-3-Clause
// The two exceptions that the library throws: a wrong argument, found before any work is done, and
// memory that could not be had.
#pragma once

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "detail/finite_math.hpp"
#include "detail/rooms.hpp"
#include "detail/seldom.hpp"

namespace fmm {

namespace detail {

/// `value` as text: 17 significant digits for floating point, so that nothing is hidden by rounding.
template <class T>
FMM_SELDOM std::string to_text(T const& value) {
  std::ostringstream stream;
  if constexpr (std::is_floating_point_v<T>) stream.precision(17);
  stream << value;
  return stream.str();
}

}  // namespace detail

/// Thrown at the door: `what()` reads "theta = 1.5 is not allowed: 0 < theta <= 1".
class InvalidArgument : public std::invalid_argument {
 public:
  FMM_SELDOM InvalidArgument(std::string argument, std::string value, std::string allowed)
      : std::invalid_argument(argument + " = " + value + " is not allowed: " + allowed),
        argument_(std::move(argument)),
        value_(std::move(value)),
        allowed_(std::move(allowed)) {}

  template <class Value>
    requires(!std::is_convertible_v<Value, std::string>)
  InvalidArgument(std::string argument, Value const& value, std::string allowed)
      : InvalidArgument(std::move(argument), detail::to_text(value), std::move(allowed)) {}

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
class OutOfMemory : public std::runtime_error {
 public:
  FMM_SELDOM OutOfMemory(std::string const& label, std::size_t bytes)
      : std::runtime_error("out of memory: could not allocate " + std::to_string(bytes) +
                           " bytes for " + label),
        bytes_(bytes) {}

  /// The size of the allocation that failed.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
};

}  // namespace fmm
