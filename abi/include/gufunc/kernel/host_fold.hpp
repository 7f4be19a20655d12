// SPDX-License-Identifier: Apache-2.0
// The fold entry of a loop (X, X) -> X of a function that may be regrouped: what reduce and
// accumulate of the cpu backend are made of. The tree's leaf as reduce_tree.hpp defines it, several
// at once: side by side where elements follow each other, one vector of rows where rows do.
#ifndef GUFUNC_KERNEL_HOST_FOLD_HPP
#define GUFUNC_KERNEL_HOST_FOLD_HPP

#include "host_blocks.hpp"
#include "host_chain.hpp"
#include "host_memory.hpp"
#include "reduce_tree.hpp"

// Independent iterations, of which there are enough vectors without several at once: half the code.
#if defined(__clang__)
#define GUF_FOLD_LOOP _Pragma("clang loop vectorize(assume_safety) interleave_count(1)")
#else
#define GUF_FOLD_LOOP GUF_INDEPENDENT
#endif

namespace guf {
namespace host {

// What partial results are kept in: storage types widen, so that a sum is rounded once.
template <class T>
struct partial_of {
  typedef T type;
};
template <>
struct partial_of<f16> {
  typedef f32 type;
};
template <>
struct partial_of<bf16> {
  typedef f32 type;
};

// Values of one type to places of another; steps in bytes. Shared by all functions.
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

template <class Op, class T, bool MayFail, bool Promised = true>
struct fold {
  typedef typename partial_of<T>::type partial;
  typedef value_t<T> value;
  typedef chain<Op, T, MayFail, 4> in_order;
  static constexpr i64 size = (i64)sizeof(T);
  static constexpr i64 partial_size = (i64)sizeof(partial);
  // A sum of times that comes to not-a-time on its way stays that: the order shows.
  static constexpr bool any_order =
      !is_float<value>::value && !is_complex<value>::value && !is_time<value>::value;
  // Rows whose eight accumulators each stay in L1 together.
  static constexpr i64 row_block = 2048 / partial_size;

  // True when an element failed.
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

  // Element(i, state...) for every i, which tells whether it failed.
  template <auto Element, class... State>
  static GUF_FN bool any_failed(i64 n, State... state) {
    bool any = false;
    if constexpr (Promised && all_scalars<value>()) {
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

  // ---- leaves

  static __attribute__((noinline)) bool leaves(const char *in, char *out, i64 rows, i64 n,
                                               const i64 *steps) {
    const i64 row_step = steps[0], step = steps[1], out_step = steps[2];
    bool failed = false;
    i64 r = 0;
    if (row_step == size && rows > 1) {
      for (; r < rows; r += row_block) {
        const i64 count = rows - r < row_block ? rows - r : row_block;
        failed |= columns(in + r * size, step, count, n, out + r * out_step, out_step);
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

  enum { kRows = 64 };

  // Rows of elements that follow each other: eight accumulators of each row, then these joined and
  // the rest of the elements added, all rows side by side.
  static __attribute__((noinline)) bool row_by_row(const char *in, i64 row_step, i64 step, i64 rows,
                                                   i64 n, char *out, i64 out_step) {
    alignas(64) char part[kRows * 8 * partial_size];
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
      if constexpr (!any_order) failed |= join_accumulators(part, all, rows);
      done = any_order ? n : n / 8 * 8;
    }
    for (; done < n && rows >= 8; ++done) {
      failed |= add_elements(all, in + done * step, row_step, rows);
    }
    for (i64 r = 0; done < n && r < rows; ++r) {
      value one = get_partial(all + r * partial_size);
      const char *row = in + r * row_step;
      for (i64 i = done; i < n; ++i) one = apply(one, get(row + i * step), failed);
      put_partial(all + r * partial_size, one);
    }
    copy_values<partial, partial>(all, partial_size, out, out_step, rows);
    return failed;
  }

  // A row's elements as partial results that follow each other.
  static GUF_FN const char *partials(const char *in, i64 step, char *packed, i64 n) {
    if constexpr (size == partial_size) {
      return gathered<size>((char *)in, step, packed, n, false);  // it only reads
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

  // Integers: the compiler's order.
  static __attribute__((noinline)) bool in_any_order(const char *in, i64 n, char *out) {
    bool failed = false;
    value all = get_partial(in);
    for (i64 i = 1; i < n; ++i) all = apply(all, get_partial(in + i * partial_size), failed);
    put_partial(out, all);
    return failed;
  }

  // Of `Rows` rows. The stores at the end let the compiler see a vector of eight in each.
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
    }
    return failed;
  }

  static __attribute__((noinline)) bool join_accumulators(const char *part, char *all, i64 rows) {
    return any_failed<join_row>(rows, part, all);
  }
  static GUF_FN bool join_row(i64 r, const char *part, char *all) {
    bool failed = false;
    const char *p = part + r * 8 * partial_size;
    put_partial(all + r * partial_size,
                join_eight(p, p + partial_size, p + 2 * partial_size, p + 3 * partial_size,
                           p + 4 * partial_size, p + 5 * partial_size, p + 6 * partial_size,
                           p + 7 * partial_size, failed));
    return failed;
  }
  static GUF_FN value join_eight(const char *p0, const char *p1, const char *p2, const char *p3,
                                 const char *p4, const char *p5, const char *p6, const char *p7,
                                 bool &failed) {
    const value low = apply(apply(get_partial(p0), get_partial(p1), failed),
                            apply(get_partial(p2), get_partial(p3), failed), failed);
    const value high = apply(apply(get_partial(p4), get_partial(p5), failed),
                             apply(get_partial(p6), get_partial(p7), failed), failed);
    return apply(low, high, failed);
  }

  static __attribute__((noinline)) bool add_elements(char *all, const char *in, i64 row_step,
                                                     i64 rows) {
    return any_failed<add_element>(rows, all, in, row_step);
  }
  static GUF_FN bool add_element(i64 r, char *all, const char *in, i64 row_step) {
    bool failed = false;
    char *to = all + r * partial_size;
    put_partial(to, apply(get_partial(to), get(in + r * row_step), failed));
    return failed;
  }

  // Rows that follow each other, at most row_block: all eight accumulators of all rows in L1.
  static __attribute__((noinline)) bool columns(const char *in, i64 step, i64 rows, i64 n,
                                                char *out, i64 out_step) {
    alignas(64) char part[8][row_block * partial_size];
    bool failed = false;
    i64 i = 0;
    if (n < 8) {
      load_row(part[0], in, rows);
      i = 1;
    } else {
      for (; i < 8; ++i) load_row(part[i], in + i * step, rows);
      for (; i + 32 <= n; i += 32) {
        for (int j = 0; j < 8; ++j)
          failed |= add_rows<4>(part[j], in + (i + j) * step, 8 * step, rows);
      }
      for (; i + 8 <= n; i += 8) {
        for (int j = 0; j < 8; ++j) failed |= add_rows<1>(part[j], in + (i + j) * step, 0, rows);
      }
      failed |= join_parts(part, rows);
    }
    for (; i < n; ++i) failed |= add_rows<1>(part[0], in + i * step, 0, rows);
    copy_values<partial, partial>(part[0], partial_size, out, out_step, rows);
    return failed;
  }

  static __attribute__((noinline)) void load_row(char *part, const char *in, i64 rows) {
    GUF_FOLD_LOOP
    for (i64 r = 0; r < rows; ++r) put_partial(part + r * partial_size, get(in + r * size));
  }

  template <int Count>
  static __attribute__((noinline)) bool add_rows(char *part, const char *in, i64 step, i64 rows) {
    return any_failed<add_column<Count>>(rows, part, in, step);
  }
  template <int Count>
  static GUF_FN bool add_column(i64 r, char *part, const char *in, i64 step) {
    bool failed = false;
    value all = get_partial(part + r * partial_size);
    for (int k = 0; k < Count; ++k) all = apply(all, get(in + k * step + r * size), failed);
    put_partial(part + r * partial_size, all);
    return failed;
  }

  static __attribute__((noinline)) bool join_parts(char (*part)[row_block * partial_size],
                                                   i64 rows) {
    return any_failed<join_column>(rows, part);
  }
  static GUF_FN bool join_column(i64 r, char (*part)[row_block * partial_size]) {
    bool failed = false;
    const i64 at = r * partial_size;
    put_partial(part[0] + at,
                join_eight(part[0] + at, part[1] + at, part[2] + at, part[3] + at, part[4] + at,
                           part[5] + at, part[6] + at, part[7] + at, failed));
    return failed;
  }

  // ---- joins

  static __attribute__((noinline)) bool join(char **args, i64 n, const i64 *steps) {
    if (steps[0] == partial_size && steps[1] == partial_size && steps[2] == partial_size) {
      return join_steps(args, n, partial_size, partial_size, partial_size);
    }
    return join_steps(args, n, steps[0], steps[1], steps[2]);
  }
  static GUF_FN bool join_steps(char **args, i64 n, i64 a, i64 b, i64 out) {
    return any_failed<join_one>(n, args, a, b, out);
  }
  static GUF_FN bool join_one(i64 i, char **args, i64 a, i64 b, i64 out) {
    bool failed = false;
    put_partial(args[2] + i * out,
                apply(get_partial(args[0] + i * a), get_partial(args[1] + i * b), failed));
    return failed;
  }
};

}  // namespace host
}  // namespace guf

#undef GUF_FOLD_LOOP

#endif  // GUFUNC_KERNEL_HOST_FOLD_HPP
