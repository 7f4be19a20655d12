// SPDX-License-Identifier: Apache-2.0
// Batches of items, for functions with the option `batch`. The items of a batch are the lanes of
// vectors: the loop copies small items to vectors, calls the batch function once for all of them,
// and copies the results back. A batch function must compute the same bits as the function itself.
#ifndef GUFUNC_KERNEL_HOST_BATCH_HPP
#define GUFUNC_KERNEL_HOST_BATCH_HPP

#include "config.hpp"
#if defined(GUF_HOST) && !defined(GUF_EMULATE)
#include "host_loops.hpp"

namespace guf {

enum { kBatchBytes = 64 };

// A number of each item of a batch. Arithmetic applies to all lanes, a comparison returns a
// `lane_mask`, and `mask ? a : b` selects lane by lane.
template <class T>
struct lanes_of {
  typedef T vector __attribute__((vector_size(kBatchBytes)));
  static constexpr int count = kBatchBytes / (int)sizeof(T);
};
template <class T>
using lanes = typename lanes_of<T>::vector;
template <class T>
using lane_mask = decltype(lanes<T>() < lanes<T>());

// An operand of a batch, with the members of a view. Its elements are lanes<T>.
template <class T, int N>
class lane_view {
 public:
  typedef T type;
  static constexpr int ndim = N;

  GUF_FN lane_view(lanes<T> *base, const i64 *extents) : base_(base) {
    for (int d = 0; d < N; ++d) extent_[d] = extents[d];
  }
  GUF_FN i64 extent(int d) const { return extent_[d]; }
  GUF_FN lanes<T> &operator()(i64 i, i64 j) const { return base_[i * extent_[1] + j]; }
  GUF_FN lanes<T> &operator[](i64 i) const { return base_[i]; }
  GUF_FN lanes<T> &operator()() const { return base_[0]; }

 private:
  lanes<T> *base_;
  i64 extent_[N > 0 ? N : 1] = {};
};

namespace host {

enum { kBatchElements = 64 };  // the largest item of a batch

// The elements of an operand for the items of a batch.
template <class Operand>
class batch_operand;

template <class T, role Role, int... D>
class batch_operand<operand<T, Role, D...>> {
 public:
  typedef T type;
  static constexpr int ndim = (int)sizeof...(D);
  static constexpr int nsizes = largest<(D + 1)...>();  // sizes that a loop must pass
  static_assert(ndim <= 2, "a batch has operands with up to two core dimensions");

  GUF_FN explicit batch_operand(const i64 *sizes) : extents_{sizes[D]..., 1} {}

  static GUF_FN bool fits(const i64 *sizes) {
    i64 elements = 1;
    ((elements = sizes[D] < 1 || sizes[D] > (i64)kBatchElements || elements > (i64)kBatchElements
                     ? (i64)kBatchElements + 1
                     : elements * sizes[D]),
     ...);
    return elements <= (i64)kBatchElements;
  }
  GUF_FN lane_view<T, ndim> view() { return lane_view<T, ndim>(element_, extents_); }

  GUF_FN void load(const char *base, i64 step, const i64 *strides) {
    if constexpr (Role != role::out) {
      each_element(strides, [&](lanes<T> &element, i64 offset) {
        for (int w = 0; w < lanes_of<T>::count; ++w) {
          element[w] = memory<T>::load(base + offset + w * step);
        }
      });
    }
  }
  GUF_FN void store(char *base, i64 step, const i64 *strides) {
    if constexpr (Role != role::in) {
      each_element(strides, [&](const lanes<T> &element, i64 offset) {
        for (int w = 0; w < lanes_of<T>::count; ++w) {
          memory<T>::store(base + offset + w * step, element[w]);
        }
      });
    }
  }

 private:
  template <class F>
  GUF_FN void each_element(const i64 *strides, F f) {
    const i64 rows = ndim == 2 ? extents_[0] : 1;
    const i64 columns = ndim == 0 ? 1 : extents_[ndim == 2 ? 1 : 0];
    for (i64 i = 0; i < rows; ++i) {
      for (i64 j = 0; j < columns; ++j) {
        const i64 row_offset = ndim == 2 ? i * strides[0] : 0;
        f(element_[i * columns + j], row_offset + (ndim == 0 ? 0 : j * strides[ndim - 1]));
      }
    }
  }

  lanes<T> element_[kBatchElements];
  i64 extents_[ndim + 1];
};

// Computes items in batches with Op, and items that are too large or too few with Loop.
template <class Op, class Loop, class... Operand>
struct batched {
  static constexpr int count = (int)sizeof...(Operand);

  // Returns true if an item failed.
  static GUF_FN bool run(char **args, const i64 *dims, const i64 *steps) {
    const i64 items = dims[0] / size * size;
    if (items == 0 || !(batch_operand<Operand>::fits(dims + 1) && ...)) {
      return Loop::run(args, dims, steps);
    }
    run_batches(items, args, dims + 1, steps, make_indices<count>());
    if (items == dims[0]) return false;
    i64 rest_dims[1 + nsizes];
    rest_dims[0] = dims[0] - items;
    for (int d = 1; d <= nsizes; ++d) rest_dims[d] = dims[d];
    char *rest[count];
    for (int k = 0; k < count; ++k) rest[k] = args[k] + items * steps[k];
    return Loop::run(rest, rest_dims, steps);
  }

 private:
  static constexpr int size = (lanes_of<typename batch_operand<Operand>::type>::count, ...);
  static constexpr int nsizes = largest<batch_operand<Operand>::nsizes...>();

  static GUF_FN constexpr int core_start(int k) {
    const int ndims[] = {batch_operand<Operand>::ndim...};
    int start = count;
    for (int i = 0; i < k; ++i) start += ndims[i];
    return start;
  }

  template <int... K>
  static __attribute__((noinline)) void run_batches(i64 items, char **args, const i64 *sizes,
                                                    const i64 *steps, indices<K...>) {
    run_with(items, args, steps, indices<K...>(), batch_operand<Operand>(sizes)...);
  }
  template <int... K>
  static GUF_FN void run_with(i64 items, char **args, const i64 *steps, indices<K...>,
                              batch_operand<Operand> &&...operand) {
    for (i64 i = 0; i < items; i += size) {
      (operand.load(args[K] + i * steps[K], steps[K], steps + core_start(K)), ...);
      Op::call(operand.view()...);
      (operand.store(args[K] + i * steps[K], steps[K], steps + core_start(K)), ...);
    }
  }
};

}  // namespace host
}  // namespace guf
#endif

#endif  // GUFUNC_KERNEL_HOST_BATCH_HPP
