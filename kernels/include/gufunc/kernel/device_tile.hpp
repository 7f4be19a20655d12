// SPDX-License-Identifier: Apache-2.0
// The operands' values that one thread of `row` keeps in registers, and their loads and stores.
#ifndef GUFUNC_KERNEL_DEVICE_TILE_HPP
#define GUFUNC_KERNEL_DEVICE_TILE_HPP

#include "device_block.hpp"
#include "sequence.hpp"

namespace guf {
namespace device {

// A type of `Bytes` bytes that is accessed with one instruction. For 16 bytes this is a native
// vector, whose store clang does not split.
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
typedef u32 word8 __attribute__((ext_vector_type(2)));
typedef u32 word16 __attribute__((ext_vector_type(4)));
#elif defined(GUF_CUDA)
typedef uint2 word8;
typedef uint4 word16;
#else
typedef u32 word8 __attribute__((vector_size(8)));
typedef u32 word16 __attribute__((vector_size(16)));
#endif
template <>
struct word_of<8> {
  typedef word8 type;
};
template <>
struct word_of<16> {
  typedef word16 type;
};

// The values of operand I that one thread keeps in registers.
template <int I, class T, int K>
struct operand_registers {
  T v[K];
};
template <class I, int K, class... T>
struct registers;
template <int... I, int K, class... T>
struct registers<indices<I...>, K, T...> : operand_registers<I, T, K>... {};
template <int I, class T, int K>
GUF_DEVICE_ONLY T *values(operand_registers<I, T, K> &all) {
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
  static constexpr int vectors = kRowVectors;
  static constexpr int count = vector * vectors;
};

// Position of a thread of `row`: its first column, and the number of valid elements of the tile (at
// least one).
struct row_position {
  u32 tx, log2_row_threads, valid;
};

// An input of `row`: the address of the first element of the tile, an immediate scalar, a value of
// `kinds`, and the step along the row in bytes.
struct row_input {
  const char *from;
  u64 immediate;
  u32 kind;
  i64 stride;
};

template <class T>
GUF_DEVICE_ONLY T load_scalar(row_input input) {
#if defined(GUF_CUDA) && defined(__clang__)
  // clang-19 has no __grid_constant__, so a selection between fields of the block would copy the
  // block to local memory.
  asm("" : "+l"(input.immediate));
#endif
  union {
    u64 bits;
    T value;
  } scalar;
  if constexpr (sizeof(T) <= 8) {
    scalar.bits = input.immediate;
    if (input.kind != kImmediate) scalar.value = *(const T *)input.from;
  } else {
    scalar.value = *(const T *)input.from;
  }
  return scalar.value;
}

// Loads the K elements of a thread of a full tile, with one access per V elements.
template <class T, int K, int V>
GUF_DEVICE_ONLY void load_vectors(T *to, row_input input, row_position position) {
  if (input.kind >= kScalar) {
    const T value = load_scalar<T>(input);
    GUF_UNROLL
    for (int k = 0; k < K; ++k) to[k] = value;
    return;
  }
  typedef typename word_of<(int)sizeof(T) * V>::type word;
  union {
    word whole;
    T part[V];
  } pack;
  GUF_UNROLL
  for (int u = 0; u < K / V; ++u) {
    pack.whole = ((const word *)input.from)[((u32)u << position.log2_row_threads) + position.tx];
    GUF_UNROLL
    for (int j = 0; j < V; ++j) to[u * V + j] = pack.part[j];
  }
}

template <class T, int K, int V>
GUF_DEVICE_ONLY void store_vectors(char *to, const T *from, row_position position) {
  typedef typename word_of<(int)sizeof(T) * V>::type word;
  union {
    word whole;
    T part[V];
  } pack;
  GUF_UNROLL
  for (int u = 0; u < K / V; ++u) {
    GUF_UNROLL
    for (int j = 0; j < V; ++j) pack.part[j] = from[u * V + j];
    ((word *)to)[((u32)u << position.log2_row_threads) + position.tx] = pack.whole;
  }
}

// Loads E elements of a thread, from its element `first` on, which must be valid. An element beyond
// the end of the row repeats this element, which no other thread writes.
template <class T, int E>
GUF_DEVICE_ONLY void load_elements(T *to, row_input input, row_position position, u32 first) {
  GUF_UNROLL
  for (int k = 0; k < E; ++k) {
    const u32 start = (first << position.log2_row_threads) + position.tx;
    const u32 i = start + ((u32)k << position.log2_row_threads);
    const i64 index = (i64)(i < position.valid ? i : start);
    if (input.kind == kImmediate) {
      to[k] = load_scalar<T>(input);
    } else {
      to[k] = *(const T *)(input.from + index * input.stride);
    }
  }
}

template <class T, int E>
GUF_DEVICE_ONLY void store_elements(char *to, const T *from, i64 stride, row_position position,
                                    u32 first) {
  GUF_UNROLL
  for (int k = 0; k < E; ++k) {
    const u32 i = ((first + (u32)k) << position.log2_row_threads) + position.tx;
    if (i < position.valid) *(T *)(to + (i64)i * stride) = from[k];
  }
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_TILE_HPP
