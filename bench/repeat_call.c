/* SPDX-License-Identifier: Apache-2.0
 * Repeats one call in C, so that against_numpy.py times the library and not its own ctypes. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <gufunc/gufunc.h>
#include <time.h>

__attribute__((visibility("default"))) double repeat_call(guf_ufunc ufunc, guf_call_args *args,
                                                          int64_t times);

/* Nanoseconds per call, or -status of the first failure. */
double repeat_call(guf_ufunc ufunc, guf_call_args *args, int64_t times) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int64_t i = 0; i < times; ++i) {
    const guf_status status = guf_call(ufunc, args, NULL);
    if (status != GUF_OK) return -(double)status;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
         (double)times;
}
