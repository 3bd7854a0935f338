// SPDX-License-Identifier: BSD-3-Clause
// What the program was built from and runs on.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace forces {

/// Name and version of the library, of what it is linked with and of the compiler.
std::vector<std::pair<std::string, std::string>> versions();

/// The commit that the program was configured at, or "unknown".
std::string commit();

/// The same on one line, for --version.
std::string version_text();

/// The model name of the host's processor.
std::string processor_name();

}  // namespace forces
