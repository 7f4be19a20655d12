// SPDX-License-Identifier: Apache-2.0
// The values of the inputs of `gufunc bench`.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_VALUES_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_VALUES_H

#include <gufunc/gufunc.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gufunc::cli {

// Uniformly distributed from `low` to `high`. A long double holds every integer of 64 bits.
struct ValueRange {
  long double low = 0, high = 0;
};

// Parses --values. Throws Failure(kUsage).
ValueRange values_of(const std::string &text);

// Returns the values for the inputs of dtype `dtype` in `method` of the function `name`: values for
// which the results neither overflow nor are subnormal.
ValueRange default_values(const std::string &name, const std::string &method, guf_dtype dtype);

// Returns `count` random values as bytes of `info.dtype`; other seeds return other values. Both
// parts of complex numbers are random. Throws Failure(kRefused) if the dtype does not hold the
// limits of the range, or if no integer is between them.
std::vector<std::byte> random_values(const guf_dtype_info &info, const ValueRange &values,
                                     int64_t count, uint64_t seed);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_VALUES_H
