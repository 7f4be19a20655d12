// SPDX-License-Identifier: Apache-2.0
// Templates from which gufcc generates the entry of a raw kernel. They describe the function's
// parameters for the module's table, and read the arguments from the words of the block that every
// launch passes by value.
#ifndef GUFUNC_KERNEL_RAW_ENTRY_HPP
#define GUFUNC_KERNEL_RAW_ENTRY_HPP

#include "raw_block.hpp"
#include "sequence.hpp"
#include "time.hpp"

namespace guf {
namespace raw {

enum { kMaxParameters = 32, kMaxBytes = 2048 };  // bytes of the arguments without the head

// guf_parameter_kind of gufunc/module_table.h.
enum : u32 { kNumber = 1, kPointer = 2, kView = 3 };
enum : u32 { kReadOnly = 1 };  // guf_parameter_flag

// The guf_dtype of an element type, or 0 for other types.
template <class T>
struct dtype_of {
  static constexpr u32 value = 0;
};
#define GUF_DTYPE_OF(T, CODE)          \
  template <>                          \
  struct dtype_of<T> {                 \
    static constexpr u32 value = CODE; \
  };
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  GUF_DTYPE_OF(element, (code) | (bits) << 8 | 1 << 16)
#include <gufunc/dtypes.def>
GUF_DTYPE_OF(bool, dtype_of<b8>::value)
GUF_DTYPE_OF(long long, dtype_of<i64>::value)  // i64 is long, which is another type in C++
GUF_DTYPE_OF(unsigned long long, dtype_of<u64>::value)
GUF_DTYPE_OF(datetime, 0x00010080)
GUF_DTYPE_OF(timedelta, 0x00010081)
#undef GUF_DTYPE_OF

template <class T>
struct is_const {
  static constexpr bool value = false;
};
template <class T>
struct is_const<const T> {
  static constexpr bool value = true;
};

// The layout of a parameter in the block, in words of 8 bytes, and its conversion from these words.
// An element of a bool array is a byte of any value, so a pointer to bool is a pointer to guf::b8.
template <class P>
struct parameter {
  static constexpr u32 kind = kNumber, dtype = dtype_of<P>::value, flags = 0;
  static constexpr int ndim = 0, words = (int)((sizeof(P) + 7) / 8);
  static GUF_FN P read(const u64 *word) {
    P value;
    __builtin_memcpy(&value, word, sizeof(P));
    return value;
  }
};
template <>
struct parameter<bool> {
  static constexpr u32 kind = kNumber, dtype = dtype_of<bool>::value, flags = 0;
  static constexpr int ndim = 0, words = 1;
  static GUF_FN bool read(const u64 *word) { return (*word & 0xff) != 0; }
};
template <class T>
struct parameter<T *> {
  typedef typename without_const<T>::type element;
  static constexpr u32 kind = kPointer;
  static constexpr u32 dtype = is_same<element, bool>::value ? 0 : dtype_of<element>::value;
  static constexpr u32 flags = is_const<T>::value ? (u32)kReadOnly : 0;
  static constexpr int ndim = 0, words = 1;
  static GUF_FN T *read(const u64 *word) { return (T *)*word; }
};
template <class T, int N>
struct parameter<view<T, N>> {
  typedef typename without_const<T>::type element;
  static constexpr u32 kind = kView;
  static constexpr u32 dtype = is_same<element, bool>::value ? 0 : dtype_of<element>::value;
  static constexpr u32 flags = is_const<T>::value ? (u32)kReadOnly : 0;
  static constexpr int ndim = N, words = 1 + 2 * N;
  static GUF_FN view<T, N> read(const u64 *word) {
    i64 extents[N + 1], strides[N + 1];
    for (int d = 0; d < N; ++d) {
      extents[d] = (i64)word[1 + d];
      strides[d] = (i64)word[1 + N + d];
    }
    return view<T, N>((char *)word[0], extents, strides);
  }
};

// Same layout as guf_module_parameter.
struct parameter_row {
  i32 kind;
  u32 dtype;
  i32 ndim;
  u32 flags;
};

// For a type F that is not the type of a kernel.
template <class F>
struct signature {
  static constexpr bool is_kernel = false;
  static constexpr int count = 0, words = 0, bad = 0;
};

template <class... P>
struct signature<void (*)(block, P...)> {
  static constexpr bool is_kernel = true;
  static constexpr int count = (int)sizeof...(P);
  static constexpr int words = (0 + ... + parameter<P>::words);

  // Returns the number, from 1, of the first parameter that is not allowed, or 0 if all are
  // allowed.
  static constexpr int find_bad() {
    const bool good[] = {parameter<P>::dtype != 0 && parameter<P>::ndim <= 8 ..., true};
    for (int i = 0; i < count; ++i) {
      if (!good[i]) return i + 1;
    }
    return 0;
  }
  static constexpr int bad = find_bad();
  static_assert(bad == 0, "a kernel's parameter is a number, a pointer to numbers or a guf::view");
  static_assert(count <= kMaxParameters && words * 8 <= kMaxBytes,
                "a kernel has at most 32 parameters, which take at most 2048 bytes");

  // The argument block of a launch.
  struct arguments {
    head launch;
    u64 word[words + (words == 0)];
  };

  static constexpr int word_offset(int k) {
    const int each[] = {parameter<P>::words..., 0};
    int offset = 0;
    for (int i = 0; i < k; ++i) offset += each[i];
    return offset;
  }

#if defined(GUF_HOST) && !defined(GUF_EMULATE)
  template <class Callee>
  static GUF_DEVICE_ONLY void run(const arguments &p, device::work_item *item) {
    call<Callee>(block(item, p.launch, item->shared), p, make_indices<count>());
  }
#else
  template <class Callee>
  static GUF_DEVICE_ONLY void run(const arguments &p, char *shared) {
#if defined(GUF_EMULATE)
    call<Callee>(block(device::current_item, p.launch, shared), p, make_indices<count>());
#else
    call<Callee>(block(thread_position(), p.launch, shared), p, make_indices<count>());
#endif
  }
#endif

 private:
  template <class Callee, int... K>
  static GUF_DEVICE_ONLY void call(block g, const arguments &p, indices<K...>) {
    Callee::invoke(g, parameter<P>::read(p.word + word_offset(K))...);
  }
};

// The parameters of a kernel as rows of the table. A kernel without parameters has one row.
template <class F>
struct rows;
template <class... P>
struct rows<void (*)(block, P...)> {
  static constexpr parameter_row row[] = {
      {(i32)parameter<P>::kind, parameter<P>::dtype, parameter<P>::ndim, parameter<P>::flags}...,
      {0, 0, 0, 0}};
};

}  // namespace raw
}  // namespace guf

#endif  // GUFUNC_KERNEL_RAW_ENTRY_HPP
