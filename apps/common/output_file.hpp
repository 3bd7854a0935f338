// SPDX-License-Identifier: BSD-3-Clause
// A file that appears when it is complete: it is written under a temporary name beside its place
// and renamed at the end, so that a failure leaves what was there before.
#pragma once

#include <filesystem>
#include <string_view>

namespace forces {

class OutputFile {
 public:
  /// `argument` ("--output") names the file's place in messages. Throws UserError if no file can be
  /// made there.
  OutputFile(std::string_view argument, std::filesystem::path const& place);
  ~OutputFile();  ///< Removes what was not committed.
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;

  /// Where to write: the temporary file; a device or a pipe is written directly.
  std::filesystem::path const& path() const { return temporary_.empty() ? place_ : temporary_; }

  /// The file is complete: gives it its name. Throws UserError.
  void commit();

  /// Throws UserError: the file could not be written.
  [[noreturn]] void fail(std::string_view why) const;

 private:
  std::string_view argument_;
  std::filesystem::path place_;
  std::filesystem::path temporary_;
};

/// Writes text as a whole.
void write_file(std::string_view argument, std::filesystem::path const& place,
                std::string_view text);

}  // namespace forces
