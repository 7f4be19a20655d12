// SPDX-License-Identifier: Apache-2.0
// Device entries of a generalized loop. All of them except `staged` can compute floating-point
// flags.
//   thread  one thread per item
//   staged  like thread, with contiguous rows staged in shared memory
//   lanes   a sub-group per item, for cooperative functions
//   block   a whole block per item, for cooperative functions
#ifndef GUFUNC_KERNEL_DEVICE_GENERALIZED_HPP
#define GUFUNC_KERNEL_DEVICE_GENERALIZED_HPP

#include "device_elementwise.hpp"
#include "device_group.hpp"
#include "device_stage.hpp"
#include "views.hpp"

namespace guf {
namespace device {

// Describes an operand, like guf::host::operand: element type, role, and the indices of the
// operand's core dimensions among the signature's distinct dimensions.
template <class T, role Role, int... D>
struct operand {
  typedef T type;
  static constexpr role use = Role;
  static constexpr bool written = Role != role::in;
  static constexpr int ndim = (int)sizeof...(D);
  static_assert(ndim <= kCoreStrides, "an operand has at most 4 core dimensions on a device");

  static GUF_DEVICE_ONLY auto argument(char *base, const i64 *sizes, const i64 *strides) {
    if constexpr (Role == role::in && ndim == 0) {
      return cast<value_t<T>>(*(const T *)base);
    } else if constexpr (Role == role::in) {
      const i64 extents[] = {sizes[D]..., 0};
      return view<const T, ndim>(base, extents, strides);
    } else {
      const i64 extents[] = {sizes[D]..., 0};
      return view<T, ndim>(base, extents, strides);
    }
  }

  // Returns the classes of all elements of an item, ORed together.
  static GUF_DEVICE_ONLY u32 classes(const char *base, const i64 *sizes, const i64 *strides) {
    if constexpr (!has_class<T>()) {
      return 0;
    } else {
      const i64 extents[] = {sizes[D]..., 0};
      return classes_from<0>(base, extents, strides);
    }
  }

 private:
  template <int Dim>
  static GUF_DEVICE_ONLY u32 classes_from(const char *base, const i64 *extents,
                                          const i64 *strides) {
    if constexpr (Dim == ndim) {
      return classify(*(const T *)base);
    } else {
      u32 all = 0;
      GUF_NO_UNROLL
      for (i64 i = 0; i < extents[Dim]; ++i) {
        all |= classes_from<Dim + 1>(base + i * strides[Dim], extents, strides);
      }
      return all;
    }
  }
};

template <class Op, bool Cooperative, bool MayFail, class... Operand>
struct generalized {
  static constexpr int count = (int)sizeof...(Operand);
  typedef generalized_block<count> block;
  typedef staged_block<count> staged_type;

  static GUF_DEVICE_ONLY void thread(const block &p, char *const *base) {
    const u32 item = block_id() * (u32)kItemThreads + thread_id();
    if (item >= p.items) return;
    i64 offset[count];
    if (!find_item(p, item, offset)) return;
    all_of(single_thread(), p, base, offset, make_indices<count>());
  }

#if !defined(GUF_OPENCL)
  static GUF_DEVICE_ONLY void lanes(const block &p, char *const *base) {
    const u32 item = block_id() * (u32)kSubgroups + thread_id() / (u32)kLanes;
    if (item >= p.items) return;
    i64 offset[count];
    if (!find_item(p, item, offset)) return;
    all_of(lane_group(), p, base, offset, make_indices<count>());
  }

  static GUF_DEVICE_ONLY void whole_block(const block &p, char *const *base, char *shared) {
    i64 offset[count];
    if (!find_item(p, block_id(), offset)) return;
    all_of(block_group(shared), p, base, offset, make_indices<count>());
  }

  static GUF_DEVICE_ONLY void staged(const staged_type &p, char *const *base, char *shared) {
    staged_of(p, base, shared, make_indices<count>());
  }
#endif

 private:
  static constexpr bool scalars = ((Operand::ndim == 0) && ...);

  // Sets the byte offset of an item in each operand. Returns false if the mask excludes the item.
  static GUF_DEVICE_ONLY bool find_item(const block &p, u32 item, i64 *offset) {
    i64 mask_offset = 0;
    GUF_UNROLL
    for (int a = 0; a < count; ++a) offset[a] = 0;
    GUF_NO_UNROLL
    for (u32 d = 0; d < p.ndim; ++d) {
      const u32 q = quotient(p.dim[d], item);
      const i64 index = (i64)(item - q * p.dim[d].d);
      item = q;
      mask_offset += index * p.mask_stride[d];
      GUF_UNROLL
      for (int a = 0; a < count; ++a) offset[a] += index * p.stride[d][a];
    }
#if defined(GUF_OPENCL)
    return true;
#else
    return p.mask == 0 || *((const u8 *)p.mask + mask_offset) != 0;
#endif
  }

  // Computes one item with all threads of the group; the first thread computes the flags.
  template <class G, int... K>
  static GUF_DEVICE_ONLY void all_of(G group, const block &p, char *const *base, const i64 *offset,
                                     indices<K...> all) {
    char *const address[] = {base[K] + offset[K]...};
    const bool checks_fp_flags = p.fp_flags != 0 && group.rank() == 0;
    u32 seen = 0;
    if (checks_fp_flags) seen = classify_inputs(p, address, all);
    if (p.fp_flags != 0) group.sync();
    const bool failed = call(group, p, address, all);
    u32 found = 0;
    if (p.fp_flags != 0) group.sync();
    if (checks_fp_flags) {
      found = classify_results(p, address, seen, all) & p.fp_flags;
    }
    report(p.status, failed ? found | kStatusFailed : found);
  }

  template <class G, int... K>
  static GUF_DEVICE_ONLY bool call(G group, const block &p, char *const *address, indices<K...>) {
    bool failed = false;
    if constexpr (Cooperative) {
      call_op<Op, MayFail>(failed, group,
                           Operand::argument(address[K], p.core_size, p.core_stride[K])...);
    } else {
      (void)group;
      call_op<Op, MayFail>(failed, Operand::argument(address[K], p.core_size, p.core_stride[K])...);
    }
    return failed;
  }

  // Returns the classes of the item's inputs, and kDivisorIsZero if the last input is an integer 0.
  template <int... K>
  static GUF_DEVICE_ONLY u32 classify_inputs(const block &p, char *const *address, indices<K...>) {
    u32 seen = 0;
    ((seen |=
      Operand::use == role::out ? 0u : Operand::classes(address[K], p.core_size, p.core_stride[K])),
     ...);
    if constexpr (scalars) {
      bool zero = false;  // whether the last input, the divisor, is 0
      ((zero = Operand::use == role::in
                   ? is_integer_zero(*(const typename Operand::type *)address[K])
                   : zero),
       ...);
      seen |= zero ? (u32)kDivisorIsZero : 0u;
    }
    return seen;
  }
  enum : u32 { kDivisorIsZero = 1u << 8 };

  template <int... K>
  static GUF_DEVICE_ONLY u32 classify_results(const block &p, char *const *address, u32 seen,
                                              indices<K...>) {
    u32 found = (seen & kDivisorIsZero) != 0 ? (u32)kFpIntegerDivide : 0u;
    ((found |= Operand::use == role::in
                   ? 0u
                   : fp_flags_of(seen, Operand::classes(address[K], p.core_size, p.core_stride[K]),
                                 scalars)),
     ...);
    return found;
  }

#if !defined(GUF_OPENCL)
  template <int... K>
  static GUF_DEVICE_ONLY void staged_of(const staged_type &p, char *const *base, char *shared,
                                        indices<K...> all) {
    const u32 first = block_id() * p.options;
    const u32 here = p.items - first < p.options ? p.items - first : p.options;
    const i64 start[] = {(i64)first * p.stride[0][K]...};
    (stage_in<typename Operand::type>(p.row[K], shared, base[K] + start[K], here), ...);
    barrier();
    i64 offset[count];
    bool failed = false;
    if (thread_id() < here && find_item(p, first + thread_id(), offset)) {
      char *const address[] = {staged_row_address<typename Operand::type>(
          p.row[K], shared, thread_id(), base[K] + offset[K])...};
      failed = call(single_thread(), p, address, all);
    }
    barrier();
    (stage_out<typename Operand::type, Operand::written>(p.row[K], shared, base[K] + start[K],
                                                         here),
     ...);
    report(p.status, failed ? kStatusFailed : 0u);
  }
#endif
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_GENERALIZED_HPP
