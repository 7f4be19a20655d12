// SPDX-License-Identifier: Apache-2.0
// A line on a terminal while a call takes long.
#ifndef GUFUNC_TOOLS_GUFUNC_PROGRESS_H
#define GUFUNC_TOOLS_GUFUNC_PROGRESS_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace gufunc::cli {

// From the first second of its life on, one line on stderr tells the ufunc, how much and the time
// passed; the destructor wipes it. A thread of its own writes it, whatever the call waits for.
// Silent where stderr is no terminal.
class ProgressLine {
 public:
  ProgressLine(std::string name, uint64_t elements);
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;
  ~ProgressLine();

  // How much of the work is done, where that is known.
  void set_done(int64_t done, int64_t items);

 private:
  void show();
  void write(double seconds) const;

  std::string name_;
  uint64_t elements_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  int64_t done_ = 0, items_ = 0;  // items_ 0: not known
  std::thread thread_;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_PROGRESS_H
