/* SPDX-License-Identifier: Apache-2.0
 * Repeats one call in C, so that against_numpy.py measures the library without ctypes. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <gufunc/gufunc.h>
#include <time.h>

#define REPEAT(name, args_type, function)                                                        \
  __attribute__((visibility("default"))) double name(guf_ufunc ufunc, args_type *args,           \
                                                     int64_t times);                             \
  /* Nanoseconds per call, or -status of the first failure. */                                   \
  double name(guf_ufunc ufunc, args_type *args, int64_t times) {                                 \
    struct timespec start, end;                                                                  \
    clock_gettime(CLOCK_MONOTONIC, &start);                                                      \
    for (int64_t i = 0; i < times; ++i) {                                                        \
      const guf_status status = function(ufunc, args, NULL);                                     \
      if (status != GUF_OK) return -(double)status;                                              \
    }                                                                                            \
    clock_gettime(CLOCK_MONOTONIC, &end);                                                        \
    return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / \
           (double)times;                                                                        \
  }

REPEAT(repeat_call, guf_call_args, guf_call)
REPEAT(repeat_reduce, guf_reduce_args, guf_reduce)
REPEAT(repeat_accumulate, guf_accumulate_args, guf_accumulate)
REPEAT(repeat_reduceat, guf_accumulate_args, guf_reduceat)
REPEAT(repeat_at, guf_at_args, guf_at)

__attribute__((visibility("default"))) double repeat_binary(guf_ufunc ufunc, guf_array first,
                                                            guf_array second, guf_array out,
                                                            int64_t times);
/* Calls repeat_call with two array handles as inputs and one as output, and returns the result of
 * repeat_call. The function is for callers that do not declare the structs of the C API. */
double repeat_binary(guf_ufunc ufunc, guf_array first, guf_array second, guf_array out,
                     int64_t times) {
  guf_operand inputs[] = {{.kind = GUF_OPERAND_ARRAY, .array = first},
                          {.kind = GUF_OPERAND_ARRAY, .array = second}};
  guf_operand output = {.kind = GUF_OPERAND_ARRAY, .array = out};
  guf_call_args args = {.struct_size = sizeof args,
                        .ninputs = 2,
                        .noutputs = 1,
                        .inputs = inputs,
                        .outputs = &output};
  return repeat_call(ufunc, &args, times);
}
