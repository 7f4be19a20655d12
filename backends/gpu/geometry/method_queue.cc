// SPDX-License-Identifier: Apache-2.0
// Calls the function that translates a method to commands, and describes the traversal and the
// commands of a method as text.
#include "backends/gpu/geometry/method_queue.h"

#include <gufunc/kernel/device_fp_flags.hpp>
#include <gufunc/kernel/reduce_tree.hpp>

#include "backends/gpu/geometry/command_text.h"
#include "backends/gpu/geometry/method_job.h"

namespace gufunc::gpu {
namespace {

const char *order_of(const guf_method_block &block) {
  const bool tree = (block.flags & GUF_METHOD_TREE) != 0;
  switch (block.method) {
    case GUF_METHOD_ACCUMULATE:
      return tree ? "tiles of 256 elements, then the total of the preceding tiles is combined into "
                    "each"
                  : "from the left";
    case GUF_METHOD_AT:
      return "the operations on each element in order, elements in parallel";
    case GUF_METHOD_REDUCEAT:
      return tree ? "a tree per slice" : "slices from the left";
    default:
      return tree ? "a tree per dimension, results in parallel"
                  : "from the left, results in parallel";
  }
}

}  // namespace

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

guf_status describe_method_commands(const guf_backend_method &method, const CommandSink &device,
                                    char *out_text, size_t text_size, guf_error *error) {
  const guf_method_block &block = *method.block;
  CommandText commands(device, out_text, text_size);
  commands.add("walk: %s", order_of(block));
  if (method.fp_status != nullptr && (block.flags & GUF_METHOD_EXACT) == 0) {
    commands.add("; floating-point flags are computed for every step");
  }
  commands.add("\n");
  if (block.nindices != 0 && block.indices == nullptr) {
    commands.add("steps: their number depends on the indices, which are not known\n");
    return GUF_OK;
  }
  return queue_method(method, commands, error);
}

}  // namespace gufunc::gpu
