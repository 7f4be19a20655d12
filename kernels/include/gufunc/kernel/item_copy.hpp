// SPDX-License-Identifier: Apache-2.0
// The rule that decides who copies the first operand of a function with the option `overwrites`.
// Host loops and the core evaluate it independently. Compiled modules contain the rule, so a change
// of the rule or of kItemCopyBytes after the first release requires a new GUF_KERNEL_ABI.
#ifndef GUFUNC_KERNEL_ITEM_COPY_HPP
#define GUFUNC_KERNEL_ITEM_COPY_HPP

#include "types.hpp"

namespace guf {

enum { kItemCopyBytes = 16 * 1024 };  // the largest item that a host loop copies to its stack

// Returns whether a host loop copies each item of the operand itself. Otherwise the library copies
// the operand. `sizes` are the sizes of the operand's core dimensions.
GUF_FN bool loop_copies_item(const i64 *sizes, int ndim, i64 itemsize) {
  i64 bytes = itemsize;
  for (int d = 0; d < ndim; ++d) {
    if (sizes[d] > (i64)kItemCopyBytes || bytes > (i64)kItemCopyBytes) return false;
    bytes *= sizes[d];
  }
  return bytes <= (i64)kItemCopyBytes;
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_ITEM_COPY_HPP
