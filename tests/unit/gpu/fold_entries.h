// SPDX-License-Identifier: Apache-2.0
// Fills tables of device entries from the kernel dialect's class templates for methods. Include
// this header only in files that are compiled with GUF_EMULATE.
#ifndef GUFUNC_TESTS_UNIT_GPU_FOLD_ENTRIES_H
#define GUFUNC_TESTS_UNIT_GPU_FOLD_ENTRIES_H

#include "tests/unit/gpu/fold_loops.h"
#include "tests/unit/gpu/host_entry.h"

namespace gufunc::gpu {

inline HostEntry &entry_of(std::vector<HostEntry> *loop, Entry entry) {
  loop->resize(static_cast<size_t>(Entry::kLoopEntries));
  return (*loop)[static_cast<size_t>(entry)];
}

template <class Op, class T, bool MayFail = false>
void add_fold(LoopTable *table, const char *function, guf_dtype dtype) {
  namespace dev = guf::device;
  using Fold = dev::fold<Op, T, MayFail>;
  std::vector<HostEntry> &loop = (*table)[{function, dtype}];
  entry_of(&loop, Entry::kLeaves) = shared_entry<dev::tree_block, Fold::leaves>(dev::kFoldThreads);
  entry_of(&loop, Entry::kJoin) = shared_entry<dev::tree_block, Fold::join>(dev::kFoldThreads);
  entry_of(&loop, Entry::kFold) = plain_entry<dev::chain_block, Fold::from_left>(dev::kFoldThreads);
  entry_of(&loop, Entry::kScan) = shared_entry<dev::scan_block, Fold::scan>(dev::kScanThreads);
  entry_of(&loop, Entry::kAt) = plain_entry<dev::at_block, Fold::at>(dev::kFoldThreads);
}

template <class Op>
void add_real_folds(LoopTable *table, const char *function) {
  add_fold<Op, guf::i8>(table, function, GUF_I8);
  add_fold<Op, guf::u8>(table, function, GUF_U8);
  add_fold<Op, guf::i16>(table, function, GUF_I16);
  add_fold<Op, guf::u16>(table, function, GUF_U16);
  add_fold<Op, guf::i32>(table, function, GUF_I32);
  add_fold<Op, guf::u32>(table, function, GUF_U32);
  add_fold<Op, guf::i64>(table, function, GUF_I64);
  add_fold<Op, guf::u64>(table, function, GUF_U64);
  add_fold<Op, guf::f16>(table, function, GUF_F16);
  add_fold<Op, guf::bf16>(table, function, GUF_BF16);
  add_fold<Op, guf::f32>(table, function, GUF_F32);
  add_fold<Op, guf::f64>(table, function, GUF_F64);
  add_fold<Op, guf::c64>(table, function, GUF_C64);
  add_fold<Op, guf::c128>(table, function, GUF_C128);
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_TESTS_UNIT_GPU_FOLD_ENTRIES_H
