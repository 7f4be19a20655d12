// SPDX-License-Identifier: Apache-2.0
// The entries that combine elements strictly in order. The result of each step is rounded to the
// loop's type and is an operand of the next step.
//   fold  Each thread reduces one piece of one lane from the left.
//   at    Each thread performs all operations on one element of one lane, one after another.
#ifndef GUFUNC_KERNEL_DEVICE_FOLD_CHAIN_HPP
#define GUFUNC_KERNEL_DEVICE_FOLD_CHAIN_HPP

#include "device_copy_block.hpp"
#include "device_fold_step.hpp"

namespace guf {
namespace device {

// Reduces with steps X op Y -> X. Y is X unless the loop is (X, Y) -> X.
template <class Op, class X, class Y, bool MayFail>
struct chain_fold {
  typedef chain_block block;
  typedef value_t<X> value;
  typedef value_t<Y> element;
  typedef stepper<Op, X, Y, MayFail> steps;

  static GUF_DEVICE_ONLY void fold(const block &p) {
    const u32 item = block_id() * kFoldThreads + thread_id();
    if (item >= p.items) return;
    const u32 number = quotient(p.by_lanes, item), lane = item - number * p.by_lanes.d;
    steps step(p.fp_flags);
    const lane_offsets offsets = offsets_of(p.lanes, lane);
    u64 first, count, slot;
    if (p.table != 0) {
      const fold_piece *const piece = (const fold_piece *)p.table + number;
      first = piece->first, count = piece->count, slot = piece->slot;
    } else {
      slot = p.first_slot + number;
      first = slot * p.span;
      count = p.extent - first < p.span ? p.extent - first : p.span;
    }
    u64 rows = 1;
    GUF_NO_UNROLL
    for (u32 d = 0; d < p.ndim; ++d) rows *= p.size[d];
    state all = begin(p, lane);
    GUF_NO_UNROLL
    for (u64 row = 0; row < rows; ++row) {
      u64 input = p.from.input + offsets.input + first * (u64)p.from.step;
      u64 mask = p.from.mask + offsets.mask + first * (u64)p.from.mask_step, rest = row;
      GUF_NO_UNROLL
      for (u32 d = 0; d < p.ndim; ++d) {
        const u64 index = rest % p.size[d];
        rest /= p.size[d];
        input += index * (u64)p.step[d];
        mask += index * (u64)p.mask_step[d];
      }
      const u64 skipped = row == 0 && p.start != 0 ? 1 : 0;
      all = fold_row(step, p, all, input, mask, skipped, count);
    }
    store_result(p, all, slot, lane, offsets.output);
    report(p.status, step.found());
  }

 private:
  struct state {
    value x;
    bool present;
  };

  static GUF_DEVICE_ONLY state begin(const block &p, u32 lane) {
    if (p.start != 0) return {cast<value>(((const X *)p.start)[lane]), true};
    if ((p.to.flags & kFoldInitial) != 0) return {cast<value>(initial_of<X>(p.to)), true};
    return {value(), false};
  }

  static GUF_DEVICE_ONLY state fold_row(steps &step, const block &p, state all, u64 input, u64 mask,
                                        u64 first, u64 count) {
    const u64 by = (u64)p.from.step;
    u64 i = first;
    if ((p.to.flags & kFoldFast) != 0) {
      // Loads kTogether elements before the first of them is combined.
      GUF_NO_UNROLL
      for (; i + kTogether <= count; i += kTogether) {
        Y some[kTogether];
        GUF_UNROLL
        for (u32 k = 0; k < kTogether; ++k) some[k] = *(const Y *)(input + (i + k) * by);
        GUF_UNROLL
        for (u32 k = 0; k < kTogether; ++k) all = next(step, all, cast<element>(some[k]));
      }
    }
    GUF_NO_UNROLL
    for (; i < count; ++i) {
      if (p.from.mask != 0 && *(const u8 *)(mask + i * (u64)p.from.mask_step) == 0) continue;
      all = next(step, all, cast<element>(fetch<Y>(input + i * by, p.from.form)));
    }
    return all;
  }

  static GUF_DEVICE_ONLY state next(steps &step, state all, element y) {
    if (all.present) return {step(all.x, y), true};
    if constexpr (is_same<X, Y>::value) return {y, true};
    return all;  // for a loop (X, Y) -> X, the host code has set a start value
  }

  static GUF_DEVICE_ONLY void store_result(const block &p, state all, u64 slot, u32 lane,
                                           u64 output) {
    if ((p.to.flags & kFoldLast) != 0) {
      const u64 to = p.to.output + output + slot * (u64)p.to.slot_step;
      if (all.present) *(X *)to = cast<X>(all.x);
      return;
    }
    const u64 number = slot * p.lanes.pitch + lane;
    ((X *)p.to.output)[number] = cast<X>(all.x);
    if (p.to.present != 0) ((u8 *)p.to.present)[number] = all.present ? 1 : 0;
  }

  enum : u32 { kTogether = 4 };
};

// Wraps a function X -> X as a step with two operands. The step ignores the second operand.
template <class Op>
struct unary_step {
  template <class A, class B, class... F>
  static GUF_DEVICE_ONLY decltype(auto) call(A a, B, F &&...failed) {
    return Op::call(a, static_cast<F &&>(failed)...);
  }
};

template <class Op, class X, bool MayFail, bool Binary>
struct at_fold {
  typedef at_block block;
  typedef value_t<X> value;

  static GUF_DEVICE_ONLY void at(const block &p) {
    const u32 item = block_id() * kFoldThreads + thread_id();
    if (item >= p.items) return;
    const u32 number = quotient(p.by_lanes, item), lane = item - number * p.by_lanes.d;
    const at_target target = ((const at_target *)p.targets)[number];
    const lane_offsets offsets = offsets_of(p.lanes, lane);
    const u64 to = p.output + offsets.output + (u64)target.output;
    stepper<Op, X, X, MayFail> step(p.fp_flags);
    X x = load(to, p.output_form, p.load);
    GUF_NO_UNROLL
    for (u64 k = target.first; k < target.first + target.count; ++k) {
      X y = x;
      if constexpr (Binary) {
        const u64 from = p.input + offsets.input + (u64)((const i64 *)p.operands)[k];
        y = load(from, p.input_form, p.operand);
      }
      x = cast<X>(step(cast<value>(x), cast<value>(y)));
      // Each operation reads the result that the previous operation stored.
      store(to, p.output_form, p.store, x);
      if ((p.output_form & kFormLoopType) == 0) x = load(to, p.output_form, p.load);
    }
    report(p.status, step.found());
  }

 private:
  static GUF_DEVICE_ONLY X load(u64 from, u32 form, const time_conversion &conversion) {
    if constexpr (is_time<X>::value) {
      if ((form & kFormLoopType) != 0) return *(const X *)from;
      const char *const at = (const char *)from;
      raw_element x;
      load_raw<1>(&x, &at, form);
      return from_raw<X>(converted(conversion.kind, conversion.units, form, kind_of<X>::value, x));
    } else {
      (void)conversion;
      return fetch<X>(from, form);
    }
  }
  static GUF_DEVICE_ONLY void store(u64 to, u32 form, const time_conversion &conversion, X x) {
    if constexpr (is_time<X>::value) {
      if ((form & kFormLoopType) != 0) {
        *(X *)to = x;
        return;
      }
      char *const at = (char *)to;
      const bool live = true;
      const raw_element raw =
          converted(conversion.kind, conversion.units, kind_of<X>::value, form, to_raw<X>(x));
      store_raw<1>(&at, &raw, &live, form);
    } else {
      (void)conversion;
      put<X>(to, form, x);
    }
  }
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FOLD_CHAIN_HPP
