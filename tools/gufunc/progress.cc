// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <system_error>
#include <utility>

#include "fatal_signals.h"

namespace gufunc::cli {

ProgressLine::ProgressLine(std::string name, uint64_t elements)
    : name_(std::move(name)), elements_(elements) {
  if (::isatty(STDERR_FILENO) != 1) return;
  const SignalsBlocked blocked;  // the new thread inherits the mask
  try {
    thread_ = std::thread([this] { show(); });
  } catch (const std::system_error &) {
    return;  // without a thread there is no progress line
  }
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ProgressLine::set_done(int64_t done, int64_t items) {
  const std::lock_guard lock(mutex_);
  done_ = done;
  items_ = items;
}

void ProgressLine::show() {
  constexpr std::chrono::milliseconds kFirst(1000), kTick(200);
  const auto start = std::chrono::steady_clock::now();
  bool shown = false;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, shown ? kTick : kFirst, [this] { return ended_; })) {
    write(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    shown = true;
  }
  if (shown) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::write(double seconds) const {
  char line[160];
  const std::string amount =
      items_ == 0
          ? fmt::format("{} element{}", elements_, elements_ == 1 ? "" : "s")
          : fmt::format("{:.0f} % of {} items",
                        100.0 * static_cast<double>(done_) / static_cast<double>(items_), items_);
  std::snprintf(line, sizeof line, "\r%.80s: %s, %.1f s ", name_.c_str(), amount.c_str(), seconds);
  std::fputs(line, stderr);
}

}  // namespace gufunc::cli
