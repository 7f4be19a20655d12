// SPDX-License-Identifier: Apache-2.0
// The operations of a fold entry in which each result depends on the previous one. Functions that
// do not allow regrouping have only these operations.
#ifndef GUFUNC_KERNEL_HOST_CHAIN_HPP
#define GUFUNC_KERNEL_HOST_CHAIN_HPP

#include "fast_path.hpp"
#include "host_memory.hpp"

namespace guf {
namespace host {

// The values of dims[0], which select the operation of a fold entry. module_table.h defines the
// same numbers.
enum fold_request { fold_leaves = 1, fold_join, fold_scan, fold_load, fold_store, fold_at };

// `RowsAtOnce` rows of a scan are computed side by side, so that the dependency chains of the rows
// overlap.
template <class Op, class T, bool MayFail, int RowsAtOnce = 1>
struct chain {
  typedef value_t<T> value;
  static constexpr i64 size = (i64)sizeof(T);

  // Returns true if an element failed.
  static GUF_FN bool run(char **args, const i64 *dims, const i64 *steps) {
    if (dims[0] == fold_scan) return scan(args, dims[1], dims[2], steps);
    return dims[0] == fold_at && at(args, dims[1]);
  }

  static GUF_FN value apply(value a, value b, bool &failed) {
    if constexpr (MayFail) {
      bool one = false;
      const value all = cast<value>(Op::call(a, b, one));
      failed |= one;
      return all;
    } else if constexpr (has_two_paths<decltype(Op::call(a, b))>::value) {
      return cast<value>(decltype(Op::call(a, b))::function::full_path(a, b));
    } else {
      return cast<value>(Op::call(a, b));
    }
  }

  // Every result is rounded to T before the next step, as if the loop had computed and stored it.
  static __attribute__((noinline)) bool scan(char **args, i64 rows, i64 n, const i64 *steps) {
    bool failed = false;
    i64 r = 0;
    for (; RowsAtOnce > 1 && r + RowsAtOnce <= rows; r += RowsAtOnce)
      failed |= scan_rows<RowsAtOnce>(args, r, n, steps);
    for (; r < rows; ++r) failed |= scan_rows<1>(args, r, n, steps);
    return failed;
  }

  static __attribute__((noinline)) bool at(char **args, i64 n) {
    const i64 *const offsets = (const i64 *)args[2], *const operands = (const i64 *)args[3];
    bool failed = false;
    for (i64 i = 0; i < n; ++i) {
      char *const element = args[0] + offsets[i];
      const value next = get(args[1] + operands[i]);
      memory<T>::store(element, cast<T>(apply(get(element), next, failed)));
    }
    return failed;
  }

 private:
  static GUF_FN value get(const char *p) { return cast<value>(memory<T>::load(p)); }

  template <int Rows>
  static GUF_FN bool scan_rows(char **args, i64 first, i64 n, const i64 *steps) {
    const i64 in_row = steps[0], in_step = steps[1], out_row = steps[2], out_step = steps[3];
    const char *in = args[0] + first * in_row;
    char *out = args[1] + first * out_row;
    bool failed = false;
    value all[Rows];
    for (int r = 0; r < Rows; ++r) {
      all[r] = get(in + r * in_row);
      if (args[2] != nullptr) {
        const value before = get(args[2] + (first + r) * steps[4]);
        all[r] = cast<value>(cast<T>(apply(before, all[r], failed)));
      }
      memory<T>::store(out + r * out_row, cast<T>(all[r]));
    }
    for (i64 i = 1; i < n; ++i) {
      in += in_step;
      out += out_step;
      for (int r = 0; r < Rows; ++r) {
        const T rounded = cast<T>(apply(all[r], get(in + r * in_row), failed));
        memory<T>::store(out + r * out_row, rounded);
        all[r] = cast<value>(rounded);
      }
    }
    return failed;
  }
};

}  // namespace host
}  // namespace guf

#endif  // GUFUNC_KERNEL_HOST_CHAIN_HPP
