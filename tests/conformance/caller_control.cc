// SPDX-License-Identifier: Apache-2.0
// Calls C API functions for the oracle under floating-point control words that differ from the
// default. Python and NumPy use the default control words.
#include "tests/process_state/float_words.h"

#define GUFUNC_TEST_API extern "C" __attribute__((visibility("default")))

namespace {

// The type of guf_call, guf_reduce and similar functions.
using Function = int32_t (*)(void *ufunc, void *args, void *error);

}  // namespace

// Calls `function` under the given control words and returns its result. Sets `*kept` to 1 if the
// function preserved the control words, otherwise to 0.
GUFUNC_TEST_API int32_t call_under_control(Function function, void *ufunc, void *args, void *error,
                                           uint32_t mxcsr, uint16_t x87, int32_t *kept) {
  const FloatWord word = {"drawn", mxcsr, x87};
  const WithWord scope(word);
  const int32_t status = function(ufunc, args, error);
  *kept = same_control(read_word(), word) ? 1 : 0;
  return status;
}

// Sets the control words of the thread.
GUFUNC_TEST_API void set_control(uint32_t mxcsr, uint16_t x87) {
  set_word({"drawn", mxcsr, x87});
}
