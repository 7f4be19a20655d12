// SPDX-License-Identifier: Apache-2.0
// Decides whether layouts share memory by solving a bounded integer equation. Two elements share a
// byte if the equation
//   sum of stride[k] * index[k] over both layouts + (byte within an element) = a constant
// has a solution in which every index is inside its extent. All coefficients are made positive and
// sorted. A depth-first search then chooses one unknown after the other. If every stride is larger
// than the span of all smaller strides together, only one path is possible. Euclid's algorithm
// solves for the last two unknowns.
#include "core/array/overlap.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/checked.h"

namespace gufunc::array {
namespace {

__extension__ typedef __int128 Wide;

// After kMaxSteps steps (a few tens of microseconds) the search stops, and overlap is assumed.
constexpr int kMaxSteps = 20000;
// All sums stay below kMaxSum, so that int64 can represent every intermediate value.
constexpr uint64_t kMaxSum = uint64_t{1} << 61;

// One unknown z of the equation, which contributes coefficient * z, with 0 <= z <= bound.
struct Term {
  int64_t coefficient;
  int64_t bound;
};

enum class Answer { kNo, kYes, kTooHard };

// Returns gcd(a, b), and an x that satisfies a * x = gcd (mod b).
int64_t extended_gcd(int64_t a, int64_t b, int64_t *out_x) {
  int64_t x = 1;
  int64_t next = 0;
  while (b != 0) {
    const int64_t quotient = a / b;
    a = std::exchange(b, a - quotient * b);
    x = std::exchange(next, x - quotient * next);
  }
  *out_x = x;
  return a;
}

int64_t ceil_divide(int64_t a, int64_t b) {
  return a <= 0 ? 0 : (a - 1) / b + 1;
}  // the result is never negative

// Returns whether first * y + second * z = target has a solution within the bounds.
bool solve_two(const Term &first, const Term &second, int64_t target) {
  if (target < 0) return false;
  int64_t inverse = 0;
  const int64_t gcd = extended_gcd(first.coefficient, second.coefficient, &inverse);
  if (target % gcd != 0) return false;
  const int64_t modulus = second.coefficient / gcd;
  // The smallest y >= 0 for which target - first * y is a multiple of `second`.
  auto residue = static_cast<int64_t>(static_cast<Wide>(inverse) * (target / gcd) % modulus);
  if (residue < 0) residue += modulus;
  const int64_t low =
      ceil_divide(static_cast<int64_t>(std::max<Wide>(
                      0, target - static_cast<Wide>(second.coefficient) * second.bound)),
                  first.coefficient);
  const int64_t high = std::min(first.bound, target / first.coefficient);
  const int64_t y =
      low <= residue ? residue : residue + ceil_divide(low - residue, modulus) * modulus;
  return y <= high;
}

// Decides whether (sum of terms) + w = target has a solution with 0 <= w <= slack. `w` is a byte
// offset within an element.
class Search {
 public:
  // Returns false if the sums are too large for the search.
  bool add(int64_t coefficient, int64_t bound) {
    if (bound <= 0 || coefficient == 0) return true;
    uint64_t reach = 0;
    if (__builtin_mul_overflow(static_cast<uint64_t>(coefficient), static_cast<uint64_t>(bound),
                               &reach)) {
      return false;
    }
    total_ += reach;
    terms_[static_cast<size_t>(count_++)] = {coefficient, bound};
    return reach < kMaxSum && total_ < kMaxSum;
  }

  Answer run(int64_t slack, int64_t target) {
    slack_ = slack;
    std::sort(terms_.begin(), terms_.begin() + count_,
              [](const Term &a, const Term &b) { return a.coefficient > b.coefficient; });
    merge_equal();
    int64_t rest = slack;
    for (int k = count_ - 1; k >= 0; --k) {
      const Term &term = terms_[static_cast<size_t>(k)];
      rest_[static_cast<size_t>(k) + 1] = rest;
      rest += term.coefficient * term.bound;
    }
    rest_[0] = rest;
    return descend(0, target);
  }

  int steps_left = kMaxSteps;

 private:
  void merge_equal() {
    int kept = 0;
    for (int k = 1; k < count_; ++k) {
      Term &last = terms_[static_cast<size_t>(kept)];
      const Term &term = terms_[static_cast<size_t>(k)];
      if (term.coefficient == last.coefficient) {
        last.bound += term.bound;
      } else {
        terms_[static_cast<size_t>(++kept)] = term;
      }
    }
    if (count_ > 0) count_ = kept + 1;
  }

  Answer descend(int k, int64_t target) {
    if (target < 0 || target > rest_[static_cast<size_t>(k)]) return Answer::kNo;
    if (k == count_) return Answer::kYes;
    const Term &term = terms_[static_cast<size_t>(k)];
    if (k + 2 == count_) return solve_last(k, target);
    const int64_t low = ceil_divide(target - rest_[static_cast<size_t>(k) + 1], term.coefficient);
    const int64_t high = std::min(term.bound, target / term.coefficient);
    if (k + 1 == count_) return low <= high ? Answer::kYes : Answer::kNo;
    for (int64_t z = low; z <= high; ++z) {
      if (--steps_left < 0) return Answer::kTooHard;
      const Answer answer = descend(k + 1, target - term.coefficient * z);
      if (answer != Answer::kNo) return answer;
    }
    return Answer::kNo;
  }

  // Tries every byte offset w within an element. Each offset leaves an equation with two unknowns.
  Answer solve_last(int k, int64_t target) {
    for (int64_t w = 0; w <= slack_; ++w) {
      if (--steps_left < 0) return Answer::kTooHard;
      if (solve_two(terms_[static_cast<size_t>(k)], terms_[static_cast<size_t>(k) + 1],
                    target - w)) {
        return Answer::kYes;
      }
    }
    return Answer::kNo;
  }

  std::array<Term, 2 * GUF_MAX_NDIM> terms_;
  std::array<int64_t, 2 * GUF_MAX_NDIM + 1> rest_;
  int count_ = 0;
  uint64_t total_ = 0;
  int64_t slack_ = 0;
};

// Returns the absolute value of a stride. INT64_MIN, which only empty layouts have, is unchanged.
int64_t length_of(int64_t stride) {
  return static_cast<int64_t>(base::magnitude(stride));
}

bool add_axes(const Layout &layout, Search *search) {
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    if (layout.shape[axis] <= 1) continue;  // the stride is arbitrary
    if (!search->add(length_of(layout.strides[axis]), layout.shape[axis] - 1)) return false;
  }
  return true;
}

// The axes with more than one element, sorted by absolute stride in ascending order.
struct Axes {
  int count = 0;
  std::array<Term, GUF_MAX_NDIM> axis;  // coefficient: the stride; bound: extent - 1
};
bool collect(const Layout &layout, Axes *out) {
  for (int32_t k = 0; k < layout.ndim; ++k) {
    if (layout.shape[k] == 0) return false;
    if (layout.shape[k] == 1) continue;
    out->axis[static_cast<size_t>(out->count++)] = {length_of(layout.strides[k]),
                                                    layout.shape[k] - 1};
  }
  std::sort(out->axis.begin(), out->axis.begin() + out->count,
            [](const Term &a, const Term &b) { return a.coefficient < b.coefficient; });
  return true;
}

// Returns whether every stride is at least the number of bytes that the axes with smaller strides
// span. If so, no two elements overlap, and no search is needed.
bool nested(const Axes &axes, int64_t itemsize) {
  int64_t reach = itemsize;
  for (int k = 0; k < axes.count; ++k) {
    const Term &axis = axes.axis[static_cast<size_t>(k)];
    if (axis.coefficient < reach) return false;
    reach += axis.coefficient * axis.bound;
  }
  return true;
}

}  // namespace

bool shares_memory(const Layout &a, const Layout &b) {
  const ByteSpan span_a = span_of(a);
  const ByteSpan span_b = span_of(b);
  if (!spans_overlap(span_a, span_b)) return false;
  Search search;
  if (!add_axes(a, &search) || !add_axes(b, &search)) return true;
  const int64_t slack = static_cast<int64_t>(dtype::itemsize(a.dtype)) +
                        static_cast<int64_t>(dtype::itemsize(b.dtype)) - 2;
  return search.run(slack, static_cast<int64_t>(span_b.end - 1 - span_a.first)) != Answer::kNo;
}

bool overlaps_itself(const Layout &layout) {
  Axes axes;
  if (!collect(layout, &axes)) return false;
  const int64_t itemsize = dtype::itemsize(layout.dtype);
  if (nested(axes, itemsize)) return false;
  int steps = kMaxSteps;
  // Two different index vectors differ first in some axis k. By symmetry, only positive
  // differences in axis k need a search. The difference is then at least 1 in axis k,
  // arbitrary in later axes and 0 in earlier axes.
  for (int k = 0; k < axes.count; ++k) {
    const Term &first = axes.axis[static_cast<size_t>(k)];
    if (first.coefficient == 0) return true;
    Search search;
    search.steps_left = steps;
    bool fits = search.add(first.coefficient, first.bound - 1);
    int64_t target = itemsize - 1 - first.coefficient;
    for (int later = k + 1; later < axes.count; ++later) {
      const Term &axis = axes.axis[static_cast<size_t>(later)];
      fits = fits && search.add(axis.coefficient, 2 * axis.bound);
      if (fits) target += axis.coefficient * axis.bound;
    }
    if (!fits || search.run(2 * itemsize - 2, target) != Answer::kNo) return true;
    steps = search.steps_left;
  }
  return false;
}

bool same_view(const Layout &a, const Layout &b) {
  if (a.dtype != b.dtype || a.address != b.address || a.ndim != b.ndim) return false;
  for (int32_t axis = 0; axis < a.ndim; ++axis) {
    if (a.shape[axis] != b.shape[axis]) return false;
    if (a.shape[axis] > 1 && a.strides[axis] != b.strides[axis]) return false;
  }
  return true;
}

}  // namespace gufunc::array
