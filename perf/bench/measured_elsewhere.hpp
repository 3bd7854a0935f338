// SPDX-License-Identifier: BSD-3-Clause
// Errors that another program measures: results of one that is built for a CPU alone, whose vector units a CUDA build
// leaves unused, are compared on a GPU. Both know a folder. A question there is a file `*.question`: who measures
// it renames it, so that several may do so, and puts a file `*.answer` beside it. A file `end` ends that.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace elsewhere {

namespace fs = std::filesystem;

/// What bodies were summed with, and where errors are to be seen.
struct Question {
  std::uint64_t n = 0, check = 0;  ///< bodies, and targets at most
  double softening = 0;
  int kernel = 0;  ///< of fmm::runtime::Kernel
  bool is_mixed = false;
};
/// Four arrays, row after row.
struct Arrays {
  std::vector<double> positions, charges, potential, field;

  explicit Arrays(std::size_t n) : positions(3 * n), charges(n), potential(n), field(3 * n) {}
  template <class F>
  void each(F const& f) {
    for (auto* const array : {&positions, &charges, &potential, &field}) f(*array);
  }
};
struct Answer {
  double field_l2, field_p99, field_max, potential_l2, potential_p99, potential_max;
  std::uint64_t samples;
};

template <class T>
void put(std::ostream& to, T const* from, std::size_t count) {
  to.write(reinterpret_cast<char const*>(from), std::streamsize(count * sizeof(T)));
}
template <class T>
void get(std::istream& from, T* to, std::size_t count) {
  from.read(reinterpret_cast<char*>(to), std::streamsize(count * sizeof(T)));
  if (!from) throw std::runtime_error("measured_elsewhere: a file is too short");
}
/// Writes a file that is there at once.
template <class Write>
void put_file(fs::path const& path, Write const& write) {
  const fs::path part = path.string() + ".part";
  {
    std::ofstream to(part, std::ios::binary);
    write(to);
    if (!to.flush()) throw std::runtime_error("measured_elsewhere: cannot write " + part.string());
  }
  fs::rename(part, path);
}
inline void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

/// Has others measure it, and waits for the answer. Throws if that was ended.
inline Answer ask(fs::path const& folder, Question const& question, Arrays& arrays) {
  const fs::path name = folder / std::to_string(getpid());
  const fs::path answer_file = name.string() + ".answer";
  put_file(name.string() + ".question", [&](std::ostream& to) {
    put(to, &question, 1);
    arrays.each([&](auto const& array) { put(to, array.data(), array.size()); });
  });
  while (!fs::exists(answer_file)) {
    if (fs::exists(folder / "end")) throw std::runtime_error("measured_elsewhere: nobody answers");
    wait();
  }
  Answer answer;
  {
    std::ifstream from(answer_file, std::ios::binary);
    get(from, &answer, 1);
  }
  fs::remove(answer_file);
  return answer;
}

/// Answers what is asked, by measure(question, arrays), until the folder has a file `end`.
template <class Measure>
void serve(fs::path const& folder, Measure const& measure) {
  while (!fs::exists(folder / "end")) {
    bool was_asked = false;
    for (auto const& entry : fs::directory_iterator(folder)) {
      const fs::path path = entry.path();
      if (path.extension() != ".question") continue;
      const fs::path taken = fs::path(path).replace_extension(".taken");
      std::error_code error;
      fs::rename(path, taken, error);
      if (error) continue;  // another one has it
      was_asked = true;
      Question question;
      std::ifstream from(taken, std::ios::binary);
      get(from, &question, 1);
      Arrays arrays(question.n);
      arrays.each([&](auto& array) { get(from, array.data(), array.size()); });
      const Answer answer = measure(question, arrays);
      put_file(fs::path(path).replace_extension(".answer"),
               [&](std::ostream& to) { put(to, &answer, 1); });
      fs::remove(taken);
      break;  // the folder has changed
    }
    if (!was_asked) wait();
  }
}

}  // namespace elsewhere
