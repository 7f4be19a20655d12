// SPDX-License-Identifier: Apache-2.0
// The device entries that a loop has for methods such as reduce. The loop's types, (X, X) -> X,
// (X, Y) -> X or X -> X, determine which entries the loop has.
#ifndef GUFUNC_KERNEL_DEVICE_FOLD_HPP
#define GUFUNC_KERNEL_DEVICE_FOLD_HPP

#include "device_fold_chain.hpp"
#include "device_fold_scan.hpp"
#include "device_fold_tree.hpp"

namespace guf {
namespace device {

// Loops (X, X) -> X have the entries fold, scan and at. If the elements may be regrouped, they also
// have leaves and join.
template <class Op, class T, bool MayFail>
struct fold {
  typedef tree_block tree;
  typedef chain_block chain;
  typedef scan_block scan_rows;
  typedef at_block targets;

  static GUF_DEVICE_ONLY void leaves(const tree &p, char *shared) {
    tree_fold<Op, T, MayFail>::leaves(p, shared);
  }
  static GUF_DEVICE_ONLY void join(const tree &p, char *shared) {
    tree_fold<Op, T, MayFail>::join(p, shared);
  }
  static GUF_DEVICE_ONLY void from_left(const chain &p) { chain_fold<Op, T, T, MayFail>::fold(p); }
  static GUF_DEVICE_ONLY void scan(const scan_rows &p, char *shared) {
    scan_fold<Op, T, MayFail>::scan(p, shared);
  }
  static GUF_DEVICE_ONLY void at(const targets &p) { at_fold<Op, T, MayFail, true>::at(p); }
};

// Loops (X, Y) -> X have only the entry fold.
template <class Op, class X, class Y, bool MayFail>
struct mixed_fold {
  typedef chain_block chain;
  static GUF_DEVICE_ONLY void from_left(const chain &p) { chain_fold<Op, X, Y, MayFail>::fold(p); }
};

// Loops X -> X have only the entry at.
template <class Op, class T, bool MayFail>
struct unary_fold {
  typedef at_block targets;
  static GUF_DEVICE_ONLY void at(const targets &p) {
    at_fold<unary_step<Op>, T, MayFail, false>::at(p);
  }
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FOLD_HPP
