// SPDX-License-Identifier: Apache-2.0
// The two device entries of an elementwise loop.
//   row  Some or all threads of a block compute one row of the inner dimension. This entry is for
//        flat arrays, for broadcast rows and columns, and for strided operands. Full tiles of
//        aligned contiguous operands are accessed as vectors, and other tiles element by element.
//   nd   Each thread computes the position of each of its elements with one division per dimension.
//        This entry supports any strides, operands of any type and byte order, a mask, and
//        floating-point flags.
#ifndef GUFUNC_KERNEL_DEVICE_ELEMENTWISE_HPP
#define GUFUNC_KERNEL_DEVICE_ELEMENTWISE_HPP

#include "device_form.hpp"
#include "device_fp_flags.hpp"
#include "device_tile.hpp"

namespace guf {
namespace device {

// Calls Op. An Op that may fail has the last parameter `failed`.
template <class Op, bool MayFail, class... Argument>
GUF_DEVICE_ONLY decltype(auto) call_op(bool &failed, Argument &&...argument) {
  if constexpr (MayFail) {
    return Op::call(static_cast<Argument &&>(argument)..., failed);
  } else {
    (void)failed;
    return Op::call(static_cast<Argument &&>(argument)...);
  }
}

template <class Ins, class Outs>
struct element_flags;

template <class... A, class... R>
struct element_flags<types<A...>, types<R...>> {
  // Returns the floating-point flags of one element, whose values have the loop's types. The last
  // input is the divisor.
  static GUF_DEVICE_NOINLINE u32 of(A... in, R... out) {
    const u32 seen = (0u | ... | classify(in));
    bool zero = false;
    ((zero = is_integer_zero(in)), ...);
    return (fp_flags_of(seen, classify(out), true) | ... | (zero ? (u32)kFpIntegerDivide : 0u));
  }
};

// The positions of the elements of one thread of `nd`, as byte offsets from the base of each
// operand. Elements that are not live are read but not written. Elements that the mask excludes are
// not live. An element beyond the end of the operands is not live either, and has the position of
// the thread's first element, which no other thread writes.
template <int Count, int K>
struct nd_positions {
  bool live[K];
  i64 offset[K][Count];
};

template <class Op, class Ins, class Outs, bool MayFail = false>
struct elementwise;

template <class Op, class... A, class... R, bool MayFail>
struct elementwise<Op, types<A...>, types<R...>, MayFail> {
  static constexpr int nin = (int)sizeof...(A), nout = (int)sizeof...(R), count = nin + nout;
  typedef row_block<count> row_type;
  typedef nd_block<count> nd_type;

  static GUF_DEVICE_ONLY void row(const row_type &p, char *const *base) {
    row_of(p, base, make_indices<nin>(), make_indices<nout>());
  }
  static GUF_DEVICE_ONLY void nd(const nd_type &p, char *const *base) {
    nd_of(p, base, make_indices<nin>(), make_indices<nout>());
  }

 private:
  static constexpr int items = nd_elements(count);
  // The number of elements that a thread of `row` loads at once if it cannot use vector accesses.
  static constexpr int single = tile<A..., R...>::widest() >= 8 ? 1 : 2;

  // Calls the function for element k of the loaded values.
  template <class In, class Out, int... I, int... O>
  static GUF_DEVICE_ONLY void compute(In &in, Out &out, int k, bool &any_failed, indices<I...>,
                                      indices<O...>) {
    bool failed = false;  // of this element only, because a function may also set it to false
    if constexpr (nout == 1) {
      ((values<O>(out)[k] =
            cast<R>(call_op<Op, MayFail>(failed, cast<value_t<A>>(values<I>(in)[k])...))),
       ...);
    } else {
      registers<indices<O...>, 1, value_t<R>...> result;
      call_op<Op, MayFail>(failed, cast<value_t<A>>(values<I>(in)[k])..., values<O>(result)[0]...);
      ((values<O>(out)[k] = cast<R>(values<O>(result)[0])), ...);
    }
    any_failed |= failed;
  }

  // Splits the index `rest` into an index per outer dimension, and adds these indices to the byte
  // offsets.
  static GUF_DEVICE_ONLY void add_outer(const row_type &p, u32 rest, i64 *offset) {
    GUF_NO_UNROLL
    for (u32 d = 0; d < p.nouter; ++d) {
      const u32 q = quotient(p.dim[d], rest);
      GUF_UNROLL
      for (int a = 0; a < count; ++a) {
        offset[a] += (i64)(rest - q * p.dim[d].d) * p.outer_stride[d][a];
      }
      rest = q;
    }
  }

  template <int... I, int... O>
  static GUF_DEVICE_ONLY void row_of(const row_type &p, char *const *base, indices<I...>,
                                     indices<O...>) {
    constexpr int V = tile<A..., R...>::vector, K = tile<A..., R...>::count;
    const u32 width = (u32)K << p.log2_row_threads;
    const u32 slice = p.nouter != 0 ? quotient(p.chunks, block_id()) : 0;
    const u32 row = (slice << (8 - p.log2_row_threads)) + (thread_id() >> p.log2_row_threads);
    const u64 first = (u64)(block_id() - slice * p.chunks.d) * width;
    i64 offset[count];
    GUF_UNROLL
    for (int a = 0; a < count; ++a) offset[a] = (i64)first * p.inner_stride[a];
    if (p.nouter != 0) {
      if (row >= p.nrows) return;
      add_outer(p, row, offset);
    }
    const u64 left = p.inner - first;
    const row_position position = {thread_id() & ((1u << p.log2_row_threads) - 1u),
                                   p.log2_row_threads, left < width ? (u32)left : width};
    const row_input input[] = {
        {base[I] + offset[I], p.address[I], (p.kinds >> (2 * I)) & 3u, p.inner_stride[I]}...};
    bool failed = false;
    if ((p.flags & kVectors) != 0 && left >= width) {
      registers<indices<I...>, K, A...> in;
      (load_vectors<A, K, V>(values<I>(in), input[I], position), ...);
      registers<indices<O...>, K, R...> out;
      GUF_UNROLL
      for (int k = 0; k < K; ++k) compute(in, out, k, failed, indices<I...>(), indices<O...>());
      (store_vectors<R, K, V>(base[nin + O] + offset[nin + O], values<O>(out), position), ...);
    } else {
      GUF_NO_UNROLL
      for (u32 k = 0; k < (u32)K; k += (u32)single) {
        if ((k << p.log2_row_threads) + position.tx >= position.valid) break;
        registers<indices<I...>, single, A...> in;
        (load_elements<A, single>(values<I>(in), input[I], position, k), ...);
        registers<indices<O...>, single, R...> out;
        GUF_UNROLL
        for (int j = 0; j < single; ++j)
          compute(in, out, j, failed, indices<I...>(), indices<O...>());
        (store_elements<R, single>(base[nin + O] + offset[nin + O], values<O>(out),
                                   p.inner_stride[nin + O], position, k),
         ...);
      }
    }
    if constexpr (MayFail) report(p.status, failed ? kStatusFailed : 0u);
  }

  // Returns the number of the thread's first element.
  static GUF_DEVICE_ONLY u32 first_item() {
    return block_id() * (u32)(items * kThreads) + thread_id();
  }

  // Computes the positions of K elements of the thread, from its element `first` on.
  template <int K>
  static GUF_DEVICE_ONLY void find_positions(const nd_type &p, u32 first,
                                             nd_positions<count, K> &positions) {
    u32 rest[K];
    i64 mask_offset[K];
    GUF_UNROLL
    for (int k = 0; k < K; ++k) {
      const u32 item = first_item() + (first + (u32)k) * (u32)kThreads;
      positions.live[k] = item < p.items;
      rest[k] = positions.live[k] ? item : first_item();
      mask_offset[k] = 0;
      GUF_UNROLL
      for (int a = 0; a < count; ++a) positions.offset[k][a] = 0;
    }
    GUF_NO_UNROLL
    for (u32 d = 0; d < p.ndim; ++d) {
      GUF_UNROLL
      for (int k = 0; k < K; ++k) {
        const u32 q = quotient(p.dim[d], rest[k]);
        const i64 index = (i64)(rest[k] - q * p.dim[d].d);
        rest[k] = q;
        mask_offset[k] += index * p.mask_stride[d];
        GUF_UNROLL
        for (int a = 0; a < count; ++a) positions.offset[k][a] += index * p.stride[d][a];
      }
    }
#if !defined(GUF_OPENCL)
    if (p.mask == 0) return;
    GUF_UNROLL
    for (int k = 0; k < K; ++k) {
      if (positions.live[k]) positions.live[k] = *((const u8 *)p.mask + mask_offset[k]) != 0;
    }
#endif
  }

  // Processes the elements of a thread, all at once if the operands have the loop's own types, no
  // mask exists and no flags are computed. Otherwise the elements are processed one by one, because
  // conversions cost code and registers.
  template <class I, class O>
  static GUF_DEVICE_ONLY void nd_of(const nd_type &p, char *const *base, I in, O out) {
    if (first_item() >= p.items) return;
    u32 found = 0;
    if ((p.options & kForms) == 0 && p.mask == 0 && p.fp_flags == 0) {
      nd_positions<count, items> positions;
      find_positions(p, 0, positions);
      found = nd_part<false, items>(p, base, positions, in, out);
    } else {
      GUF_NO_UNROLL
      for (u32 first = 0; first < (u32)items; ++first) {
        nd_positions<count, 1> positions;
        find_positions(p, first, positions);
        found |= nd_part<true, 1>(p, base, positions, in, out);
      }
    }
    report(p.status, found);
  }

  template <bool General, int K, int... I, int... O>
  static GUF_DEVICE_ONLY u32 nd_part(const nd_type &p, char *const *base,
                                     const nd_positions<count, K> &positions, indices<I...>,
                                     indices<O...>) {
    registers<indices<I...>, K, A...> in;
    (load_nd<General, K, A>(p, I, base[I], positions, values<I>(in)), ...);
    registers<indices<O...>, K, R...> out;
    u32 found = 0;
    bool failed = false;
    GUF_UNROLL
    for (int k = 0; k < K; ++k) {
      if ((General || MayFail) && !positions.live[k]) continue;
      compute(in, out, k, failed, indices<I...>(), indices<O...>());
      if constexpr (General) {
        if (p.fp_flags != 0) {
          found |= element_flags<types<A...>, types<R...>>::of(values<I>(in)[k]...,
                                                               values<O>(out)[k]...);
        }
      }
    }
    (store_nd<General, K, R>(p, nin + O, base[nin + O], positions, values<O>(out)), ...);
    found &= p.fp_flags;
    if constexpr (MayFail) found |= failed ? kStatusFailed : 0u;
    return found;
  }

  template <bool General, int K, class T>
  static GUF_DEVICE_ONLY void load_nd(const nd_type &p, int a, const char *base,
                                      const nd_positions<count, K> &positions, T *to) {
    if (!General || (p.options & kForms) == 0) {
      GUF_UNROLL
      for (int k = 0; k < K; ++k) to[k] = *(const T *)(base + positions.offset[k][a]);
      return;
    }
#if !defined(GUF_OPENCL)
    if ((p.form[a] & kFormImmediate) != 0) {
      GUF_UNROLL
      for (int k = 0; k < K; ++k) to[k] = from_raw<T>({p.address[a], 0});
      return;
    }
#endif
    GUF_UNROLL
    for (int k = 0; k < K; ++k) to[k] = load_form<T>(base + positions.offset[k][a], p.form[a]);
  }

  template <bool General, int K, class T>
  static GUF_DEVICE_ONLY void store_nd(const nd_type &p, int a, char *base,
                                       const nd_positions<count, K> &positions, const T *from) {
    if (!General || (p.options & kForms) == 0) {
      GUF_UNROLL
      for (int k = 0; k < K; ++k) {
        if (positions.live[k]) *(T *)(base + positions.offset[k][a]) = from[k];
      }
      return;
    }
    GUF_UNROLL
    for (int k = 0; k < K; ++k) {
      if (positions.live[k]) store_form<T>(base + positions.offset[k][a], p.form[a], from[k]);
    }
  }
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_ELEMENTWISE_HPP
