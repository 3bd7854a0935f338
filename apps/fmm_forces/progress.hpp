// SPDX-License-Identifier: BSD-3-Clause
// One line on the terminal that tells what a longer run is doing. It appears after two seconds,
// only where stderr is a terminal, and is gone at the end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace forces {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;

  /// What begins now.
  void phase(std::string text);

  /// Takes the line away, before something is printed; the next phase brings it back.
  void clear();

 private:
  void run();
  void erase();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string phase_;
  bool shown_ = false;
  bool ended_ = false;
  std::chrono::steady_clock::time_point const start_ = std::chrono::steady_clock::now();
  std::thread thread_;  // last: it uses the others
};

}  // namespace forces
