// SPDX-License-Identifier: Apache-2.0
#include "kernels/standard/extremes.guf.cpp"
#include "tests/unit/gpu/fold_entries.h"

namespace gufunc::gpu {
namespace {

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

}  // namespace

void add_extremes(LoopTable *table) {
  add_real_folds<Maximum>(table, "maximum");
  add_fold<Maximum, guf::b8>(table, "maximum", GUF_BOOL);
  add_real_folds<Fmin>(table, "fmin");
  add_fold<Fmin, guf::b8>(table, "fmin", GUF_BOOL);
}

}  // namespace gufunc::gpu
