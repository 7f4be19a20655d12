// SPDX-License-Identifier: Apache-2.0
#include "kernels/standard/arithmetic.guf.cpp"
#include "tests/unit/gpu/fold_entries.h"

namespace gufunc::gpu {
namespace {

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

}  // namespace

void add_sums(LoopTable *table) {
  add_real_folds<Add>(table, "add");
  add_fold<Add, guf::b8>(table, "add", GUF_BOOL);
  add_real_folds<Multiply>(table, "multiply");
  add_fold<Multiply, guf::b8>(table, "multiply", GUF_BOOL);
}

}  // namespace gufunc::gpu
