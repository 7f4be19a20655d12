// SPDX-License-Identifier: Apache-2.0
// The progress line of `gufunc bench`.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_PROGRESS_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_PROGRESS_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gufunc::cli {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Shows the progress in one line on stderr, if it is a terminal. Callers erase the line before they
// print anything else.
class BenchProgress {
 public:
  explicit BenchProgress(size_t rows);

  void begin_row(const std::string &what);
  void show_round(int64_t round);
  void erase() const;

 private:
  using Clock = std::chrono::steady_clock;

  void show(const std::string &state);

  const bool terminal_;
  size_t rows_, row_ = 0;
  std::string what_;
  Clock::time_point start_, shown_;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_PROGRESS_H
