// SPDX-License-Identifier: Apache-2.0
// Keeps one worker for each thread, for callers that do not keep workers themselves.
#include <memory>

#include "backends/emulator/emulator.h"

namespace gufunc::emulator {
namespace {

struct End {
  void operator()(Worker *worker) const { end_worker(worker); }
};

// Returns the worker of the calling thread, or NULL if there is no memory.
// The thread-local variable is only a pointer, because libraries that are opened
// late get little thread-local storage.
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

}  // namespace gufunc::emulator
