// SPDX-License-Identifier: Apache-2.0
// Atomic operations of raw kernels, on elements of arrays and of shared memory: i32, u32, i64, u64,
// and sums of f32 and f64. Each operation returns the previous value of the element. The operations
// are atomic for all threads of one device (on the cpu, for all threads of the host). They do not
// order other accesses: in C++'s terms, they are relaxed. Sums of floats depend on the order in
// which threads arrive, so their last bits differ between runs.
#ifndef GUFUNC_KERNEL_RAW_ATOMIC_HPP
#define GUFUNC_KERNEL_RAW_ATOMIC_HPP

#include "device_block.hpp"

namespace guf {
namespace raw {

template <class T>
struct is_atomic_integer {
  static constexpr bool value =
      is_same<T, i32>::value || is_same<T, u32>::value || is_same<T, i64>::value ||
      is_same<T, u64>::value ||
      (sizeof(T) == 8 && (is_same<T, long long>::value || is_same<T, unsigned long long>::value));
};

// The type of value parameters, which is T but takes no part in the deduction of T.
template <class T>
struct same {
  typedef T type;
};
template <class T>
using same_t = typename same<T>::type;

template <class T>
GUF_DEVICE_ONLY bool compare_exchange(T *at, T *expected, T desired) {
#if defined(GUF_HIP)
  return __hip_atomic_compare_exchange_strong(at, expected, desired, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
#endif
}

// Atomically replaces the element by next(element). Repeats the attempt if another thread has
// changed the element in the meantime.
template <class T, class F>
GUF_DEVICE_ONLY T update(T *at, F next) {
  T seen = *(volatile T *)at;
  while (!compare_exchange(at, &seen, next(seen))) {
  }
  return seen;
}

#if defined(GUF_HIP)
#define GUF_ATOMIC_FETCH(WORD, AT, VALUE) \
  __hip_atomic_fetch_##WORD(AT, VALUE, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define GUF_ATOMIC_EXCHANGE(AT, VALUE) \
  __hip_atomic_exchange(AT, VALUE, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#else
#define GUF_ATOMIC_FETCH(WORD, AT, VALUE) __atomic_fetch_##WORD(AT, VALUE, __ATOMIC_RELAXED)
#define GUF_ATOMIC_EXCHANGE(AT, VALUE) __atomic_exchange_n(AT, VALUE, __ATOMIC_RELAXED)
#endif

template <class Word, class T>
struct add_bits {
  T value;
  GUF_DEVICE_ONLY Word operator()(Word seen) const {
    return bit_cast<Word>((T)(bit_cast<T>(seen) + value));
  }
};
template <class T>
struct smaller_of {
  T value;
  GUF_DEVICE_ONLY T operator()(T seen) const { return seen < value ? seen : value; }
};
template <class T>
struct larger_of {
  T value;
  GUF_DEVICE_ONLY T operator()(T seen) const { return seen < value ? value : seen; }
};

GUF_DEVICE_ONLY f32 add(f32 *at, f32 value) {
#if defined(GUF_HIP)
  return GUF_ATOMIC_FETCH(add, at, value);
#elif defined(GUF_CUDA) && defined(__clang__)
  return __nvvm_atom_add_gen_f(at, value);
#else
  return bit_cast<f32>(update((u32 *)at, add_bits<u32, f32>{value}));
#endif
}
GUF_DEVICE_ONLY f64 add(f64 *at, f64 value) {
#if defined(GUF_HIP)
  return GUF_ATOMIC_FETCH(add, at, value);
#elif defined(GUF_CUDA) && defined(__clang__)
  return __nvvm_atom_add_gen_d(at, value);
#else
  return bit_cast<f64>(update((u64 *)at, add_bits<u64, f64>{value}));
#endif
}
template <class T>
GUF_DEVICE_ONLY T add(T *at, T value) {
  static_assert(is_atomic_integer<T>::value, "atomics accept i32, u32, i64, u64; sums f32 and f64");
  return GUF_ATOMIC_FETCH(add, at, value);
}

}  // namespace raw

template <class T>
GUF_DEVICE_ONLY T atomic_add(T *at, raw::same_t<T> value) {
  return raw::add(at, value);
}
template <class T>
GUF_DEVICE_ONLY T atomic_sub(T *at, raw::same_t<T> value) {
  return raw::add(at, (T)(T(0) - value));
}

#define GUF_ATOMIC(NAME, EXPRESSION)                                                              \
  template <class T>                                                                              \
  GUF_DEVICE_ONLY T atomic_##NAME(T *at, raw::same_t<T> value) {                                  \
    static_assert(raw::is_atomic_integer<T>::value, "this atomic accepts i32, u32, i64 and u64"); \
    return EXPRESSION;                                                                            \
  }
GUF_ATOMIC(and, GUF_ATOMIC_FETCH(and, at, value))
GUF_ATOMIC(or, GUF_ATOMIC_FETCH(or, at, value))
GUF_ATOMIC(xor, GUF_ATOMIC_FETCH(xor, at, value))
GUF_ATOMIC(exchange, GUF_ATOMIC_EXCHANGE(at, value))
#if defined(GUF_HOST)
GUF_ATOMIC(min, raw::update(at, raw::smaller_of<T>{value}))
GUF_ATOMIC(max, raw::update(at, raw::larger_of<T>{value}))
#else
GUF_ATOMIC(min, GUF_ATOMIC_FETCH(min, at, value))
GUF_ATOMIC(max, GUF_ATOMIC_FETCH(max, at, value))
#endif
#undef GUF_ATOMIC
#undef GUF_ATOMIC_FETCH
#undef GUF_ATOMIC_EXCHANGE

// Stores `desired` if the element equals `expected`.
template <class T>
GUF_DEVICE_ONLY T atomic_compare_exchange(T *at, raw::same_t<T> expected, raw::same_t<T> desired) {
  static_assert(raw::is_atomic_integer<T>::value, "this atomic accepts i32, u32, i64 and u64");
  T seen = expected;
  raw::compare_exchange(at, &seen, desired);
  return seen;
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_RAW_ATOMIC_HPP
