// SPDX-License-Identifier: Apache-2.0
// A stable merge sort of a view in place. Runs of kRun elements are sorted by insertion and then
// merged in pairs. The threads of a group divide the runs and the pairs.
//
// A merge copies one run to a buffer in the memory of the group. If neither run fits, a rotation
// splits the merge into two smaller ones (Dudzinski and Dydek, "On a stable minimum storage merging
// algorithm", 1981).
#ifndef GUFUNC_KERNELS_STANDARD_MERGE_SORT_HPP
#define GUFUNC_KERNELS_STANDARD_MERGE_SORT_HPP

#include "bound.hpp"

namespace standard {

enum { kRun = 16, kMaxParts = 64 };

template <class Y, class Less>
GUF_DEVICE void insertion_sort(Y y, guf::i64 first, guf::i64 last, Less less) {
  for (guf::i64 i = first + 1; i < last; ++i) {
    const auto value = guf::load(y[i]);
    guf::i64 j = i;
    for (; j > first && less(value, guf::load(y[j - 1])); --j) y[j] = y[j - 1];
    y[j] = value;
  }
}

// Merges two adjacent runs, of which the left one fits into the buffer. Neither run is empty.
//
// PERF  A branch, and not a selection, takes the next element: the processor predicts the branch
//       and loads later elements early. (With a selection, argsort of 10^6 f64 takes three times as
//       long.)
template <class Y, class Buffer, class Less>
GUF_DEVICE void merge_from_left(Y y, guf::i64 first, guf::i64 middle, guf::i64 last, Buffer buffer,
                                Less less) {
  const guf::i64 count = middle - first;
  for (guf::i64 i = 0; i < count; ++i) buffer[i] = guf::load(y[first + i]);
  guf::i64 i = 0, j = middle, to = first;
  auto left = guf::load(buffer[0]), right = guf::load(y[middle]);
  for (;;) {
    if (less(right, left)) {
      y[to++] = right;
      if (++j == last) break;
      right = guf::load(y[j]);
    } else {
      y[to++] = left;
      if (++i == count) return;
      left = guf::load(buffer[i]);
    }
  }
  for (; i < count; ++i) y[to++] = buffer[i];
}

// Merges two adjacent runs, of which the right one fits into the buffer. Neither run is empty.
template <class Y, class Buffer, class Less>
GUF_DEVICE void merge_from_right(Y y, guf::i64 first, guf::i64 middle, guf::i64 last, Buffer buffer,
                                 Less less) {
  const guf::i64 count = last - middle;
  for (guf::i64 i = 0; i < count; ++i) buffer[i] = guf::load(y[middle + i]);
  guf::i64 i = middle - 1, j = count - 1, to = last;
  auto left = guf::load(y[i]), right = guf::load(buffer[j]);
  for (;;) {
    if (less(right, left)) {
      y[--to] = left;
      if (i-- == first) break;
      left = guf::load(y[i]);
    } else {
      y[--to] = right;
      if (j-- == 0) return;
      right = guf::load(buffer[j]);
    }
  }
  for (; j >= 0; --j) y[--to] = buffer[j];
}

template <class Y>
GUF_DEVICE void reverse(Y y, guf::i64 first, guf::i64 last) {
  for (; first + 1 < last; ++first) {
    const auto value = guf::load(y[first]);
    y[first] = y[--last];
    y[last] = value;
  }
}
template <class Y>
GUF_DEVICE void rotate(Y y, guf::i64 first, guf::i64 middle, guf::i64 last) {
  reverse(y, first, middle);
  reverse(y, middle, last);
  reverse(y, first, last);
}

// Two adjacent sorted runs.
struct runs {
  guf::i64 first, middle, last;
  GUF_DEVICE guf::i64 size() const { return last - first; }
};

// Divides a merge into a merge of smaller and a merge of larger elements. The longer run is divided
// in the middle.
template <class Y, class Less>
GUF_DEVICE void split(Y y, runs all, Less less, runs *lower, runs *upper) {
  guf::i64 left, right;
  if (all.middle - all.first >= all.last - all.middle) {
    left = all.first + (all.middle - all.first) / 2;
    right = bound(y, all.middle, all.last, guf::load(y[left]), false, less);
  } else {
    right = all.middle + (all.last - all.middle) / 2;
    left = bound(y, all.first, all.middle, guf::load(y[right]), true, less);
  }
  rotate(y, left, all.middle, right);
  const guf::i64 border = left + (right - all.middle);
  *lower = runs{all.first, left, border};
  *upper = runs{border, right, all.last};
}

template <class Y, class Buffer, class Less>
GUF_DEVICE void merge(Y y, runs all, Buffer buffer, guf::i64 capacity, Less less) {
  runs waiting[kMaxParts];  // the larger part waits, so at most log2(n) parts wait
  int count = 0;
  for (;;) {
    const guf::i64 left = all.middle - all.first, right = all.last - all.middle;
    const bool done =
        left == 0 || right == 0 || !less(guf::load(y[all.middle]), guf::load(y[all.middle - 1]));
    if (!done && left > capacity && right > capacity && all.size() > 2) {
      runs lower, upper;
      split(y, all, less, &lower, &upper);
      const bool lower_waits = lower.size() > upper.size();
      waiting[count++] = lower_waits ? lower : upper;
      all = lower_waits ? upper : lower;
      continue;
    }
    if (!done && all.size() == 2) {
      reverse(y, all.first, all.last);
    } else if (!done && left <= capacity) {
      merge_from_left(y, all.first, all.middle, all.last, buffer, less);
    } else if (!done) {
      merge_from_right(y, all.first, all.middle, all.last, buffer, less);
    }
    if (count == 0) return;
    all = waiting[--count];
  }
}

// Sorts y. less(a, b) compares two elements. All threads of the group must have written y.
template <class G, class Y, class Less>
GUF_DEVICE void merge_sort(G &g, Y y, Less less) {
  typedef guf::value_t<typename Y::type> V;
  const guf::i64 n = y.extent(0);
  guf::i64 capacity = (guf::i64)guf::kSharedBytes / (guf::i64)sizeof(V) / (guf::i64)g.size();
  auto buffer = g.template shared<V>(capacity * (guf::i64)g.size());
  if (buffer == nullptr) {
    capacity = 0;
  } else {
    buffer += capacity * (guf::i64)g.rank();
  }
  g.sync();
  for (guf::i64 first = (guf::i64)g.rank() * kRun; first < n; first += (guf::i64)g.size() * kRun) {
    insertion_sort(y, first, first + kRun < n ? first + kRun : n, less);
  }
  g.sync();
  for (guf::i64 width = kRun; width < n; width *= 2) {
    const guf::i64 step = 2 * width;
    for (guf::i64 first = (guf::i64)g.rank() * step; first + width < n;
         first += (guf::i64)g.size() * step) {
      const guf::i64 last = first + step < n ? first + step : n;
      merge(y, runs{first, first + width, last}, buffer, capacity, less);
    }
    g.sync();
  }
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_MERGE_SORT_HPP
