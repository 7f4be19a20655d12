// SPDX-License-Identifier: Apache-2.0
// The device entry of accumulate. A thread reduces a tile of one lane from the left. If the
// elements of a tile are contiguous, they are staged in shared memory, so that accesses to global
// memory are contiguous. Each step stages kScanRun elements of every tile of the thread block. A
// first pass stores only the total of each tile. After the totals have been scanned, the last pass
// scans each tile again and writes the results. This costs less than storing and loading the
// partial results of the first pass.
#ifndef GUFUNC_KERNEL_DEVICE_FOLD_SCAN_HPP
#define GUFUNC_KERNEL_DEVICE_FOLD_SCAN_HPP

#include "device_fold_step.hpp"

namespace guf {
namespace device {

template <class Op, class X, bool MayFail>
struct scan_fold {
  typedef scan_block block;
  typedef value_t<X> value;
  typedef stepper<Op, X, X, MayFail> steps;

  static GUF_DEVICE_ONLY void scan(const block &p, char *shared) {
    steps step(p.fp_flags);
    row mine = {0, 0, 0, 0, value(), value(), false, false};
    const u32 item = block_id() * kScanThreads + thread_id();
    if (item < p.items) begin(p, item, &mine);
    if ((p.flags & kScanStaged) != 0) {
      staged(step, p, mine, shared);
    } else {
      direct(step, p, mine);
    }
    report(p.status, step.found());
  }

 private:
  struct row {
    u64 input, output;
    u64 count;  // number of elements
    u64 total;  // destination of the total, with kScanTotals
    value all, offset;
    bool has_offset, begun;
  };
  enum : u32 { kPitch = kScanRun + 1 };

  static GUF_DEVICE_ONLY void begin(const block &p, u32 item, row *mine) {
    const u32 number = quotient(p.by_lanes, item), lane = item - number * p.by_lanes.d;
    const lane_offsets byte_offsets = offsets_of(p.lanes, lane);
    const u64 tile = p.first_tile + number, first = tile * p.tile, left = p.extent - first;
    mine->input = p.from.input + byte_offsets.input + first * (u64)p.from.step;
    mine->output = p.output + byte_offsets.output + first * (u64)p.output_step;
    mine->count = left < p.tile ? left : p.tile;
    mine->total = p.output + (tile * p.lanes.pitch + lane) * sizeof(X);
    if (p.offsets != 0 && tile != 0) {
      mine->has_offset = true;
      mine->offset = cast<value>(((const X *)p.offsets)[(tile - 1) * p.lanes.pitch + lane]);
    }
  }

  // Returns the result of the next element.
  static GUF_DEVICE_ONLY value next(steps &step, row &mine, value x) {
    mine.all = mine.begun ? step(mine.all, x) : x;
    mine.begun = true;
    return mine.has_offset ? step(mine.offset, mine.all) : mine.all;
  }

  static GUF_DEVICE_ONLY void direct(steps &step, const block &p, row mine) {
    GUF_NO_UNROLL
    for (u64 i = 0; i < mine.count; ++i) {
      const u64 from = mine.input + i * (u64)p.from.step;
      const value result = next(step, mine, cast<value>(fetch<X>(from, p.from.form)));
      if ((p.flags & kScanTotals) == 0) {
        *(X *)(mine.output + i * (u64)p.output_step) = cast<X>(result);
      }
    }
    if ((p.flags & kScanTotals) != 0 && mine.count != 0) *(X *)mine.total = cast<X>(mine.all);
  }

  // Thread t copies element t mod kScanRun of every eighth row, and reduces row t.
  static GUF_DEVICE_ONLY void staged(steps &step, const block &p, row mine, char *shared) {
    constexpr u32 apart = kScanThreads / kScanRun;
    u64 *const input = (u64 *)shared, *const output = input + kScanThreads;
    u64 *const count = output + kScanThreads;
    value *const stage = (value *)(count + kScanThreads);
    const u32 t = thread_id(), column = t & (kScanRun - 1u), row = t / kScanRun;
    input[t] = mine.input;
    output[t] = mine.output;
    count[t] = mine.count;
    barrier();
    const u64 longest = p.extent < p.tile ? p.extent : p.tile;
    GUF_NO_UNROLL
    for (u64 done = 0; done < longest; done += kScanRun) {
      const u64 at = done + column;
      GUF_NO_UNROLL
      for (u32 r = row; r < kScanThreads; r += apart) {
        if (at >= count[r]) continue;
        const u64 from = input[r] + at * (u64)p.from.step;
        stage[r * kPitch + column] = cast<value>(fetch<X>(from, p.from.form));
      }
      barrier();
      GUF_NO_UNROLL
      for (u32 i = 0; i < kScanRun && done + i < mine.count; ++i) {
        value &x = stage[t * kPitch + i];
        x = next(step, mine, x);
      }
      barrier();
      // Each thread reads only the positions in shared memory that it fills again itself, so no
      // barrier is needed before it fills them.
      if ((p.flags & kScanTotals) != 0) continue;
      GUF_NO_UNROLL
      for (u32 r = row; r < kScanThreads; r += apart) {
        if (at >= count[r]) continue;
        const u64 to = output[r] + at * (u64)p.output_step;
        *(X *)to = cast<X>(stage[r * kPitch + column]);
      }
    }
    if ((p.flags & kScanTotals) != 0 && mine.count != 0) *(X *)mine.total = cast<X>(mine.all);
  }
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FOLD_SCAN_HPP
