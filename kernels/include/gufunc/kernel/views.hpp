// SPDX-License-Identifier: Apache-2.0
// Views: the parameters of a generalized function for operands with core dimensions. Members: `v(i,
// j)`, `v[i]`, `v.extent(d)`, `v.size()`. Strides are signed byte distances and are not visible.
#ifndef GUFUNC_KERNEL_VIEWS_HPP
#define GUFUNC_KERNEL_VIEWS_HPP

#include "types.hpp"

namespace guf {

// How a function uses an operand.
enum class role { in, out, inout };

// A reference to an element of a storage type: reads as its value type, and rounds once when it is
// written.
template <class T>
class stored_ref {
 public:
  GUF_FN explicit stored_ref(T *at) : at_(at) {}
  GUF_FN operator value_t<T>() const { return cast<value_t<T>>(*at_); }
  template <class V>
  GUF_FN const stored_ref &operator=(V value) const {
    *at_ = cast<T>(value);
    return *this;
  }
  GUF_FN const stored_ref &operator=(const stored_ref &other) const {
    *at_ = *other.at_;
    return *this;
  }
  template <class V>
  GUF_FN const stored_ref &operator+=(V value) const {
    return *this = value_t<T>(*this) + value;
  }
  template <class V>
  GUF_FN const stored_ref &operator-=(V value) const {
    return *this = value_t<T>(*this) - value;
  }
  template <class V>
  GUF_FN const stored_ref &operator*=(V value) const {
    return *this = value_t<T>(*this) * value;
  }
  template <class V>
  GUF_FN const stored_ref &operator/=(V value) const {
    return *this = value_t<T>(*this) / value;
  }

 private:
  T *at_;
};

namespace detail {

// The type of an access to an element: a value for inputs, and a reference for outputs.
template <class T, bool is_stored = !is_same<T, value_t<T>>::value>
struct access {
  typedef T &type;
  static GUF_FN T &at(char *p) { return *(T *)p; }
};
template <class T>
struct access<const T, false> {
  typedef value_t<T> type;
  static GUF_FN value_t<T> at(char *p) { return cast<value_t<T>>(*(const T *)p); }
};
template <class T>
struct access<T, true> {
  typedef stored_ref<T> type;
  static GUF_FN stored_ref<T> at(char *p) { return stored_ref<T>((T *)p); }
};

}  // namespace detail

template <class T>
struct without_const {
  typedef T type;
};
template <class T>
struct without_const<const T> {
  typedef T type;
};

// Returns the value of an element, for any type that v[i] returns: `auto x = guf::load(v[0])` is a
// copy, never a reference.
template <class T>
GUF_FN T load(const T &x) {
  return x;
}
template <class T>
GUF_FN value_t<T> load(const stored_ref<T> &x) {
  return x;
}

// A view with N core dimensions and elements T (const T for an input). If Packed is true, the last
// dimension is contiguous, which the compiler needs to vectorise loops over it.
template <class T, int N, bool Packed = false>
class view {
 public:
  typedef typename detail::access<T>::type element;
  typedef typename without_const<T>::type type;  // element type of the array
  static constexpr int ndim = N;

  GUF_FN view(char *base, const i64 *extents, const i64 *strides) : base_(base) {
    for (int d = 0; d < N; ++d) {
      extent_[d] = extents[d];
      stride_[d] = strides[d];
    }
  }

  GUF_FN i64 extent(int d) const { return extent_[d]; }
  GUF_FN i64 stride(int d) const { return Packed && d == N - 1 ? (i64)sizeof(T) : stride_[d]; }
  GUF_FN i64 size() const {
    i64 all = 1;
    for (int d = 0; d < N; ++d) all *= extent_[d];
    return all;
  }

  template <class... I>
  GUF_FN element operator()(I... index) const {
    static_assert(sizeof...(I) == N, "one index per core dimension");
    return detail::access<T>::at(base_ + offset<0>((i64)index...));
  }

  // If the view has one dimension, v[i] is an element. If it has more, v[i] is a view of the
  // remaining dimensions.
  GUF_FN decltype(auto) operator[](i64 i) const {
    if constexpr (N == 1) {
      return (*this)(i);
    } else {
      return view<T, N - 1, Packed>(base_ + i * stride(0), extent_ + 1, stride_ + 1);
    }
  }

 private:
  template <int D, class... I>
  GUF_FN i64 offset(i64 first, I... rest) const {
    if constexpr (sizeof...(I) == 0) {
      return first * stride(D);
    } else {
      return first * stride(D) + offset<D + 1>(rest...);
    }
  }

  char *base_;
  i64 extent_[N];
  i64 stride_[N];
};

// An output without core dimensions: `out() = value`.
template <class T, bool Packed>
class view<T, 0, Packed> {
 public:
  typedef typename detail::access<T>::type element;
  typedef typename without_const<T>::type type;
  static constexpr int ndim = 0;

  GUF_FN view(char *base, const i64 *, const i64 *) : base_(base) {}
  GUF_FN element operator()() const { return detail::access<T>::at(base_); }
  GUF_FN i64 size() const { return 1; }

 private:
  char *base_;
};

}  // namespace guf

#endif  // GUFUNC_KERNEL_VIEWS_HPP
