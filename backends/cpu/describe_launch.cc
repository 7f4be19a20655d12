// SPDX-License-Identifier: Apache-2.0
// The slot `describe_launch`: how a launch is run, in words.
#include <cstdarg>
#include <cstdio>

#include "backends/cpu/cpu_device.h"
#include "backends/cpu/cpu_host.h"
#include "backends/cpu/cpu_isa.h"
#include "backends/cpu/cpu_launch.h"
#include "backends/cpu/launch_way.h"

namespace gufunc::cpu {
namespace {

// Text in the caller's room, cut off where that ends.
class TextRoom {
 public:
  TextRoom(char *to, size_t size) : to_(to), left_(size) {
    if (size > 0) *to = '\0';
  }

  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...) {
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

 private:
  char *to_;
  size_t left_;
};

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

const char *words_of(GrantedBy by) {
  switch (by) {
    case GrantedBy::kUser:
      return "GUFUNC_NUM_THREADS";
    case GrantedBy::kQuota:
      return "the cgroup's quota";
    default:
      return "the processors that this process may use";
  }
}

void describe_one(const guf_launch_block &block, Alone alone, TextRoom *out) {
  const auto work = static_cast<unsigned long long>(work_of(block));
  out->add("threads: 1, ");
  switch (alone) {
    case Alone::kOrdered:
      return out->add("as the loop may not run on threads of the backend\n");
    case Alone::kAsked:
      return out->add("as the call asks for one\n");
    case Alone::kSmall:
      return out->add("as work of %llu is too little to share, which begins at %llu\n", work,
                      static_cast<unsigned long long>(kParallelWork));
    case Alone::kGranted:
      return out->add("by %s\n", words_of(claim_pool().granted().by));
    default:
      return out->add("as the items are one chunk\n");
  }
}

void describe_threads(const guf_launch_block &block, const LaunchWay &way, uint32_t max_threads,
                      TextRoom *out) {
  if (way.alone != Alone::kNo) return describe_one(block, way.alone, out);
  const Granted granted = claim_pool().granted();
  out->add("threads: up to %u, ", way.threads);
  if (way.threads == way.split.chunks) {
    out->add("one a chunk");
  } else if (way.threads == max_threads) {
    out->add("as the call asks");
  } else {
    out->add("by %s", words_of(granted.by));
  }
  out->add("; %u chunks of %llu items", way.split.chunks,
           static_cast<unsigned long long>(way.split.chunk_items));
  const bool wakes = way.split.wake == ClaimPool::Wake::kYes;
  out->add(wakes ? "\n" : ", for which no sleeping thread is woken\n");
}

void describe_instructions(TextRoom *out) {
  const int level = isa_level(), machine = isa_level_of(read_cpu_features());
  out->add("instructions: up to %s", isa_target(level));
  if (level < machine) {
    out->add(", by GUFUNC_CPU_ISA; the processor has %s\n", isa_target(machine));
  } else {
    out->add(", what the processor has\n");
  }
}

}  // namespace

guf_status describe_launch(void *, const guf_backend_launch *launch, char *out_text,
                           size_t text_size, guf_error *error) {
  const guf_launch_block &block = *launch->block;
  GUF_CPU_TRY(check_flags(block, error));
  TextRoom out(out_text, text_size);
  const LaunchWay way = launch_way(block, launch->max_threads);
  describe_walk(block, way, &out);
  describe_threads(block, way, launch->max_threads, &out);
  describe_instructions(&out);
  return GUF_OK;
}

}  // namespace gufunc::cpu
