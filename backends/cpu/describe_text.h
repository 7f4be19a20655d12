// SPDX-License-Identifier: Apache-2.0
// Words that the slots `describe_launch` and `describe_method` have in common.
#ifndef GUFUNC_BACKENDS_CPU_DESCRIBE_TEXT_H
#define GUFUNC_BACKENDS_CPU_DESCRIBE_TEXT_H

#include <cstddef>
#include <cstdint>

#include "backends/cpu/launch_strategy.h"

namespace gufunc::cpu {

// Text in the caller's room, cut off where that ends.
class TextRoom {
 public:
  TextRoom(char *to, size_t size) : to_(to), left_(size) {
    if (size > 0) *to = '\0';
  }

  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...);

 private:
  char *to_;
  size_t left_;
};

// The line of threads where one does all of `work`.
void describe_one_thread(SerialReason serial, uint64_t work, TextRoom *out);
// Its beginning where up to `threads` share `pieces`, each a `word`, and what limits them.
void describe_most_threads(uint32_t threads, uint64_t pieces, uint32_t max_threads,
                           const char *word, TextRoom *out);
// The highest level that loops are chosen for.
void describe_instructions(TextRoom *out);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_DESCRIBE_TEXT_H
