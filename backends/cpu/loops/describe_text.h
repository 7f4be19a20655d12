// SPDX-License-Identifier: Apache-2.0
// Common parts of the texts of `describe_launch` and `describe_method`.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_DESCRIBE_TEXT_H
#define GUFUNC_BACKENDS_CPU_LOOPS_DESCRIBE_TEXT_H

#include <cstddef>
#include <cstdint>

#include "backends/cpu/loops/launch_strategy.h"

namespace gufunc::cpu {

// Writes text to a buffer of the caller. Text that does not fit is truncated.
class TextBuffer {
 public:
  TextBuffer(char *to, size_t size) : to_(to), left_(size) {
    if (size > 0) *to = '\0';
  }

  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...);

 private:
  char *to_;
  size_t left_;
};

// Writes the line about threads for work that runs on one thread.
void describe_one_thread(SerialReason serial, uint64_t work, TextBuffer *out);
// Writes the beginning of the line about threads: the maximum number of threads and the reason
// for it. `word` is the name of a chunk of work.
void describe_most_threads(uint32_t threads, uint64_t chunks, uint32_t max_threads,
                           const char *word, TextBuffer *out);
// Writes the highest ISA level for which loops are selected.
void describe_instructions(TextBuffer *out);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_DESCRIBE_TEXT_H
