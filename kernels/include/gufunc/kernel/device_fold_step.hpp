// SPDX-License-Identifier: Apache-2.0
// One step of a reduction, and access to the operands of the step. All entries for methods use
// these functions.
#ifndef GUFUNC_KERNEL_DEVICE_FOLD_STEP_HPP
#define GUFUNC_KERNEL_DEVICE_FOLD_STEP_HPP

#include "device_fold_block.hpp"
#include "device_fold_form.hpp"
#include "device_fp_flags.hpp"
#include "fast_path.hpp"
#include "partial.hpp"

namespace guf {
namespace device {

namespace detail {

// Returns the floating-point flags of a step with the operands `a` and `b`.
template <class A, class B, class R>
GUF_DEVICE_NOINLINE u32 step_fp_flags(A a, B b, R result) {
  u32 fp_flags = is_integer_zero(b) ? kFpIntegerDivide : 0u;
  if constexpr (has_class<R>()) {
    fp_flags |= fp_flags_of(classify(a) | classify(b), classify(result), true);
  }
  return fp_flags;
}

}  // namespace detail

// Computes the steps X op Y -> X of one thread. Flags are computed and results are rounded in the
// types X and Y, which are the types in memory or the type of partial results.
template <class Op, class X, class Y, bool MayFail>
class stepper {
 public:
  typedef value_t<X> value;
  typedef value_t<Y> element;

  GUF_DEVICE_ONLY explicit stepper(u32 fp_flags) : fp_flags_(fp_flags), found_(0) {}

  GUF_DEVICE_ONLY value operator()(value a, element b) {
    const X result = plain(a, b);
    if (fp_flags_ != 0)
      found_ |= detail::step_fp_flags<X, Y, X>(cast<X>(a), cast<Y>(b), result) & fp_flags_;
    return cast<value>(result);
  }
  // Computes a step without floating-point flags.
  GUF_DEVICE_ONLY X plain(value a, element b) {
    if constexpr (MayFail) {
      bool failed = false;
      const X result = cast<X>(Op::call(a, b, failed));
      found_ |= failed ? (u32)kStatusFailed : 0u;
      return result;
    } else if constexpr (has_two_paths<decltype(Op::call(a, b))>::value) {
      return cast<X>(decltype(Op::call(a, b))::function::full_path(a, b));
    } else {
      return cast<X>(Op::call(a, b));
    }
  }

  GUF_DEVICE_ONLY bool checks_fp_flags() const { return fp_flags_ != 0; }
  GUF_DEVICE_ONLY void add(u32 fp_flags) { found_ |= fp_flags & fp_flags_; }
  GUF_DEVICE_ONLY u32 found() const { return found_; }

 private:
  u32 fp_flags_, found_;
};

// Byte offsets of the first elements of a lane.
struct lane_offsets {
  u64 input, mask, output;
};
GUF_DEVICE_ONLY lane_offsets offsets_of(const lane_dims &lanes, u32 lane) {
  lane_offsets offsets = {0, 0, 0};
  GUF_NO_UNROLL
  for (u32 d = 0; d < lanes.ndim; ++d) {
    const u32 q = quotient(lanes.size[d], lane);
    const i64 index = lane - q * lanes.size[d].d;
    offsets.input += (u64)(index * lanes.input[d]);
    offsets.mask += (u64)(index * lanes.mask[d]);
    offsets.output += (u64)(index * lanes.output[d]);
    lane = q;
  }
  return offsets;
}

// Returns the value whose bits are in `initial`.
template <class T>
GUF_DEVICE_ONLY T initial_of(const fold_sink &to) {
  u64 bits[2] = {to.initial[0], to.initial[1]};
#if defined(GUF_CUDA) && defined(__clang__)
  // Without this statement, clang-19 selects between the address of `initial` and another address,
  // and copies the whole block to local memory for that purpose.
  asm("" : "+l"(bits[0]), "+l"(bits[1]));
#endif
  T x;
  __builtin_memcpy(&x, bits, sizeof(T));
  return x;
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FOLD_STEP_HPP
