// SPDX-License-Identifier: Apache-2.0
// Compiles the device entries of loops that methods use. This file is compiled with GUF_EMULATE.
#include "kernels/standard/arithmetic.guf.cpp"
#include "kernels/standard/extremes.guf.cpp"
#include "tests/unit/gpu/fold_loops.h"
#include "tests/unit/gpu/host_entry.h"

namespace gufunc::gpu {
namespace {

// Fills tables of device entries from the kernel dialect's class templates for methods.
HostEntry &entry_of(std::vector<HostEntry> *loop, Entry entry) {
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

struct Add {
  template <class T>
  static T call(T a, T b) {
    return standard::add(a, b);
  }
};
struct Multiply {
  template <class T>
  static T call(T a, T b) {
    return standard::multiply(a, b);
  }
};

struct Maximum {
  template <class T>
  static T call(T a, T b) {
    return standard::maximum(a, b);
  }
};
struct Fmin {
  template <class T>
  static T call(T a, T b) {
    return standard::fmin(a, b);
  }
};

struct Subtract {
  template <class T>
  static T call(T a, T b) {
    return standard::subtract(a, b);
  }
};
struct Divide {
  template <class T>
  static T call(T a, T b) {
    return standard::divide(a, b);
  }
};
struct Negative {
  template <class T>
  static T call(T a) {
    return standard::negative(a);
  }
};
struct AddTimedeltas {
  static guf::timedelta call(guf::timedelta a, guf::timedelta b) {
    const bool no_time = a.value == guf::nat || b.value == guf::nat;
    return guf::timedelta{no_time ? guf::nat : guf::time::wrapping_add(a.value, b.value)};
  }
};
// Returns the larger operand. Fails if an operand is 200 or more.
struct SmallMaximum {
  static guf::u8 call(guf::u8 a, guf::u8 b, bool &failed) {
    failed = a >= 200 || b >= 200;
    return a > b ? a : b;
  }
};
struct SmallNegative {
  static guf::i16 call(guf::i16 a, bool &failed) {
    failed = a == 77;
    return standard::negative(a);
  }
};
// A function with operands of two dtypes. Its loop has the dtypes f32, i32 -> f32.
struct Scale {
  static guf::f32 call(guf::f32 a, guf::i32 b) { return a * 0.5f + (guf::f32)b; }
};

template <class Op, class T, bool MayFail = false>
void add_unary(LoopTable *table, const char *function, guf_dtype dtype) {
  namespace dev = guf::device;
  entry_of(&(*table)[{function, dtype}], Entry::kAt) =
      plain_entry<dev::at_block, dev::unary_fold<Op, T, MayFail>::at>(dev::kFoldThreads);
}

}  // namespace

void add_sums(LoopTable *table) {
  add_real_folds<Add>(table, "add");
  add_fold<Add, guf::b8>(table, "add", GUF_BOOL);
  add_real_folds<Multiply>(table, "multiply");
  add_fold<Multiply, guf::b8>(table, "multiply", GUF_BOOL);
}

void add_extremes(LoopTable *table) {
  add_real_folds<Maximum>(table, "maximum");
  add_fold<Maximum, guf::b8>(table, "maximum", GUF_BOOL);
  add_real_folds<Fmin>(table, "fmin");
  add_fold<Fmin, guf::b8>(table, "fmin", GUF_BOOL);
}

void add_others(LoopTable *table) {
  namespace dev = guf::device;
  add_real_folds<Subtract>(table, "subtract");
  add_fold<AddTimedeltas, guf::timedelta>(table, "add", GUF_TIMEDELTA64);
  add_fold<Divide, guf::f32>(table, "divide", GUF_F32);
  add_fold<Divide, guf::f64>(table, "divide", GUF_F64);
  add_unary<Negative, guf::i16>(table, "negative", GUF_I16);
  add_unary<Negative, guf::f64>(table, "negative", GUF_F64);
  add_unary<SmallNegative, guf::i16, true>(table, "small_negative", GUF_I16);
  add_fold<SmallMaximum, guf::u8, true>(table, "small_maximum", GUF_U8);
  entry_of(&(*table)[{"scale", GUF_F32}], Entry::kFold) =
      plain_entry<dev::chain_block, dev::mixed_fold<Scale, guf::f32, guf::i32, false>::from_left>(
          dev::kFoldThreads);
}

}  // namespace gufunc::gpu
