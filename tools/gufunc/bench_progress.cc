// SPDX-License-Identifier: Apache-2.0
#include "bench_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace gufunc::cli {
BenchProgress::BenchProgress(size_t rows) : terminal_(::isatty(STDERR_FILENO) == 1), rows_(rows) {}

void BenchProgress::begin_row(const std::string &what) {
  ++row_;
  what_ = what;
  start_ = Clock::now();
  show("preparing");
}

void BenchProgress::show_round(int64_t round) {
  if (seconds_since(shown_) > 0.2) show(fmt::format("round {}", round));
}

void BenchProgress::erase() const {
  if (terminal_) std::fputs("\r\x1b[K", stderr);
}

void BenchProgress::show(const std::string &state) {
  if (!terminal_) return;
  const std::string line = fmt::format("row {} of {}: {}, {}, {:.1f} s", row_, rows_, what_, state,
                                       seconds_since(start_));
  std::fputs(fmt::format("\r\x1b[K{:.100}", line).c_str(), stderr);
  shown_ = Clock::now();
}

}  // namespace gufunc::cli
