// SPDX-License-Identifier: Apache-2.0
// The results of a method: partial results to the loop's X, and that to the output's dtype, byte
// order and place.
#ifndef GUFUNC_BACKENDS_CPU_METHOD_SINK_H
#define GUFUNC_BACKENDS_CPU_METHOD_SINK_H

#include <gufunc/backend.h>

#include "backends/cpu/element_convert.h"
#include "backends/cpu/method_fold.h"
#include "backends/cpu/method_scratch.h"

namespace gufunc::cpu {

class Sink {
 public:
  // False when X has no cast to the output's dtype.
  bool open(const guf_method_block &block);

  // Whether the output is X as a loop writes it.
  bool direct() const { return direct_; }
  void put_values(const char *from, int64_t from_step, char *to, int64_t to_step,
                  int64_t count) const {
    converter_.row(to, to_step, from, from_step, count);
  }
  // Partial results that lie together. `initial`: NULL, or a value of X that is the left operand
  // of each, and the result where there is none.
  guf_status put(const Fold &fold, Lanes results, const char *initial, char *to, int64_t to_step,
                 int64_t count, MethodScratch &scratch) const;
  void fill(const char *value, char *to, int64_t to_step, int64_t count) const {
    converter_.row(to, to_step, value, 0, count);
  }

 private:
  ElementConverter converter_;
  bool direct_ = false;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHOD_SINK_H
