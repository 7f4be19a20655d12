// SPDX-License-Identifier: Apache-2.0
// Loops whose device entries are compiled for the host, each with a plain evaluation of one item.
#ifndef GUFUNC_TESTS_UNIT_GPU_SAMPLE_LOOPS_H
#define GUFUNC_TESTS_UNIT_GPU_SAMPLE_LOOPS_H

#include <gufunc/backend.h>

#include <cstdint>
#include <vector>

#include "tests/unit/gpu/host_sink.h"

namespace gufunc::gpu::test {

inline constexpr int kMaxSampleOperands = 8;

struct SampleLoop {
  const char *name;
  int nin, nout;
  guf_dtype dtype[kMaxSampleOperands];
  bool may_fail;
  bool reads_output;  // the last operand is inout
  int ncore;          // distinct core dimensions; -1: elementwise
  int core_ndim[kMaxSampleOperands];
  uint8_t core_name[8];
  std::vector<HostEntry> entry;  // indexed by Entry

  // Evaluates one item with packed operands of the loop's dtypes. Returns true if the function
  // failed.
  bool (*evaluate)(char *const *operands, const int64_t *core_sizes);
};
const std::vector<SampleLoop> &sample_loops();

// Applies guf::cast to one aligned element, between any two of the fifteen dtypes.
void cast_element(guf_dtype from_dtype, const void *from, guf_dtype to_dtype, void *to);

}  // namespace gufunc::gpu::test

#endif  // GUFUNC_TESTS_UNIT_GPU_SAMPLE_LOOPS_H
