// SPDX-License-Identifier: BSD-3-Clause
#include "output_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "user_error.hpp"

namespace forces {

namespace fs = std::filesystem;

OutputFile::OutputFile(std::string_view argument, fs::path const& place)
    : argument_(argument), place_(place) {
  std::error_code error;
  if (place_.empty()) fail("no name");
  const fs::file_status status = fs::status(place_, error);
  if (fs::is_directory(status)) fail("it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) return;  // a device, a pipe
  // A link keeps being one: what it points at is replaced.
  if (fs::is_symlink(fs::symlink_status(place_, error))) {
    const fs::path target = fs::weakly_canonical(place_, error);
    if (!error) place_ = target;
  }
  if (fs::exists(status) && ::access(place_.c_str(), W_OK) != 0) fail(std::strerror(errno));

  std::string name = ".";
  name += place_.filename().string() + ".XXXXXX";
  name = (place_.parent_path() / name).string();
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) fail(std::strerror(errno));
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode =
      fs::exists(status) ? static_cast<mode_t>(status.permissions()) & 0777 : 0666 & ~mask;
  ::fchmod(descriptor, mode);
  ::close(descriptor);
  temporary_ = name;
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

void OutputFile::commit() {
  if (temporary_.empty()) return;
  std::error_code error;
  fs::rename(temporary_, place_, error);
  if (error) fail(error.message());
  temporary_.clear();
}

void OutputFile::fail(std::string_view why) const {
  throw UserError(std::string(argument_) + ": " + place_.string() +
                  " cannot be written: " + std::string(why));
}

void write_file(std::string_view argument, fs::path const& place, std::string_view text) {
  OutputFile file(argument, place);
  std::ofstream stream(file.path(), std::ios::binary);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (!stream) file.fail(std::strerror(errno));
  file.commit();
}

}  // namespace forces
