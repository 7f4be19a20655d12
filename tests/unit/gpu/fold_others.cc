// SPDX-License-Identifier: Apache-2.0
#include "kernels/standard/arithmetic.guf.cpp"
#include "tests/unit/gpu/fold_entries.h"

namespace gufunc::gpu {
namespace {

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
