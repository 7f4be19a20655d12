// SPDX-License-Identifier: Apache-2.0
// The two device entries of an elementwise loop.
//   row  one row of the inner dimension per slice of a block: flat arrays, row and column
//        broadcasts, strides
//   nd   any strides, one division per element and dimension
#ifndef GUFUNC_KERNEL_DEVICE_ELEMENTWISE_HPP
#define GUFUNC_KERNEL_DEVICE_ELEMENTWISE_HPP

#include "device_block.hpp"
#include "sequence.hpp"

namespace guf {
namespace device {

// 16 bytes in one access: clang keeps a store of a native vector whole.
template <int Bytes>
struct word_of;
template <>
struct word_of<1> {
  typedef u8 type;
};
template <>
struct word_of<2> {
  typedef u16 type;
};
template <>
struct word_of<4> {
  typedef u32 type;
};
#if defined(__clang__)
template <>
struct word_of<8> {
  typedef u32 type __attribute__((ext_vector_type(2)));
};
template <>
struct word_of<16> {
  typedef u32 type __attribute__((ext_vector_type(4)));
};
#else
template <>
struct word_of<8> {
  typedef uint2 type;
};
template <>
struct word_of<16> {
  typedef uint4 type;
};
#endif

// The values of operand I that one thread holds.
template <int I, class T, int K>
struct held {
  T v[K];
};
template <class I, int K, class... T>
struct held_all;
template <int... I, int K, class... T>
struct held_all<indices<I...>, K, T...> : held<I, T, K>... {};
template <int I, class T, int K>
GUF_DEVICE_ONLY T *values(held<I, T, K> &all) {
  return all.v;
}

template <class... T>
struct tile {
  static constexpr int widest() {
    int all = 1;
    ((all = (int)sizeof(T) > all ? (int)sizeof(T) : all), ...);
    return all;
  }
  static constexpr int vector = widest() >= 16 ? 1 : 16 / widest();
  static constexpr int vectors = 2;  // in flight per operand
  static constexpr int count = vector * vectors;
};

// Where a thread of `row` stands: its column start, valid elements of the tile, and whether vectors
// are legal.
struct row_place {
  u32 tx, lgx, valid;
  bool vectors;
};

template <class T, int K, int V>
GUF_DEVICE_ONLY void load_row(T *to, const char *from, u64 immediate, u32 kind, i64 stride,
                              row_place at) {
#if defined(GUF_CUDA) && defined(__clang__)
  // clang-19 has no __grid_constant__: a select between the block's fields would copy it to local
  // memory.
  asm("" : "+l"(immediate));
#endif
  if (kind >= kScalar) {
    union {
      u64 bits;
      T value;
    } scalar;
    if constexpr (sizeof(T) <= 8) {
      scalar.bits = immediate;
      if (kind == kScalar) scalar.value = *(const T *)from;
    } else {
      scalar.value = *(const T *)from;
    }
    GUF_UNROLL
    for (int k = 0; k < K; ++k) to[k] = scalar.value;
  } else if (at.vectors) {
    typedef typename word_of<(int)sizeof(T) * V>::type word;
    union {
      word whole;
      T part[V];
    } pack;
    GUF_UNROLL
    for (int u = 0; u < K / V; ++u) {
      pack.whole = ((const word *)from)[((u32)u << at.lgx) + at.tx];
      GUF_UNROLL
      for (int j = 0; j < V; ++j) to[u * V + j] = pack.part[j];
    }
  } else {
    GUF_UNROLL
    for (int k = 0; k < K; ++k) {
      const u32 i = ((u32)k << at.lgx) + at.tx;
      if (i < at.valid) to[k] = *(const T *)(from + (i64)i * stride);
    }
  }
}

template <class T, int K, int V>
GUF_DEVICE_ONLY void store_row(char *to, const T *from, i64 stride, row_place at) {
  if (at.vectors) {
    typedef typename word_of<(int)sizeof(T) * V>::type word;
    union {
      word whole;
      T part[V];
    } pack;
    GUF_UNROLL
    for (int u = 0; u < K / V; ++u) {
      GUF_UNROLL
      for (int j = 0; j < V; ++j) pack.part[j] = from[u * V + j];
      ((word *)to)[((u32)u << at.lgx) + at.tx] = pack.whole;
    }
  } else {
    GUF_UNROLL
    for (int k = 0; k < K; ++k) {
      const u32 i = ((u32)k << at.lgx) + at.tx;
      if (i < at.valid) *(T *)(to + (i64)i * stride) = from[k];
    }
  }
}

template <class Op, class Ins, class Outs>
struct elementwise;

template <class Op, class... A, class... R>
struct elementwise<Op, types<A...>, types<R...>> {
  static constexpr int nin = (int)sizeof...(A), nout = (int)sizeof...(R), count = nin + nout;
  typedef row_block<count> row_type;
  typedef nd_block<count> nd_type;

  static GUF_DEVICE_ONLY void row(const block &p, char *const *base) {
    row_of(p, base, make_indices<nin>(), make_indices<nout>());
  }
  static GUF_DEVICE_ONLY void nd(const block &p, char *const *base) {
    nd_of(p, base, make_indices<nin>(), make_indices<nout>());
  }

 private:
  // Calls the function for element k of the held values.
  template <int K, class In, class Out, int... I, int... O>
  static GUF_DEVICE_ONLY void compute(In &in, Out &out, int k, indices<I...>, indices<O...>) {
    if constexpr (nout == 1) {
      ((values<O>(out)[k] = cast<R>(Op::call(cast<value_t<A>>(values<I>(in)[k])...))), ...);
    } else {
      held_all<indices<O...>, 1, value_t<R>...> result;
      Op::call(cast<value_t<A>>(values<I>(in)[k])..., values<O>(result)[0]...);
      ((values<O>(out)[k] = cast<R>(values<O>(result)[0])), ...);
    }
  }

  template <int... I, int... O>
  static GUF_DEVICE_ONLY void row_of(const block &p, char *const *base, indices<I...>,
                                     indices<O...>) {
    constexpr int V = tile<A..., R...>::vector, K = tile<A..., R...>::count;
    const u32 width = (u32)K << p.lgx;
    const u32 slice = p.nouter != 0 ? quotient(p.chunks, block_id()) : 0;
    const u32 row = (slice << (8 - p.lgx)) + (thread_id() >> p.lgx);
    const u64 first = (u64)(block_id() - slice * p.chunks.d) * width;
    i64 offset[count];
    GUF_UNROLL
    for (int a = 0; a < count; ++a) offset[a] = (i64)first * p.inner_stride[a];
    if (p.nouter != 0) {
      if (row >= p.nrows) return;
      u32 rest = row;
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
    const u64 left = p.inner - first;
    const u32 valid = left < width ? (u32)left : width;
    const row_place at = {thread_id() & ((1u << p.lgx) - 1u), p.lgx, valid,
                          (p.flags & kVectors) != 0 && valid == width};
    held_all<indices<I...>, K, A...> in;
    (load_row<A, K, V>(values<I>(in), base[I] + offset[I], p.address[I], (p.kinds >> (2 * I)) & 3u,
                       p.inner_stride[I], at),
     ...);
    held_all<indices<O...>, K, R...> out;
    GUF_UNROLL
    for (int k = 0; k < K; ++k) compute<K>(in, out, k, indices<I...>(), indices<O...>());
    (store_row<R, K, V>(base[nin + O] + offset[nin + O], values<O>(out), p.inner_stride[nin + O],
                        at),
     ...);
  }

  template <int... I, int... O>
  static GUF_DEVICE_ONLY void nd_of(const block &p, char *const *base, indices<I...>,
                                    indices<O...>) {
    constexpr int K = 4;
    const u64 first = (u64)block_id() * (kThreads * K) + thread_id();
    GUF_UNROLL
    for (int k = 0; k < K; ++k) {
      const u64 index = first + (u64)k * kThreads;
      if (index >= p.inner) return;
      i64 offset[count];
      GUF_UNROLL
      for (int a = 0; a < count; ++a) offset[a] = 0;
      u32 rest = (u32)index;
      GUF_NO_UNROLL
      for (u32 d = 0; d < p.nouter; ++d) {
        const u32 q = quotient(p.dim[d], rest);
        GUF_UNROLL
        for (int a = 0; a < count; ++a) {
          offset[a] += (i64)(rest - q * p.dim[d].d) * p.outer_stride[d][a];
        }
        rest = q;
      }
      held_all<indices<I...>, 1, A...> in;
      ((values<I>(in)[0] = *(const A *)(base[I] + offset[I])), ...);
      held_all<indices<O...>, 1, R...> out;
      compute<1>(in, out, 0, indices<I...>(), indices<O...>());
      ((*(R *)(base[nin + O] + offset[nin + O]) = values<O>(out)[0]), ...);
    }
  }
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_ELEMENTWISE_HPP
