// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/methods/method_elements.h"

#include <cstring>

#include "backends/cpu/loops/dtype_layout.h"

namespace gufunc::cpu {

bool Sink::open(const guf_method_block &block) {
  const ElementForm form = form_of(block.output_dtype, block.output_flags);
  direct_ = block.output_dtype == block.loop_dtype && !form.swapped && !form.unaligned;
  return converter_.choose({block.loop_dtype, false, false}, form);
}

guf_status Sink::put(const Fold &fold, Lanes results, const char *initial, char *to,
                     int64_t to_step, int64_t count, MethodScratch &scratch) const {
  const MethodScratch::Scope scope(scratch);
  const int64_t size = fold.partial_bytes();
  if (initial != nullptr) {
    char *const first = scratch.allocate(size);
    if (first == nullptr) return GUF_E_NO_MEMORY;
    GUF_BACKEND_TRY(fold.load(initial, 0, first, 0, 1));
    if (results.present == nullptr) {
      GUF_BACKEND_TRY(fold.join(first, 0, results.value, size, results.value, size, count));
    }
    for (int64_t i = 0; results.present != nullptr && i < count; ++i) {
      char *const value = results.value + i * size;
      if (results.present[i] != 0) {
        GUF_BACKEND_TRY(fold.join(first, 0, value, size, value, size, 1));
      } else {
        std::memcpy(value, first, static_cast<size_t>(size));
      }
    }
  }
  const int64_t value_size = fold.value_bytes();
  char *values = results.value;
  if (size != value_size) {
    values = scratch.allocate(count * value_size);
    if (values == nullptr) return GUF_E_NO_MEMORY;
    GUF_BACKEND_TRY(fold.store(results.value, size, values, value_size, count));
  }
  put_values(values, value_size, to, to_step, count);
  return GUF_OK;
}

}  // namespace gufunc::cpu
