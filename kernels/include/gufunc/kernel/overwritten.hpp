// SPDX-License-Identifier: Apache-2.0
// Entries of functions with the option `overwrites`, which overwrite the elements of their first
// operand. On the host, the loop copies each item of the operand if `loop_copies_item` is true.
// Otherwise, and always on a device, the library passes a copy of the whole operand in which no two
// items share elements (core/call/staging.h).
#ifndef GUFUNC_KERNEL_OVERWRITTEN_HPP
#define GUFUNC_KERNEL_OVERWRITTEN_HPP

#include "item_copy.hpp"

#if defined(GUF_HOST) && !defined(GUF_EMULATE)
#include "host_loops.hpp"

namespace guf {
namespace host {

template <class T, int... D>
struct overwritten : operand<T, role::inout, D...> {
  static constexpr int ndim = (int)sizeof...(D);
  static_assert(ndim > 0, "gufcc requires core dimensions");

  static GUF_FN bool is_copied_by_loop(const i64 *sizes) {
    const i64 extents[] = {sizes[D]...};
    return loop_copies_item(extents, ndim, (i64)sizeof(T));
  }

  // Copies an item to `to` in C order.
  static GUF_FN void copy(const char *from, const i64 *sizes, const i64 *strides, char *to) {
    const i64 extents[] = {sizes[D]...};
    copy_dimensions<0>(from, extents, strides, to);
  }
  static GUF_FN void set_strides_of_copy(const i64 *sizes, i64 *strides) {
    const i64 extents[] = {sizes[D]...};
    i64 stride = (i64)sizeof(T);
    for (int d = ndim - 1; d >= 0; --d) {
      strides[d] = stride;
      stride *= extents[d];
    }
  }

 private:
  // Returns the address after the last element of the copy.
  template <int Dim>
  static GUF_FN char *copy_dimensions(const char *from, const i64 *extents, const i64 *strides,
                                      char *to) {
    if constexpr (Dim == ndim) {
      memory<T>::store(to, memory<T>::load(from));
      return to + sizeof(T);
    } else {
      for (i64 i = 0; i < extents[Dim]; ++i) {
        to = copy_dimensions<Dim + 1>(from + i * strides[Dim], extents, strides, to);
      }
      return to;
    }
  }
};

// The number of sizes that a loop must pass for an operand.
template <class Operand>
struct sizes_of;
template <class T, role Role, int... D>
struct sizes_of<operand<T, Role, D...>> {
  static constexpr int count = largest<(D + 1)...>();
};
template <class T, int... D>
struct sizes_of<overwritten<T, D...>> {
  static constexpr int count = largest<(D + 1)...>();
};

template <class Op, bool Cooperative, bool MayFail, class First, class... Operand>
struct overwriting {
  typedef generalized<Op, Cooperative, MayFail, First, Operand...> general;
  static constexpr int count = 1 + (int)sizeof...(Operand);
  static constexpr int nsteps = count + (First::ndim + ... + Operand::ndim);
  static constexpr int nsizes = largest<sizes_of<First>::count, sizes_of<Operand>::count...>();

  // Returns true if an item failed.
  static GUF_FN bool run(char **args, const i64 *dims, const i64 *steps) {
    if (!First::is_copied_by_loop(dims + 1)) return general::run(args, dims, steps);
    return run_on_copies(args, dims, steps);
  }

 private:
  static __attribute__((noinline)) bool run_on_copies(char **args, const i64 *dims,
                                                      const i64 *steps) {
    alignas(64) char copy[kItemCopyBytes];
    i64 own_dims[1 + nsizes], own_steps[nsteps];
    own_dims[0] = 1;
    for (int d = 1; d <= nsizes; ++d) own_dims[d] = dims[d];
    for (int k = 0; k < nsteps; ++k) own_steps[k] = steps[k];
    First::set_strides_of_copy(dims + 1, own_steps + count);
    bool failed = false;
    for (i64 i = 0; i < dims[0]; ++i) {
      char *own_args[count] = {copy};
      for (int k = 1; k < count; ++k) own_args[k] = args[k] + i * steps[k];
      First::copy(args[0] + i * steps[0], dims + 1, steps + count, copy);
      failed |= general::run(own_args, own_dims, own_steps);
    }
    return failed;
  }
};

}  // namespace host
}  // namespace guf
#else
#include "device_generalized.hpp"

namespace guf {
namespace device {

// The function writes to the operand, but what it writes is not a result. Floating-point flags are
// therefore derived from the operand as from an input.
template <class T, int... D>
struct overwritten : operand<T, role::inout, D...> {
  static constexpr role use = role::in;
};

}  // namespace device
}  // namespace guf
#endif

#endif  // GUFUNC_KERNEL_OVERWRITTEN_HPP
