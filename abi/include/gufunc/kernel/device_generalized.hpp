// SPDX-License-Identifier: Apache-2.0
// Device entries of a generalized loop. thread: one thread per item; block: a whole block per item,
// for cooperative functions.
#ifndef GUFUNC_KERNEL_DEVICE_GENERALIZED_HPP
#define GUFUNC_KERNEL_DEVICE_GENERALIZED_HPP

#include "device_block.hpp"
#include "device_group.hpp"
#include "sequence.hpp"
#include "views.hpp"

namespace guf {
namespace device {

// As guf::host::operand.
template <class T, role Role, int... D>
struct operand {
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
};

template <class Op, bool Cooperative, class... Operand>
struct generalized {
  static constexpr int count = (int)sizeof...(Operand);
  typedef generalized_block<count> block;

  static GUF_DEVICE_ONLY void thread(const block &p, char *const *base) {
    const u32 item = block_id() * kItemThreads + thread_id();
    if (item < p.items) item_of(one(), p, base, item, make_indices<count>());
  }
  static GUF_DEVICE_ONLY void whole_block(const block &p, char *const *base, char *shared) {
    item_of(block_group(shared), p, base, block_id(), make_indices<count>());
  }

 private:
  template <class G, int... K>
  static GUF_DEVICE_ONLY void item_of(G group, const block &p, char *const *base, u32 item,
                                      indices<K...>) {
    i64 offset[count];
    GUF_UNROLL
    for (int a = 0; a < count; ++a) offset[a] = 0;
    GUF_NO_UNROLL
    for (u32 d = 0; d < p.nouter; ++d) {
      const u32 q = quotient(p.dim[d], item);
      GUF_UNROLL
      for (int a = 0; a < count; ++a) {
        offset[a] += (i64)(item - q * p.dim[d].d) * p.outer_stride[d][a];
      }
      item = q;
    }
    if constexpr (Cooperative) {
      Op::call(group, Operand::argument(base[K] + offset[K], p.core_size, p.core_stride[K])...);
    } else {
      (void)group;
      Op::call(Operand::argument(base[K] + offset[K], p.core_size, p.core_stride[K])...);
    }
  }
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_GENERALIZED_HPP
