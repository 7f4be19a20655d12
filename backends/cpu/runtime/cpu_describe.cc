// SPDX-License-Identifier: Apache-2.0
// The slots `describe_launch` and `describe_method`, which describe in text how a launch or a
// method runs.
#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/cpu_isa.h"
#include "backends/cpu/base/thread_pool.h"
#include "backends/cpu/loops/cpu_launch.h"
#include "backends/cpu/loops/launch_strategy.h"
#include "backends/cpu/loops/work_split.h"
#include "backends/cpu/methods/method_run.h"
#include "backends/cpu/methods/method_share.h"
#include "backends/cpu/runtime/cpu_table.h"

namespace gufunc::cpu {
namespace {

// Writes text to a buffer of the caller. Text that does not fit is truncated.
class TextBuffer {
 public:
  TextBuffer(char *to, size_t size) : to_(to), left_(size) {
    if (size > 0) *to = '\0';
  }

  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...);

 private:
  char *to_;
  size_t left_;
};

void TextBuffer::add(const char *format, ...) {
  if (left_ == 0) return;
  va_list arguments;
  va_start(arguments, format);
  const int written = std::vsnprintf(to_, left_, format, arguments);
  va_end(arguments);
  const size_t used = written < 0 ? 0 : static_cast<size_t>(written);
  const size_t step = used < left_ ? used : left_ - 1;
  to_ += step;
  left_ -= step;
}

const char *reason_of(ThreadLimitSource by) {
  switch (by) {
    case ThreadLimitSource::kUser:
      return "GUFUNC_NUM_THREADS";
    case ThreadLimitSource::kQuota:
      return "the cgroup's quota";
    default:
      return "the processors that this process may use";
  }
}

// Writes the line about threads for work that runs on one thread.
void describe_one_thread(SerialReason serial, uint64_t work, TextBuffer *out) {
  out->add("threads: 1, ");
  switch (serial) {
    case SerialReason::kCallerThreadOnly:
      return out->add("as the loop must not run in threads of the backend\n");
    case SerialReason::kRequested:
      return out->add("as the call requests one\n");
    case SerialReason::kTooSmall:
      return out->add("as the work, %llu, is too small to share: the minimum is %llu\n",
                      static_cast<unsigned long long>(work),
                      static_cast<unsigned long long>(kParallelWork));
    case SerialReason::kOneThread:
      return out->add("by %s\n", reason_of(thread_pool().granted().by));
    default:
      return out->add("as all items are in one chunk\n");
  }
}

// Writes the beginning of the line about threads: the maximum number of threads and the reason
// for it. `word` is the name of a chunk of work.
void describe_most_threads(uint32_t threads, uint64_t chunks, uint32_t max_threads,
                           const char *word, TextBuffer *out) {
  out->add("threads: up to %u, ", threads);
  if (threads == chunks) {
    out->add("one per %s", word);
  } else if (threads == max_threads) {
    out->add("as the call requests");
  } else {
    out->add("by %s", reason_of(thread_pool().granted().by));
  }
}

// Writes the highest ISA level for which loops are selected.
void describe_instructions(TextBuffer *out) {
  const int level = isa_level(), machine = machine_isa_level();
  out->add("instructions: up to %s", isa_target(level));
  if (level < machine) {
    out->add(", by GUFUNC_CPU_ISA; the processor has %s\n", isa_target(machine));
  } else {
    out->add(", the highest level of the processor\n");
  }
}

void describe_tiles(const Tiling &tiles, TextBuffer *out) {
  out->add("tile by tile of dimensions 0 and 1");
  for (int k = 0; k < tiles.count; ++k) {
    const Tiling::Transposed &op = tiles.transposed[k];
    out->add("%s argument %d is transposed %s", k == 0 ? ";" : ",", op.number,
             op.in && op.out ? "in and out"
             : op.in         ? "in"
                             : "out");
  }
  if (tiles.by_columns) out->add("; rows go along dimension 1");
}

void describe_walk(const guf_launch_block &block, const LaunchStrategy &strategy, TextBuffer *out) {
  out->add("walk: ");
  if (is_one_call(block, strategy.serial)) {
    out->add("one call of the loop\n");
    return;
  }
  switch (strategy.items.walk) {
    case Walk::kStaged:
      out->add("row by row, with operands converted to the loop's dtypes and byte order in blocks");
      break;
    case Walk::kTiles:
      describe_tiles(strategy.items.tiles, out);
      break;
    case Walk::kNonTemporal:
      out->add("row by row, argument %d is written with non-temporal stores", block.noperands - 1);
      break;
    case Walk::kRows:
      out->add("row by row");
      break;
  }
  out->add("%s\n",
           (block.flags & GUF_LAUNCH_MASKED) != 0 ? ", only runs that the mask selects" : "");
}

void describe_threads(const LaunchStrategy &strategy, uint32_t max_threads, TextBuffer *out) {
  if (strategy.serial == SerialReason::kUnknownCost) {
    out->add("threads: 1 for the first item, up to %u for the others if it takes long\n",
             thread_pool().threads());
    return;
  }
  if (strategy.serial != SerialReason::kNotSerial)
    return describe_one_thread(strategy.serial, strategy.weight, out);
  describe_most_threads(strategy.threads, strategy.split.chunks, max_threads, "chunk", out);
  out->add("; %u chunks of %llu items", strategy.split.chunks,
           static_cast<unsigned long long>(strategy.split.chunk_items));
  const bool wakes = strategy.split.wake == ThreadPool::Wake::kYes;
  out->add(wakes ? "\n" : ", for which no sleeping thread is woken\n");
}

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

guf_status describe_launch(void *, const guf_backend_launch *launch, char *out_text,
                           size_t text_size, guf_error *error) {
  const guf_launch_block &block = *launch->block;
  GUF_BACKEND_TRY(check_flags(block, error));
  TextBuffer out(out_text, text_size);
  const LoopCost cost(launch->kernel, launch->user);
  const LaunchStrategy strategy = launch_strategy(block, launch->max_threads, cost);
  describe_walk(block, strategy, &out);
  describe_threads(strategy, launch->max_threads, &out);
  describe_instructions(&out);
  return GUF_OK;
}

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
