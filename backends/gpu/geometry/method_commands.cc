// SPDX-License-Identifier: Apache-2.0
// Calls the function that translates a method to commands.
#include <gufunc/kernel/device_fp_flags.hpp>
#include <gufunc/kernel/reduce_tree.hpp>

#include "backends/gpu/geometry/method_job.h"
#include "backends/gpu/geometry/method_queue.h"

namespace gufunc::gpu {

static_assert(+dev::kFpDivide == +GUF_FP_DIVIDE && +dev::kFpOverflow == +GUF_FP_OVERFLOW &&
              +dev::kFpUnderflow == +GUF_FP_UNDERFLOW && +dev::kFpInvalid == +GUF_FP_INVALID &&
              +dev::kFpIntegerDivide == +GUF_FP_INTEGER_DIVIDE);
static_assert(+guf::kLeafSize == +GUF_LEAF_SIZE);
static_assert(GUF_MAX_LOOP_NDIM + GUF_MAX_LOOP_NDIM - 1 <= dev::kLaneDims);

guf_status queue_method(const guf_backend_method &method, CommandSink &commands, guf_error *error) {
  MethodJob job(method, commands, error);
  GUF_BACKEND_TRY(job.open());
  if (job.block.items == 0) return GUF_OK;
  switch (job.block.method) {
    case GUF_METHOD_REDUCE:
      return job.has(GUF_METHOD_MIXED) ? queue_mixed_reduce(job) : queue_reduce(job);
    case GUF_METHOD_ACCUMULATE:
      return queue_accumulate(job);
    case GUF_METHOD_REDUCEAT:
      return queue_reduceat(job);
    default:
      return queue_at(job);
  }
}

}  // namespace gufunc::gpu
