// SPDX-License-Identifier: Apache-2.0
// Combines values with the fold entry. Without a fold entry, the loop combines the values in the
// same tree.
#include "backends/cpu/methods/method_fold.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/loops/dtype_layout.h"
#include "backends/cpu/loops/element_convert.h"

namespace gufunc::cpu {
namespace {

constexpr int64_t kLeafParts = 8;

int64_t partial_size(guf_dtype dtype, bool widens) {
  return widens ? partial_bytes(dtype) : dtype_size(dtype);
}

template <class Word>
void select_words(Lanes a, int64_t a_units, Lanes b, int64_t b_units, Lanes out, int64_t count,
                  const char *both) {
  for (int64_t i = 0; i < count; ++i) {
    const bool in_a = a.present[i * a_units] != 0, in_b = b.present[i * b_units] != 0;
    Word from_a, from_b, joined;
    std::memcpy(&from_a, a.value + i * a_units * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
    std::memcpy(&from_b, b.value + i * b_units * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
    std::memcpy(&joined, both + i * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
    const Word chosen = in_a ? (in_b ? joined : from_a) : from_b;
    std::memcpy(out.value + i * static_cast<int64_t>(sizeof(Word)), &chosen, sizeof(Word));
    out.present[i] = static_cast<uint8_t>(in_a || in_b);
  }
}

struct Wide {
  uint64_t words[2];
};

const char *initial_of(const guf_backend_method &method) {
  const guf_method_block &block = *method.block;
  if ((block.flags & GUF_METHOD_INITIAL) == 0) return nullptr;
  if (is_structured(block.loop_dtype)) return static_cast<const char *>(method.initial);
  return reinterpret_cast<const char *>(block.initial);
}

// Calls the JOIN request of the fold entry. The function has the signature of a loop.
guf_status join_by_entry(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  const int64_t request[2] = {GUF_FOLD_JOIN, dims[0]};
  return static_cast<const HostLoop *>(user)->run(args, request, steps);
}

}  // namespace

Fold::Fold(const guf_backend_method &method, LoopFailure *failure, FpStatus *fp_status) {
  const guf_method_block &block = *method.block;
  const LoopKind kind = loop_kind_of(block);
  tree_ = (block.flags & GUF_METHOD_TREE) != 0;
  exact_ = (block.flags & GUF_METHOD_EXACT) != 0;
  loop_ = {method.kernel, method.user, kind, failure, fp_status};
  entry_ = {tree_ ? method.fold : nullptr, method.user, kind, failure};
  chain_ = {fp_status == nullptr ? method.fold : nullptr, method.user, kind, failure};
  dtype_ = block.loop_dtype;
  value_bytes_ = dtype_size(block.loop_dtype);
  opaque_ = is_structured(block.loop_dtype);
  initial_ = initial_of(method);
  partial_bytes_ = partial_size(block.loop_dtype, has_entry());
  if (exact_ && has_entry() && kind == LoopKind::kVoid && failure != nullptr)
    find_absorbing(block.loop_dtype);
}

// PERF  Combining four pairs of truth values shows whether a partial result can become final early.
//       The check costs less than one call of a reduction. It lets `any` and `all` of a million
//       elements stop early.
void Fold::find_absorbing(guf_dtype dtype) {
  if (dtype != GUF_BOOL) return;
  const char a[4] = {0, 0, 1, 1}, b[4] = {0, 1, 0, 1};
  char joined[4] = {};
  if (join(a, 1, b, 1, joined, 1, 4) != GUF_OK) return;
  absorbing_ =
      (joined[0] == 0 && joined[1] == 0 ? 1U : 0U) | (joined[2] != 0 && joined[3] != 0 ? 2U : 0U);
}

guf_status Fold::join(const char *a, int64_t a_step, const char *b, int64_t b_step, char *out,
                      int64_t out_step, int64_t count) const {
  char *args[3] = {const_cast<char *>(a), const_cast<char *>(b), out};
  const int64_t steps[3] = {a_step, b_step, out_step};
  if (!has_entry()) return loop_(args, &count, steps);
  if (__builtin_expect(loop_.fp_status != nullptr, 0)) {
    const HostLoop step = {reinterpret_cast<void *>(join_by_entry), const_cast<HostLoop *>(&entry_),
                           LoopKind::kStatus, entry_.failure, loop_.fp_status};
    return step(args, &count, steps);
  }
  const int64_t dims[2] = {GUF_FOLD_JOIN, count};
  return entry_(args, dims, steps);
}

guf_status Fold::scan(const ScanRows &rows, int64_t count, int64_t n) const {
  char *args[3] = {const_cast<char *>(rows.in), rows.out, const_cast<char *>(rows.before)};
  const int64_t dims[3] = {GUF_FOLD_SCAN, count, n};
  const int64_t steps[5] = {rows.in_row, rows.in_step, rows.out_row, rows.out_step,
                            rows.before_row};
  return chain_(args, dims, steps);
}

guf_status Fold::copy_values(int32_t request, const char *from, int64_t from_step, char *to,
                             int64_t to_step, int64_t count) const {
  if (partial_bytes_ == value_bytes_) {
    copy_elements(to, to_step, from, from_step, count, static_cast<uint32_t>(value_bytes_), 0);
    return GUF_OK;
  }
  char *args[2] = {const_cast<char *>(from), to};
  const int64_t steps[2] = {from_step, to_step};
  const int64_t dims[2] = {request, count};
  return entry_(args, dims, steps);
}

guf_status Fold::load(const char *from, int64_t from_step, char *to, int64_t to_step,
                      int64_t count) const {
  return copy_values(GUF_FOLD_LOAD, from, from_step, to, to_step, count);
}

guf_status Fold::store(const char *from, int64_t from_step, char *to, int64_t to_step,
                       int64_t count) const {
  GUF_BACKEND_TRY(copy_values(GUF_FOLD_STORE, from, from_step, to, to_step, count));
  if (__builtin_expect(loop_.fp_status != nullptr, 0) && partial_bytes_ != value_bytes_) {
    loop_.fp_status->check_rounding(GUF_F32, from, from_step, dtype_, to, to_step, count);
  }
  return GUF_OK;
}

void Fold::copy(Lanes from, Lanes to, int64_t count) const {
  if (from.value == to.value) return;
  std::memcpy(to.value, from.value, static_cast<size_t>(count * partial_bytes_));
  if (to.present != nullptr) std::memcpy(to.present, from.present, static_cast<size_t>(count));
}

Lanes Fold::allocate(MethodScratch &scratch, int64_t count, bool tracked) const {
  Lanes lanes;
  lanes.value = scratch.allocate(count * partial_bytes_);
  if (lanes.value == nullptr || !tracked) return lanes;
  lanes.present = reinterpret_cast<uint8_t *>(scratch.allocate(count));
  if (lanes.present == nullptr) lanes.value = nullptr;
  return lanes;
}

guf_status Fold::combine(Lanes a, int64_t a_units, Lanes b, int64_t b_units, Lanes out,
                         int64_t count, MethodScratch &scratch) const {
  const int64_t size = partial_bytes_;
  if (out.present == nullptr) {
    return join(a.value, a_units * size, b.value, b_units * size, out.value, size, count);
  }
  if (loop_.may_fail() || loop_.fp_status != nullptr || opaque_) {
    return combine_present(a, a_units, b, b_units, out, count);
  }
  // Combines all pairs, but uses a result only if both of its operands are present.
  const MethodScratch::Scope scope(scratch);
  char *const both = scratch.allocate(count * size);
  if (both == nullptr) return GUF_E_NO_MEMORY;
  GUF_BACKEND_TRY(join(a.value, a_units * size, b.value, b_units * size, both, size, count));
  switch (size) {
    case 1:
      select_words<uint8_t>(a, a_units, b, b_units, out, count, both);
      break;
    case 2:
      select_words<uint16_t>(a, a_units, b, b_units, out, count, both);
      break;
    case 4:
      select_words<uint32_t>(a, a_units, b, b_units, out, count, both);
      break;
    case 8:
      select_words<uint64_t>(a, a_units, b, b_units, out, count, both);
      break;
    default:
      select_words<Wide>(a, a_units, b, b_units, out, count, both);
  }
  return GUF_OK;
}

// Calls the loop only on pairs in which both values are present. This is required for loops
// that may fail, for steps whose floating-point flags are examined, and for structured dtypes.
guf_status Fold::combine_present(Lanes a, int64_t a_units, Lanes b, int64_t b_units, Lanes out,
                                 int64_t count) const {
  for (int64_t i = 0; i < count; ++i) {
    const Lanes left = at(a, i * a_units), right = at(b, i * b_units), to = at(out, i);
    if (*left.present != 0 && *right.present != 0) {
      GUF_BACKEND_TRY(join(left.value, 0, right.value, 0, to.value, 0, 1));
    } else {
      const Lanes &only = *left.present != 0 ? left : right;
      std::memmove(to.value, only.value, static_cast<size_t>(partial_bytes_));
    }
    *to.present = static_cast<uint8_t>(*left.present != 0 || *right.present != 0);
  }
  return GUF_OK;
}

guf_status Fold::base_block(Lanes elements, int64_t lanes, int64_t n, Lanes out,
                            MethodScratch &scratch) const {
  if (tree_) return tree_leaf(elements, lanes, n, out, scratch);
  copy(elements, out, lanes);
  for (int64_t i = 1; i < n; ++i) {
    GUF_BACKEND_TRY(combine(out, 1, at(elements, i * lanes), 1, out, lanes, scratch));
  }
  return GUF_OK;
}

guf_status Fold::tree_leaf(Lanes elements, int64_t lanes, int64_t n, Lanes out,
                           MethodScratch &scratch) const {
  int64_t i = 1;
  if (n >= kLeafParts) {
    const int64_t all = kLeafParts * lanes;
    for (i = kLeafParts; i + kLeafParts <= n; i += kLeafParts) {
      GUF_BACKEND_TRY(combine(elements, 1, at(elements, i * lanes), 1, elements, all, scratch));
    }
    // Combines (0+1) (2+3) (4+5) (6+7), then pairs of these results, then the two halves.
    // The results overwrite elements that are no longer needed.
    for (int64_t parts = kLeafParts, apart = 1; parts > 1; parts /= 2, apart *= 2) {
      for (int64_t k = 0; k < parts; k += 2) {
        const Lanes left = at(elements, k * apart * lanes);
        const Lanes right = at(elements, (k + 1) * apart * lanes);
        GUF_BACKEND_TRY(combine(left, 1, right, 1, left, lanes, scratch));
      }
    }
  }
  copy(elements, out, lanes);
  for (; i < n; ++i) {
    GUF_BACKEND_TRY(combine(out, 1, at(elements, i * lanes), 1, out, lanes, scratch));
  }
  return GUF_OK;
}

bool TreeJoiner::open(int64_t lanes, int64_t pushes, bool tracked) {
  int levels = 2;  // one pending subtree and the next one
  while (pushes >> (levels - 1) != 0) ++levels;
  lanes_ = lanes;
  levels_ = fold_.allocate(scratch_, lanes * levels, tracked);
  return levels_.value != nullptr;
}

guf_status TreeJoiner::push() {
  ++depth_;
  for (uint64_t carry = count_++; (carry & 1u) != 0; carry >>= 1) {
    GUF_BACKEND_TRY(fold_.combine(level(depth_ - 2), 1, level(depth_ - 1), 1, level(depth_ - 2),
                                  lanes_, scratch_));
    --depth_;
  }
  return GUF_OK;
}

guf_status TreeJoiner::finish(Lanes out) {
  for (; depth_ > 1; --depth_) {
    GUF_BACKEND_TRY(fold_.combine(level(depth_ - 2), 1, level(depth_ - 1), 1, level(depth_ - 2),
                                  lanes_, scratch_));
  }
  fold_.copy(level(0), out, lanes_);
  return GUF_OK;
}

}  // namespace gufunc::cpu
