// SPDX-License-Identifier: BSD-3-Clause
// The error that the user can mend: a wrong file, a contradiction among arguments. Together with
// fmm::InvalidArgument it ends the program with exit code 2, every other exception with 1.
#pragma once

#include <stdexcept>
#include <string>

namespace forces {

class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `text` on one line and without control characters, as every message on stderr has to be.
inline std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

}  // namespace forces
