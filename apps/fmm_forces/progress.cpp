// SPDX-License-Identifier: BSD-3-Clause
#include "progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace forces {

using namespace std::chrono_literals;

Progress::Progress() {
  if (::isatty(STDERR_FILENO)) thread_ = std::thread([this] { run(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  erase();
}

void Progress::phase(std::string text) {
  const std::lock_guard lock(mutex_);
  phase_ = std::move(text);
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  phase_.clear();
  erase();
}

void Progress::run() {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, 2s, [this] { return ended_; })) return;
  do {
    if (phase_.empty()) continue;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    std::fprintf(stderr, "\r\033[K[%.0f s] %s", elapsed.count(), phase_.c_str());
    std::fflush(stderr);
    shown_ = true;
  } while (!changed_.wait_for(lock, 500ms, [this] { return ended_; }));
}

void Progress::erase() {
  if (!std::exchange(shown_, false)) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace forces
