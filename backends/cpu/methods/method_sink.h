// SPDX-License-Identifier: Apache-2.0
// Stores the results of a method. Partial results are converted to the loop's dtype X, and values
// of X to the dtype and byte order of the output.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_SINK_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_SINK_H

#include <gufunc/backend.h>

#include "backends/cpu/loops/element_convert.h"
#include "backends/cpu/methods/method_fold.h"
#include "backends/cpu/methods/method_scratch.h"

namespace gufunc::cpu {

class Sink {
 public:
  // Prepares the conversion. Returns false if X has no cast to the output's dtype.
  bool open(const guf_method_block &block);

  // Returns whether a loop can write X to the output directly.
  bool direct() const { return direct_; }
  void put_values(const char *from, int64_t from_step, char *to, int64_t to_step,
                  int64_t count) const {
    converter_.row(to, to_step, from, from_step, count);
  }
  // Stores contiguous partial results. `initial` is NULL or a value of X. If it is not NULL, the
  // stored value is f(initial, partial result), or `initial` if there is no partial result.
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

#endif  // GUFUNC_BACKENDS_CPU_METHODS_METHOD_SINK_H
