// SPDX-License-Identifier: Apache-2.0
// Provides loops whose device entries are compiled for the host, each with a simple evaluation of
// one item.
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
  int ncore;          // number of distinct core dimensions, or -1 for elementwise
  int core_ndim[kMaxSampleOperands];
  uint8_t core_name[8];
  std::vector<HostEntry> entry;  // indexed by Entry

  // Evaluates one item. Operands are packed and have the dtypes of the loop. Returns true if the
  // function failed.
  bool (*evaluate)(char *const *operands, const int64_t *core_sizes);
};
const std::vector<SampleLoop> &sample_loops();

// Applies guf::cast to one aligned element. Both dtypes may be any of the fifteen number dtypes.
void cast_element(guf_dtype from_dtype, const void *from, guf_dtype to_dtype, void *to);

}  // namespace gufunc::gpu::test

#endif  // GUFUNC_TESTS_UNIT_GPU_SAMPLE_LOOPS_H
