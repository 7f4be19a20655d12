// SPDX-License-Identifier: Apache-2.0
// A worker per thread, for whoever has no place to keep one.
#include <memory>

#include "backends/items/items_executor.h"

namespace gufunc::items {
namespace {

struct End {
  void operator()(Worker *worker) const { end_worker(worker); }
};

// Behind a pointer: little of it may lie in thread-local storage, which libraries that are opened
// late share. Null: no memory.
Worker *own_worker() {
  thread_local std::unique_ptr<Worker, End> mine;
  if (mine == nullptr) mine.reset(make_worker());
  return mine.get();
}

}  // namespace

Result run(const Launch &launch) {
  Worker *const worker = own_worker();
  if (worker != nullptr) return run(launch, *worker);
  Result result = {};
  result.outcome = Outcome::kNoMemory;
  return result;
}

}  // namespace gufunc::items
