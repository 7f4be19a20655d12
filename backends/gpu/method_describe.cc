// SPDX-License-Identifier: Apache-2.0
// How a method would run: in which order, and its steps in words.
#include "backends/gpu/method_queue.h"
#include "backends/gpu/written_steps.h"

namespace gufunc::gpu {
namespace {

const char *order_of(const guf_method_block &block) {
  const bool tree = (block.flags & GUF_METHOD_TREE) != 0;
  switch (block.method) {
    case GUF_METHOD_ACCUMULATE:
      return tree ? "tiles of 256 elements, then what precedes each is joined to it"
                  : "from the left";
    case GUF_METHOD_AT:
      return "the operations of each element in their order, elements side by side";
    case GUF_METHOD_REDUCEAT:
      return tree ? "a tree per stretch" : "stretches from the left";
    default:
      return tree ? "a tree per dimension, results side by side"
                  : "from the left, results side by side";
  }
}

}  // namespace

guf_status describe_method_steps(const guf_backend_method &method, const Steps &device,
                                 char *out_text, size_t text_size, guf_error *error) {
  const guf_method_block &block = *method.block;
  WrittenSteps steps(device, out_text, text_size);
  steps.add("walk: %s", order_of(block));
  if (method.watch != nullptr && (block.flags & GUF_METHOD_EXACT) == 0) {
    steps.add("; each step is looked at for events");
  }
  steps.add("\n");
  if (block.nindices != 0 && block.indices == nullptr) {
    steps.add("step: as many as the indices ask for, which are not known\n");
    return GUF_OK;
  }
  return queue_method(method, steps, error);
}

}  // namespace gufunc::gpu
