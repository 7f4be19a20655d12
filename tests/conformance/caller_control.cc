// SPDX-License-Identifier: Apache-2.0
// For the oracle: calls of the C API by a program that has set floating-point control words. Python
// and NumPy run under the default ones.
#include "tests/process_state/float_words.h"

#define GUFUNC_TEST_API extern "C" __attribute__((visibility("default")))

namespace {

// guf_call, guf_reduce and the like.
using Function = int32_t (*)(void *ufunc, void *args, void *error);

}  // namespace

// Returns what `function` returns under the control words. `*kept` is 1 if it left them as they
// were, else 0.
GUFUNC_TEST_API int32_t call_under_control(Function function, void *ufunc, void *args, void *error,
                                           uint32_t mxcsr, uint16_t x87, int32_t *kept) {
  const FloatWord word = {"drawn", mxcsr, x87};
  const WithWord scope(word);
  const int32_t status = function(ufunc, args, error);
  *kept = same_control(read_word(), word) ? 1 : 0;
  return status;
}

// Sets the words of the thread.
GUFUNC_TEST_API void set_control(uint32_t mxcsr, uint16_t x87) {
  set_word({"drawn", mxcsr, x87});
}
