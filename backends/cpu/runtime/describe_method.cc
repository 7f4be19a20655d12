// SPDX-License-Identifier: Apache-2.0
// The slot `describe_method`, which describes in text how a method runs.
#include <algorithm>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/describe_text.h"
#include "backends/cpu/methods/method_run.h"
#include "backends/cpu/methods/method_share.h"
#include "backends/cpu/runtime/cpu_device.h"

namespace gufunc::cpu {
namespace {

void describe_method_walk(const guf_backend_method &method, const MethodTraversal &traversal,
                          TextBuffer *out) {
  const auto piece = static_cast<long long>(traversal.piece);
  const auto lanes = static_cast<long long>(traversal.side_by_side);
  out->add("walk: ");
  switch (traversal.walk) {
    case MethodWalk::kNothing:
      return out->add("nothing to do\n");
    case MethodWalk::kItems:
      out->add(lanes > 1 ? "result by result, up to %lld side by side" : "result by result", lanes);
      break;
    case MethodWalk::kSubtrees:
      out->add("subtrees of %lld elements, combined afterwards", piece);
      break;
    case MethodWalk::kTiles:
      out->add(
          "tiles of %lld elements, then the total of the preceding tiles is combined into each",
          piece);
      break;
    case MethodWalk::kSlices:
      out->add("slice by slice%s",
               method.block->indices == nullptr ? ", work estimated as for ascending indices" : "");
      break;
    case MethodWalk::kEntry:
      out->add("index by index, with the loop's fold entry");
      break;
    case MethodWalk::kRuns:
      out->add("runs of indices that are all different, gathered and scattered");
      break;
    case MethodWalk::kItemsOfEach:
      out->add("index by index, all elements of each");
      break;
  }
  if (traversal.staged)
    out->add(", with operands converted to the loop's dtype and byte order in blocks");
  if (method.fp_status != nullptr && (method.block->flags & GUF_METHOD_EXACT) == 0)
    out->add("; floating-point flags are computed for every step");
  out->add("\n");
}

void describe_method_threads(const guf_backend_method &method, const MethodTraversal &traversal,
                             TextBuffer *out) {
  if (method.block->method == GUF_METHOD_AT)
    return out->add("threads: 1, as the indices are applied in order\n");
  const SerialReason serial = serial_reason(method, traversal.work);
  if (serial != SerialReason::kNotSerial) return describe_one_thread(serial, traversal.work, out);
  if (traversal.chunks < 2)
    return out->add("threads: 1, as the elements of a result are reduced in order\n");
  const auto threads =
      static_cast<uint32_t>(std::min<uint64_t>(traversal.threads, traversal.chunks));
  describe_most_threads(threads, traversal.chunks, method.max_threads, "piece", out);
  out->add("; %llu pieces%s\n", static_cast<unsigned long long>(traversal.chunks),
           wake_of(traversal.work) == ThreadPool::Wake::kYes
               ? ""
               : ", for which no sleeping thread is woken");
}

}  // namespace

guf_status describe_method(void *, const guf_backend_method *method, char *out_text,
                           size_t text_size, guf_error *error) {
  MethodTraversal traversal;
  GUF_BACKEND_TRY(decide_method(*method, &traversal, error));
  TextBuffer out(out_text, text_size);
  describe_method_walk(*method, traversal, &out);
  describe_method_threads(*method, traversal, &out);
  describe_instructions(&out);
  return GUF_OK;
}

}  // namespace gufunc::cpu
