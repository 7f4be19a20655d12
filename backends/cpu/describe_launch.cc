// SPDX-License-Identifier: Apache-2.0
// The slot `describe_launch`: how a launch is run, in words.
#include "backends/cpu/cpu_device.h"
#include "backends/cpu/cpu_host.h"
#include "backends/cpu/cpu_launch.h"
#include "backends/cpu/describe_text.h"
#include "backends/cpu/launch_way.h"

namespace gufunc::cpu {
namespace {

void describe_tiles(const CrossedWay &tiles, TextRoom *out) {
  out->add("tile by tile of dimensions 0 and 1");
  for (int k = 0; k < tiles.count; ++k) {
    const CrossedWay::Turned &op = tiles.turned[k];
    out->add("%s argument %d is turned %s", k == 0 ? ";" : ",", op.number,
             op.in && op.out ? "in and out"
             : op.in         ? "in"
                             : "out");
  }
  if (tiles.by_columns) out->add("; rows go along dimension 1");
}

void describe_walk(const guf_launch_block &block, const LaunchWay &way, TextRoom *out) {
  out->add("walk: ");
  if (is_one_call(block, way.alone)) {
    out->add("one call of the loop\n");
    return;
  }
  switch (way.items.walk) {
    case Walk::kStaged:
      out->add("row by row through blocks of operands in the loop's dtypes and byte order");
      break;
    case Walk::kTiles:
      describe_tiles(way.items.tiles, out);
      break;
    case Walk::kStreamed:
      out->add("row by row, argument %d is written around the caches", block.noperands - 1);
      break;
    case Walk::kRows:
      out->add("row by row");
      break;
  }
  out->add("%s\n", (block.flags & GUF_LAUNCH_MASKED) != 0 ? ", runs that the mask has" : "");
}

void describe_threads(const LaunchWay &way, uint32_t max_threads, TextRoom *out) {
  if (way.alone == Alone::kNew) {
    out->add("threads: 1 for the first item, up to %u for the others if it takes long\n",
             claim_pool().threads());
    return;
  }
  if (way.alone != Alone::kNo) return describe_one_thread(way.alone, way.weight, out);
  describe_most_threads(way.threads, way.split.chunks, max_threads, "chunk", out);
  out->add("; %u chunks of %llu items", way.split.chunks,
           static_cast<unsigned long long>(way.split.chunk_items));
  const bool wakes = way.split.wake == ClaimPool::Wake::kYes;
  out->add(wakes ? "\n" : ", for which no sleeping thread is woken\n");
}

}  // namespace

guf_status describe_launch(void *, const guf_backend_launch *launch, char *out_text,
                           size_t text_size, guf_error *error) {
  const guf_launch_block &block = *launch->block;
  GUF_CPU_TRY(check_flags(block, error));
  TextRoom out(out_text, text_size);
  const LoopCost cost(launch->kernel, launch->user);
  const LaunchWay way = launch_way(block, launch->max_threads, cost);
  describe_walk(block, way, &out);
  describe_threads(way, launch->max_threads, &out);
  describe_instructions(&out);
  return GUF_OK;
}

}  // namespace gufunc::cpu
