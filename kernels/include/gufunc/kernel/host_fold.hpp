// SPDX-License-Identifier: Apache-2.0
// The fold entry of a loop (X, X) -> X whose elements may be regrouped. It contains the operations
// from which the cpu backend builds reduce and accumulate. One operation reduces each of several
// rows of up to 128 elements, which are base blocks as defined in reduce_tree.hpp. If the elements
// of a row are closer together in memory than the rows are, each row is reduced in its own vectors.
// Otherwise a vector contains one element of each of several rows.
#ifndef GUFUNC_KERNEL_HOST_FOLD_HPP
#define GUFUNC_KERNEL_HOST_FOLD_HPP

#include "host_blocks.hpp"
#include "host_chain.hpp"
#include "host_memory.hpp"
#include "partial.hpp"
#include "reduce_tree.hpp"

// Marks a C++ loop whose iterations are independent, and disables interleaving, which would double
// the code for no gain. Functions with such a loop contain no arrays, because gufcc drops the
// promise of independence if a function with the promise has an array on the stack.
#if defined(__clang__)
#define GUF_FOLD_LOOP _Pragma("clang loop vectorize(assume_safety) interleave_count(1)")
#else
#define GUF_FOLD_LOOP GUF_INDEPENDENT
#endif

namespace guf {
namespace host {

// Converts values of one type to another. Steps are in bytes. All fold entries of a type use the
// same instance, because it does not depend on the function.
template <class From, class To>
GUF_FN void copy_values_by(const char *from, i64 from_step, char *to, i64 to_step, i64 n) {
  typedef value_t<From> value;
  GUF_FOLD_LOOP
  for (i64 i = 0; i < n; ++i) {
    memory<To>::store(to + i * to_step,
                      cast<To>(cast<value>(memory<From>::load(from + i * from_step))));
  }
}
template <class From, class To>
static __attribute__((noinline)) void copy_values(const char *from, i64 from_step, char *to,
                                                  i64 to_step, i64 n) {
  if (from_step == (i64)sizeof(From) && to_step == (i64)sizeof(To)) {
    copy_values_by<From, To>(from, sizeof(From), to, sizeof(To), n);
  } else {
    copy_values_by<From, To>(from, from_step, to, to_step, n);
  }
}

template <class Op, class T, bool MayFail, bool Independent = true>
struct fold {
  typedef typename partial_of<T>::type partial;
  typedef value_t<T> value;
  typedef chain<Op, T, MayFail, 4> in_order;
  static constexpr i64 size = (i64)sizeof(T);
  static constexpr i64 partial_size = (i64)sizeof(partial);
  // Whether the order of elements has no effect on the bits of the result. It is false for datetime
  // types, because a partial sum that is NaT stays NaT.
  static constexpr bool any_order =
      !is_float<value>::value && !is_complex<value>::value && !is_time<value>::value;
  // Number of rows whose eight accumulators fit into L1 together.
  static constexpr i64 row_block = 2048 / partial_size;

  // Returns true if an element failed.
  static GUF_FN bool run(char **args, const i64 *dims, const i64 *steps) {
    switch (dims[0]) {
      case fold_leaves:
        return leaves(args[0], args[1], dims[1], dims[2], steps);
      case fold_join:
        return join(args, dims[1], steps);
      case fold_load:
        copy_values<T, partial>(args[0], steps[0], args[1], steps[1], dims[1]);
        return false;
      case fold_store:
        copy_values<partial, T>(args[0], steps[0], args[1], steps[1], dims[1]);
        return false;
      default:
        return in_order::run(args, dims, steps);
    }
  }

 private:
  static GUF_FN value apply(value a, value b, bool &failed) {
    return in_order::apply(a, b, failed);
  }

  // Calls Element(i, state...) for every i. Returns true if a call failed.
  template <auto Element, class... State>
  static GUF_FN bool any_failed(i64 n, State... state) {
    bool any = false;
    if constexpr (Independent && all_scalars<value>()) {
      GUF_FOLD_LOOP
      for (i64 i = 0; i < n; ++i) any |= Element(i, state...);
    } else {
      for (i64 i = 0; i < n; ++i) any |= Element(i, state...);
    }
    return any;
  }

  static GUF_FN value get(const char *p) { return cast<value>(memory<T>::load(p)); }
  static GUF_FN value get_partial(const char *p) { return cast<value>(memory<partial>::load(p)); }
  static GUF_FN void put_partial(char *p, value x) { memory<partial>::store(p, cast<partial>(x)); }

  // ---- base blocks

  static __attribute__((noinline)) bool leaves(const char *in, char *out, i64 rows, i64 n,
                                               const i64 *steps) {
    const i64 row_step = steps[0], step = steps[1], out_step = steps[2];
    bool failed = false;
    i64 r = 0;
    if (rows > 1 && (row_step == size || distance(row_step) < distance(step))) {
      for (; r < rows; r += row_block) {
        const i64 count = rows - r < row_block ? rows - r : row_block;
        failed |=
            columns(in + r * row_step, row_step, step, count, n, out + r * out_step, out_step);
      }
    } else {
      for (; r < rows; r += kRows) {
        const i64 count = rows - r < kRows ? rows - r : (i64)kRows;
        failed |=
            row_by_row(in + r * row_step, row_step, step, count, n, out + r * out_step, out_step);
      }
    }
    return failed;
  }

  static GUF_FN i64 distance(i64 step) { return step < 0 ? -step : step; }

  enum { kRows = 64 };

  // Computes one base block of each row, for rows whose elements are closer together than the rows.
  // First computes the eight accumulators of each row. Then combines the accumulators of a row and
  // adds its remaining elements, for all rows side by side.
  static __attribute__((noinline)) bool row_by_row(const char *in, i64 row_step, i64 step, i64 rows,
                                                   i64 n, char *out, i64 out_step) {
    alignas(64) char part[kRows * 8 * partial_size], half[kRows * 4 * partial_size];
    alignas(64) char all[kRows * partial_size];
    alignas(64) char packed[4 * kLeafSize * partial_size];
    bool failed = false;
    i64 done = 1;
    if (n < 8) {
      copy_values<T, partial>(in, row_step, all, partial_size, rows);
    } else {
      i64 r = 0;
      if constexpr (!any_order) {
        for (; r + 4 <= rows; r += 4) {
          i64 apart = row_step;
          const char *const four = four_rows(in + r * row_step, &apart, step, packed, n);
          failed |= accumulators<4>(four, apart, n, part + r * 8 * partial_size);
        }
      }
      for (; r < rows; ++r) {
        const char *row = partials(in + r * row_step, step, packed, n);
        if constexpr (any_order) {
          failed |= in_any_order(row, n, all + r * partial_size);
        } else {
          failed |= accumulators<1>(row, 0, n, part + r * 8 * partial_size);
        }
      }
      if constexpr (!any_order) failed |= join_accumulators(part, half, all, rows);
      done = any_order ? n : n / 8 * 8;
    }
    for (; done + 2 <= n; done += 2) {
      failed |= add_elements<2>(all, in + done * step, row_step, step, rows);
    }
    if (done < n) failed |= add_elements<1>(all, in + done * step, row_step, step, rows);
    copy_values<partial, partial>(all, partial_size, out, out_step, rows);
    return failed;
  }

  // Returns a row's elements as contiguous partial results.
  static GUF_FN const char *partials(const char *in, i64 step, char *packed, i64 n) {
    if constexpr (size == partial_size) {
      return gathered<size>((char *)in, step, packed, n, false);  // does not write to `in`
    } else {
      copy_values<T, partial>(in, step, packed, partial_size, n);
      return packed;
    }
  }

  static GUF_FN const char *four_rows(const char *in, i64 *row_step, i64 step, char *packed,
                                      i64 n) {
    if (size == partial_size && step == size) return in;
    for (i64 r = 0; r < 4; ++r) {
      partials(in + r * *row_step, step, packed + r * kLeafSize * partial_size, n);
    }
    *row_step = kLeafSize * partial_size;
    return packed;
  }

  // Combines integers in an order that the compiler chooses.
  static __attribute__((noinline)) bool in_any_order(const char *in, i64 n, char *out) {
    bool failed = false;
    value all = get_partial(in);
    for (i64 i = 1; i < n; ++i) all = apply(all, get_partial(in + i * partial_size), failed);
    put_partial(out, all);
    return failed;
  }

  // Computes the accumulators of `Rows` rows. The stores at the end let the compiler keep the eight
  // accumulators of a row in vectors. The asm statement between the stores prevents vectors that
  // combine two rows, which would cost an insert instruction per load.
  template <int Rows>
  static GUF_FN bool accumulators(const char *in, i64 row_step, i64 n, char *part) {
    bool failed = false;
    value all[Rows][8];
    for (int r = 0; r < Rows; ++r) {
      for (int j = 0; j < 8; ++j) all[r][j] = get_partial(in + r * row_step + j * partial_size);
    }
    for (i64 i = 8; i + 8 <= n; i += 8) {
      for (int r = 0; r < Rows; ++r) {
        for (int j = 0; j < 8; ++j) {
          const char *element = in + r * row_step + (i + j) * partial_size;
          all[r][j] = apply(all[r][j], get_partial(element), failed);
        }
      }
    }
    for (int r = 0; r < Rows; ++r) {
      for (int j = 0; j < 8; ++j) put_partial(part + (r * 8 + j) * partial_size, all[r][j]);
      __asm__ volatile("" ::: "memory");
    }
    return failed;
  }

  // Combines neighbouring accumulators in three rounds, which reduce the eight accumulators of each
  // row to one. `half` has space for four accumulators of each row.
  static GUF_FN bool join_accumulators(char *part, char *half, char *all, i64 rows) {
    bool failed = join_pairs(part, half, rows * 4);
    failed |= join_pairs(half, part, rows * 2);
    return failed | join_pairs(part, all, rows);
  }
  static __attribute__((noinline)) bool join_pairs(const char *from, char *to, i64 pairs) {
    return any_failed<join_pair>(pairs, from, to);
  }
  static GUF_FN bool join_pair(i64 i, const char *from, char *to) {
    bool failed = false;
    const char *const pair = from + i * 2 * partial_size;
    put_partial(to + i * partial_size,
                apply(get_partial(pair), get_partial(pair + partial_size), failed));
    return failed;
  }
  static GUF_FN value join_eight(const char *p, i64 apart, bool &failed) {
    const value low = join_four(p, apart, failed), high = join_four(p + 4 * apart, apart, failed);
    return apply(low, high, failed);
  }
  static GUF_FN value join_four(const char *p, i64 apart, bool &failed) {
    const value low = apply(get_partial(p), get_partial(p + apart), failed);
    const char *const q = p + 2 * apart;
    return apply(low, apply(get_partial(q), get_partial(q + apart), failed), failed);
  }

  template <int Count>
  static __attribute__((noinline)) bool add_elements(char *all, const char *in, i64 row_step,
                                                     i64 step, i64 rows) {
    return any_failed<add_element<Count>>(rows, all, in, row_step, step);
  }
  template <int Count>
  static GUF_FN bool add_element(i64 r, char *all, const char *in, i64 row_step, i64 step) {
    bool failed = false;
    char *const to = all + r * partial_size;
    value one = get_partial(to);
    for (int k = 0; k < Count; ++k) one = apply(one, get(in + r * row_step + k * step), failed);
    put_partial(to, one);
    return failed;
  }

  // Computes one base block of each row, for rows that are closer together than their elements. A
  // vector contains one element of each of several rows. `rows` is at most row_block, so that all
  // eight accumulators of all rows fit into L1.
  static __attribute__((noinline)) bool columns(const char *in, i64 row_step, i64 step, i64 rows,
                                                i64 n, char *out, i64 out_step) {
    alignas(64) char part[8 * row_block * partial_size];
    const i64 eights = n / 8;
    bool failed = false;
    if (eights != 0) {
      // If eight successive elements of all rows are contiguous, they are combined as one wide row
      // of accumulators.
      const bool together = row_step == size && step == rows * size;
      const i64 width = together ? rows * 8 : rows;
      for (int j = 0; j < (together ? 1 : 8); ++j) {
        failed |= accumulate_groups(in + j * step, row_step, 8 * step, eights, width,
                                    part + j * rows * partial_size, true);
      }
      failed |= join_columns(part, rows);
    }
    const i64 done = eights * 8;
    failed |= accumulate_groups(in + done * step, row_step, step, n - done, rows, part, done == 0);
    copy_values<partial, partial>(part, partial_size, out, out_step, rows);
    return failed;
  }

  // Combines `count` groups of `width` elements from left to right into `width` accumulators.
  // Groups are `step` apart. If `fresh` is true, the first group initialises the accumulators.
  static __attribute__((noinline)) bool accumulate_groups(const char *in, i64 width_step, i64 step,
                                                          i64 count, i64 width, char *part,
                                                          bool fresh) {
    alignas(64) char packed[4 * row_block * size];
    bool failed = false;
    i64 i = 0;
    if (fresh && width_step == size && count >= kLeafSize / 8) {
      i = kLeafSize / 8;
      failed |= add_rows<kLeafSize / 8, true>(part, in, step, width);
    } else if (fresh) {
      i = 1;
      failed |=
          add_rows<1, true>(part, side_by_side(in, width_step, 0, 1, width, packed), 0, width);
    }
    const i64 apart = width_step == size ? step : row_block * size;
    while (i < count) {
      const i64 some = count - i < 4 ? 1 : 4;
      const char *const from = side_by_side(in + i * step, width_step, step, some, width, packed);
      failed |= some == 4 ? add_rows<4, false>(part, from, apart, width)
                          : add_rows<1, false>(part, from, apart, width);
      i += some;
    }
    return failed;
  }

  // Returns `count` groups of `width` contiguous elements, which are the input itself or a copy.
  static GUF_FN const char *side_by_side(const char *in, i64 width_step, i64 step, i64 count,
                                         i64 width, char *packed) {
    if (width_step == size) return in;
    for (i64 k = 0; k < count; ++k) {
      char *const to = packed + k * row_block * size;
      gathered<size>((char *)in + k * step, width_step, to, width,
                     false);  // does not write to `in`
    }
    return packed;
  }

  template <int Count, bool Fresh>
  static __attribute__((noinline)) bool add_rows(char *part, const char *in, i64 step, i64 width) {
    return any_failed<add_column<Count, Fresh>>(width, part, in, step);
  }
  template <int Count, bool Fresh>
  static GUF_FN bool add_column(i64 r, char *part, const char *in, i64 step) {
    bool failed = false;
    value all = Fresh ? get(in + r * size) : get_partial(part + r * partial_size);
    for (int k = Fresh ? 1 : 0; k < Count; ++k) {
      all = apply(all, get(in + k * step + r * size), failed);
    }
    put_partial(part + r * partial_size, all);
    return failed;
  }

  static __attribute__((noinline)) bool join_columns(char *part, i64 rows) {
    return any_failed<join_column>(rows, part, rows * partial_size);
  }
  static GUF_FN bool join_column(i64 r, char *part, i64 apart) {
    bool failed = false;
    char *const p = part + r * partial_size;
    put_partial(p, join_eight(p, apart, failed));
    return failed;
  }

  // ---- joining of partial results

  static __attribute__((noinline)) bool join(char **args, i64 n, const i64 *steps) {
    const bool packed = steps[1] == partial_size && steps[2] == partial_size;
    if (packed && steps[0] == partial_size) {
      return join_steps(args, n, partial_size, partial_size, partial_size);
    }
    if (packed && steps[0] == 0) return join_steps(args, n, 0, partial_size, partial_size);
    return join_steps(args, n, steps[0], steps[1], steps[2]);
  }
  static GUF_FN bool join_steps(char **args, i64 n, i64 a_step, i64 b_step, i64 out_step) {
    // Local copies, so that the addresses are not read from `args` again after each store.
    const char *const a = args[0], *const b = args[1];
    return any_failed<join_one>(n, a, a_step, b, b_step, args[2], out_step);
  }
  static GUF_FN bool join_one(i64 i, const char *a, i64 a_step, const char *b, i64 b_step,
                              char *out, i64 out_step) {
    bool failed = false;
    put_partial(out + i * out_step,
                apply(get_partial(a + i * a_step), get_partial(b + i * b_step), failed));
    return failed;
  }
};

}  // namespace host
}  // namespace guf

#undef GUF_FOLD_LOOP

#endif  // GUFUNC_KERNEL_HOST_FOLD_HPP
