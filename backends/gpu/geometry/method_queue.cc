// SPDX-License-Identifier: Apache-2.0
// Describes the traversal and the commands of a method as text.
#include "backends/gpu/geometry/method_queue.h"

#include "backends/gpu/geometry/command_text.h"

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
