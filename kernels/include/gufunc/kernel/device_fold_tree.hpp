// SPDX-License-Identifier: Apache-2.0
// The reduction tree of docs/reductions.md. A block of threads reduces a piece of the reduced
// dimension for some lanes:
//   leaves  A piece has `1 << log2_units` base blocks. Eight threads reduce a base block, one for
//           each of its accumulators. If a base block has fewer than eight elements, or if the
//           order has no effect on the result, one thread reduces it.
//   join    A piece has `1 << log2_units` runs of kJoinRun partial results. One thread combines a
//           run.
// The values of the threads are then combined in pairs through shared memory. The lanes of a block
// are neighbours: if rows are adjacent in memory, each access of a sub-group is contiguous.
#ifndef GUFUNC_KERNEL_DEVICE_FOLD_TREE_HPP
#define GUFUNC_KERNEL_DEVICE_FOLD_TREE_HPP

#include "device_fold_step.hpp"
#include "reduce_tree.hpp"

namespace guf {
namespace device {

template <class Op, class T, bool MayFail>
struct tree_fold {
  typedef tree_block block;
  typedef typename partial_of<T>::type partial;
  typedef value_t<T> value;
  typedef stepper<Op, partial, partial, MayFail> steps;

  static GUF_DEVICE_ONLY void leaves(const block &p, char *shared) {
    steps step(p.fp_flags);
    const team at(p);
    const lane_offsets offsets = at.active ? offsets_of(p.lanes, at.lane) : lane_offsets{0, 0, 0};
    const work piece = piece_of(p, at.piece);
    const u64 before = (u64)at.unit * kLeafSize;
    const u64 left = at.active && piece.count > before ? piece.count - before : 0;
    const u32 n = left < (u64)kLeafSize ? (u32)left : (u32)kLeafSize;
    const u64 first = piece.first + before;
    const source from = {
        p.from.input + offsets.input + first * (u64)p.from.step,
        p.from.mask == 0 ? 0 : p.from.mask + offsets.mask + first * (u64)p.from.mask_step,
        p.from.step, p.from.mask_step, p.from.form};
    const bool eight = p.log2_parts != 0 && n >= 8;
    const u32 parts = eight ? 8 : 1;
    const u32 whole = eight ? n / 8 * 8 : n;  // elements that the accumulators combine
    const bool fast = (p.to.flags & kFoldFast) != 0;
    const u32 levels = p.log2_parts + p.log2_units;
    const slots all(shared);
    optional_value mine = {value(), false};
    u32 i = at.part, apart = parts, end = at.part < parts ? whole : 0;
    GUF_NO_UNROLL
    for (u32 level = 0;; ++level) {
      mine = elements(step, mine, from, fast, i, apart, end);
      if (level == levels) break;
      mine = joined(step, all, mine, at, level, p.log2_lanes);
      // When the accumulators of a base block have been combined, their first thread also combines
      // the remaining elements.
      i = whole, apart = 1, end = level + 1 == p.log2_parts && at.part == 0 ? n : 0;
    }
    if (at.first && at.active) store_result(step, p, mine, piece.slot, at.lane, offsets.output);
    report(p.status, step.found());
  }

  static GUF_DEVICE_ONLY void join(const block &p, char *shared) {
    steps step(p.fp_flags);
    const team at(p);
    const lane_offsets offsets = at.active ? offsets_of(p.lanes, at.lane) : lane_offsets{0, 0, 0};
    const work piece = piece_of(p, at.piece);
    const u64 before = (u64)at.unit * kJoinRun;
    const u64 left = at.active && piece.count > before ? piece.count - before : 0;
    optional_value run[kJoinRun];
    GUF_UNROLL
    for (u32 i = 0; i < kJoinRun; ++i) {
      run[i] = {value(), false};
      if (i >= left) continue;
      const u64 number = (piece.first + before + i) * p.lanes.pitch + at.lane;
      run[i].present = p.from.mask == 0 || *(const u8 *)(p.from.mask + number) != 0;
      run[i].x = cast<value>(*(const partial *)(p.from.input + number * sizeof(partial)));
    }
    // Combines pairs, pairs of pairs, and so on. Each level halves the number of values.
    GUF_NO_UNROLL
    for (u32 count = kJoinRun; count > 1; count /= 2) {
      GUF_UNROLL
      for (u32 i = 0; i < kJoinRun / 2; ++i) run[i] = both(step, run[2 * i], run[2 * i + 1]);
      GUF_UNROLL
      for (u32 i = kJoinRun / 2; i < kJoinRun; ++i) run[i].present = false;
    }
    const slots all(shared);
    optional_value mine = run[0];
    GUF_NO_UNROLL
    for (u32 level = 0; level < p.log2_units; ++level) {
      mine = joined(step, all, mine, at, level, p.log2_lanes);
    }
    if (at.first && at.active) store_result(step, p, mine, piece.slot, at.lane, offsets.output);
    report(p.status, step.found());
  }

 private:
  struct optional_value {
    value x;
    bool present;
  };
  struct source {
    u64 input, mask;
    i64 step, mask_step;
    u32 form;
  };
  struct work {
    u64 first, count, slot;
  };
  enum : u32 { kAtOnce = 4 };  // elements that are loaded before the first of them is combined

  // Position of a thread: its lane, its piece, its unit in the piece (a base block or a run), and
  // its part of the unit (an accumulator of a base block).
  struct team {
    u32 lane, piece, unit, part, number;
    bool active, first;
    GUF_DEVICE_ONLY explicit team(const block &p) {
      const u32 t = thread_id();
      number = t >> p.log2_lanes;
      part = number & ((1u << p.log2_parts) - 1u);
      unit = (number >> p.log2_parts) & ((1u << p.log2_units) - 1u);
      const u32 group = quotient(p.pieces, block_id());
      piece = block_id() - group * p.pieces.d;
      const u32 log2_team = p.log2_parts + p.log2_units;
      const u32 row = (group << (8 - p.log2_lanes - log2_team)) + (number >> log2_team);
      lane = (row << p.log2_lanes) + (t & ((1u << p.log2_lanes) - 1u));
      active = lane < p.lanes.lanes;
      first = part == 0 && unit == 0;
    }
  };

  // Shared memory: one value per thread, then one byte per thread that marks the value as present.
  struct slots {
    value *x;
    u8 *present;
    GUF_DEVICE_ONLY explicit slots(char *shared)
        : x((value *)shared), present((u8 *)(shared + kFoldThreads * sizeof(value))) {}
    GUF_DEVICE_ONLY void put(optional_value mine) const {
      x[thread_id()] = mine.x;
      present[thread_id()] = mine.present ? 1 : 0;
    }
  };

  static GUF_DEVICE_ONLY work piece_of(const block &p, u32 number) {
    if (p.table != 0) {
      const fold_piece *const piece = (const fold_piece *)p.table + number;
      return {piece->first, piece->count, piece->slot};
    }
    const u64 slot = p.first_slot + number, first = slot * p.span, left = p.extent - first;
    return {first, left < p.span ? left : p.span, slot};
  }

  static GUF_DEVICE_ONLY optional_value both(steps &step, optional_value a, optional_value b) {
    if (!b.present) return a;
    if (!a.present) return b;
    return {step(a.x, b.x), true};
  }

  // Combines the values of pairs of threads whose numbers differ by 2^level. At level 0 these are
  // the pairs (0,1) (2,3) ..., at level 1 the pairs of pairs, and so on. If one value of a pair is
  // absent, the result is the other value. One barrier per level is enough: level n reads only
  // slots whose number is an odd multiple of 2^n, and later levels write only slots whose number is
  // a multiple of 2^(n+1).
  static GUF_DEVICE_ONLY optional_value joined(steps &step, slots all, optional_value mine,
                                               const team &at, u32 level, u32 log2_lanes) {
    if ((at.number & ((1u << level) - 1u)) == 0) all.put(mine);
    barrier();
    if ((at.number & ((2u << level) - 1u)) != 0) return mine;
    const u32 other = thread_id() + (1u << (level + log2_lanes));
    return both(step, mine, {all.x[other], all.present[other] != 0});
  }

  static GUF_DEVICE_ONLY value read(u64 address, u32 form) {
    if constexpr (!is_same<T, partial>::value) {
      if ((form & kFormPartial) != 0) return cast<value>(*(const partial *)address);
    }
    return cast<value>(fetch<T>(address, form));
  }

  // Combines `mine` with elements, in order. `fast`: whether kFoldFast is set.
  static GUF_DEVICE_ONLY optional_value elements(steps &step, optional_value mine, source from,
                                                 bool fast, u32 i, u32 apart, u32 end) {
    if (fast) {
      bool partials = false;
      if constexpr (!is_same<T, partial>::value) partials = (from.form & kFormPartial) != 0;
      mine = partials ? runs_of<partial>(step, mine, from, i, apart, end)
                      : runs_of<T>(step, mine, from, i, apart, end);
    }
    GUF_NO_UNROLL
    for (; i < end; i += apart) {
      if (from.mask != 0 && *(const u8 *)(from.mask + (u64)(i * from.mask_step)) == 0) continue;
      mine = both(step, mine, {read(from.input + (u64)(i * from.step), from.form), true});
    }
    return mine;
  }
  // Combines `mine` with runs of kAtOnce elements, all of which are loaded before the first of them
  // is combined. Advances `i` to the first element that belongs to no run.
  template <class S>
  static GUF_DEVICE_ONLY optional_value runs_of(steps &step, optional_value mine, source from,
                                                u32 &i, u32 apart, u32 end) {
    const i64 distance = apart * from.step;
    u64 address = from.input + (u64)(i * from.step);
    GUF_NO_UNROLL
    for (; i + (kAtOnce - 1) * apart < end; i += kAtOnce * apart) {
      S some[kAtOnce];
      GUF_UNROLL
      for (u32 k = 0; k < kAtOnce; ++k) some[k] = *(const S *)(address + k * (u64)distance);
      GUF_UNROLL
      for (u32 k = 0; k < kAtOnce; ++k) {
        const value next = cast<value>(some[k]);
        mine.x = mine.present ? cast<value>(step.plain(mine.x, next)) : next;
        mine.present = true;
      }
      address += kAtOnce * (u64)distance;
    }
    return mine;
  }

  static GUF_DEVICE_ONLY void store_result(steps &step, const block &p, optional_value mine,
                                           u64 slot, u32 lane, u64 output) {
    if ((p.to.flags & kFoldLast) == 0) {
      const u64 number = slot * p.lanes.pitch + lane;
      *(partial *)(p.to.output + number * sizeof(partial)) = cast<partial>(mine.x);
      if (p.to.present != 0) *(u8 *)(p.to.present + number) = mine.present ? 1 : 0;
      return;
    }
    if ((p.to.flags & kFoldInitial) != 0) {
      mine = both(step, {cast<value>(initial_of<T>(p.to)), true}, mine);
    }
    if (!mine.present) return;
    const partial wide = cast<partial>(mine.x);
    const T result = cast<T>(wide);
    if constexpr (!is_same<T, partial>::value) {
      if (step.checks_fp_flags()) step.add(fp_flags_of(classify(wide), classify(result), false));
    }
    *(T *)(p.to.output + output + slot * (u64)p.to.slot_step) = result;
  }
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FOLD_TREE_HPP
