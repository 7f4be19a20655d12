// SPDX-License-Identifier: Apache-2.0
// The tree in which every group combines the elements of a reduction. The tree depends only on the
// number of elements, so the bits are the same on every backend and for any number of threads.
//   base block  128 consecutive elements. Fewer than 8 are combined in order. Otherwise element i
//               goes to accumulator i mod 8, the accumulators are combined as
//               ((0+1)+(2+3))+((4+5)+(6+7)), and the remaining n mod 8 elements are added in
//               order.
//   tree        base blocks are combined in aligned pairs: (0,1) (2,3) ..., then pairs of pairs.
#ifndef GUFUNC_KERNEL_REDUCE_TREE_HPP
#define GUFUNC_KERNEL_REDUCE_TREE_HPP

#include "types.hpp"

namespace guf {

enum { kLeafSize = 128 };

struct add_op {
  template <class T>
  GUF_FN T operator()(T a, T b) const {
    return a + b;
  }
};
// NaN propagates, as in NumPy's minimum and maximum.
struct min_op {
  template <class T>
  GUF_FN T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};
struct max_op {
  template <class T>
  GUF_FN T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

namespace detail {

// Reduces elements [first, first + count) as one base block. Requires 0 < count <= kLeafSize.
template <class T, class Op, class F>
GUF_FN T reduce_leaf(Op op, F f, i64 first, i64 count) {
  if (count < 8) {
    T all = f(first);
    for (i64 i = 1; i < count; ++i) all = op(all, (T)f(first + i));
    return all;
  }
  T part[8];
  for (int j = 0; j < 8; ++j) part[j] = f(first + j);
  i64 i = 8;
  for (; i + 8 <= count; i += 8) {
    for (int j = 0; j < 8; ++j) part[j] = op(part[j], (T)f(first + i + j));
  }
  T all = op(op(op(part[0], part[1]), op(part[2], part[3])),
             op(op(part[4], part[5]), op(part[6], part[7])));
  for (; i < count; ++i) all = op(all, (T)f(first + i));
  return all;
}

// Receives the results of base blocks in order, and combines subtrees as soon as two of equal size
// are complete, like the carries of a binary counter. Stores log2(number of base blocks) values.
template <class T, class Op>
class tree_joiner {
 public:
  GUF_FN explicit tree_joiner(Op op) : op_(op), count_(0) {}
  GUF_FN void push(T value) {
    u64 carry = count_++;
    int level = 0;
    for (; (carry & 1u) != 0; carry >>= 1) value = op_(level_[level++], value);
    level_[level] = value;
  }
  GUF_FN T join() const {  // requires at least one pushed value
    int level = 0;
    while (((count_ >> level) & 1u) == 0) ++level;
    T all = level_[level];
    for (++level; (count_ >> level) != 0; ++level) {
      if (((count_ >> level) & 1u) != 0) all = op_(level_[level], all);
    }
    return all;
  }

 private:
  Op op_;
  u64 count_;
  T level_[57];
};

// Reduces all n elements with one thread. Requires n > 0.
template <class T, class Op, class F>
GUF_FN T reduce_serial(Op op, F f, i64 n) {
  if (n <= kLeafSize) return reduce_leaf<T>(op, f, 0, n);
  tree_joiner<T, Op> tree(op);
  for (i64 i = 0; i < n; i += kLeafSize) {
    tree.push(reduce_leaf<T>(op, f, i, n - i < kLeafSize ? n - i : (i64)kLeafSize));
  }
  return tree.join();
}

// The result of an empty reduction.
template <class T>
GUF_FN T empty_min() {
  if constexpr (is_float<T>::value) {
    return limits<T>::infinity;
  } else {
    return limits<T>::max;
  }
}
template <class T>
GUF_FN T empty_max() {
  if constexpr (is_float<T>::value) {
    return -limits<T>::infinity;
  } else {
    return limits<T>::lowest;
  }
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_REDUCE_TREE_HPP
