// SPDX-License-Identifier: Apache-2.0
// Addition of loops to a ufunc, and the destruction of a ufunc.
#include <algorithm>
#include <utility>

#include "core/dtype/dtype.h"
#include "core/op/module_entry.h"
#include "core/op/ufunc.h"

namespace gufunc::op {
namespace {

// Adapts guf_destroy_fn to the callback queue: the function pointer is passed as the value.
void run_destroy(void *user, uint64_t function) {
  reinterpret_cast<guf_destroy_fn>(function)(user);
}

// Returns whether a call cannot distinguish two loops: their input types are equal or, in a ufunc
// without inputs or without outputs, all their types are.
bool same_inputs(const Ufunc &ufunc, const Loop &a, const Loop &b) {
  const bool one_side = ufunc.nin() == 0 || ufunc.nout() == 0;
  const int32_t count = one_side ? ufunc.noperands() : ufunc.nin();
  return std::equal(a.types.begin(), a.types.begin() + count, b.types.begin());
}

}  // namespace

base::Text types_of(const Ufunc &ufunc, const Loop &loop) {
  base::Text text;
  for (int32_t i = 0; i < ufunc.noperands(); ++i) {
    if (i == ufunc.nin()) text.add("->");
    text.add("%c", dtype::letter(loop.types[static_cast<size_t>(i)]));
  }
  return text;
}

guf_status Ufunc::add_loop(std::unique_ptr<Loop> loop, guf_error *error) {
  std::vector<std::unique_ptr<Loop>> loops;
  loops.push_back(std::move(loop));
  return add_loops(std::move(loops), error);
}

guf_status Ufunc::add_loops(std::vector<std::unique_ptr<Loop>> loops, guf_error *error) {
  for (const std::unique_ptr<Loop> &loop : loops) {
    loop->pending_destroy = defer_destroy(loop->destroy, loop->user);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  auto next = std::make_unique<LoopList>();
  next->loops.reserve(loops_.size() + loops.size());
  next->loops = list_.load(std::memory_order_relaxed)->loops;
  for (const std::unique_ptr<Loop> &loop : loops) {
    for (const Loop *const known : next->loops) {
      if (!same_inputs(*this, *known, *loop)) continue;
      return base::fail(error, GUF_E_EXISTS, base::kNone, base::kNone,
                        "ufunc '%s' has a loop for these input types already: %s, requested %s",
                        full_name.c_str(), types_of(*this, *known).c_str(),
                        types_of(*this, *loop).c_str());
    }
    next->loops.push_back(loop.get());
  }
  // Nothing throws after these reservations, so either all loops are added or none.
  loops_.reserve(loops_.size() + loops.size());
  lists_.reserve(lists_.size() + 1);
  for (std::unique_ptr<Loop> &loop : loops) loops_.push_back(std::move(loop));
  lists_.push_back(std::move(next));
  list_.store(lists_.back().get(), std::memory_order_release);
  return GUF_OK;
}

base::DeferredCallback defer_destroy(guf_destroy_fn destroy, void *user) {
  if (destroy == nullptr) return {};
  return {run_destroy, user, reinterpret_cast<uint64_t>(destroy)};
}

guf_status Ufunc::set_state_fold(StateFold fold, guf_error *error) {
  const Signature *const finish = fold.finish ? &fold.finish->signature : nullptr;
  GUF_TRY(check_state_fold(signature, fold.merge->signature, finish, error));
  auto own = std::make_unique<StateFold>(std::move(fold));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (own_state_fold_ != nullptr) {
    return base::fail(error, GUF_E_EXISTS, base::kNone, base::kNone,
                      "ufunc '%s' is a reduction already", full_name.c_str());
  }
  own_state_fold_ = std::move(own);
  state_fold_.store(own_state_fold_.get(), std::memory_order_release);
  return GUF_OK;
}

Ufunc::~Ufunc() {
  if (!core_dims_release.empty()) core_dims_release.queue();
  if (module_entry != nullptr) module_entry->forget(function_index, this);
  for (const std::unique_ptr<Loop> &loop : loops_) {
    if (loop->pending_destroy.empty()) continue;
    if ((loop->flags & GUF_LOOP_ANY_THREAD) != 0) {
      loop->pending_destroy.run_now();
    } else {
      loop->pending_destroy.queue();
    }
  }
}

}  // namespace gufunc::op
