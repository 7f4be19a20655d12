// SPDX-License-Identifier: Apache-2.0
// A progress line on the terminal for long calls.
#ifndef GUFUNC_TOOLS_GUFUNC_PROGRESS_H
#define GUFUNC_TOOLS_GUFUNC_PROGRESS_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace gufunc::cli {

// Shows one line on stderr, from one second after construction: the ufunc, the amount of work and
// the elapsed time. The destructor erases it. A separate thread writes the line, so it is updated
// while the call blocks. Nothing is printed if stderr is not a terminal.
class ProgressLine {
 public:
  ProgressLine(std::string name, uint64_t elements);
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;
  ~ProgressLine();

  // Reports the finished part of the work, if it is known.
  void set_done(int64_t done, int64_t items);

 private:
  void show();
  void write(double seconds) const;

  std::string name_;
  uint64_t elements_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  int64_t done_ = 0, items_ = 0;  // items_ 0: unknown
  std::thread thread_;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_PROGRESS_H
