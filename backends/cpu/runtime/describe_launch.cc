// SPDX-License-Identifier: Apache-2.0
// The slot `describe_launch`: describes in text how a launch runs.
#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/cpu_launch.h"
#include "backends/cpu/loops/describe_text.h"
#include "backends/cpu/loops/launch_strategy.h"
#include "backends/cpu/runtime/cpu_device.h"

namespace gufunc::cpu {
namespace {

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

}  // namespace gufunc::cpu
