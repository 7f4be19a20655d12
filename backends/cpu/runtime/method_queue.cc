// SPDX-License-Identifier: Apache-2.0
// The `method` slot. It runs the method immediately, or queues a copy that owns the block,
// its indices and the initial value.
#include <algorithm>
#include <cstring>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/dtype_layout.h"
#include "backends/cpu/loops/fp_status.h"
#include "backends/cpu/loops/work_split.h"
#include "backends/cpu/methods/method_run.h"
#include "backends/cpu/runtime/cpu_device.h"
#include "backends/cpu/runtime/cpu_stream.h"

namespace gufunc::cpu {
namespace {

// A task that runs on the calling thread borrows the method and its block.
class MethodTask : public Task {
 public:
  explicit MethodTask(const guf_backend_method &method) : method_(method) {}
  guf_status run(Stream &, guf_error *error) override { return execute_method(method_, error); }
  void dispose() override {}
  static Task *copy_of(const Task &task);

 protected:
  const guf_method_block &block() const { return *method_.block; }
  void borrow(const guf_method_block *block) { method_.block = block; }
  const guf_fp_status *fp_status() const { return method_.fp_status; }
  void borrow(const guf_fp_status *fp_status) { method_.fp_status = fp_status; }
  const void *initial() const { return method_.initial; }
  void borrow_initial(const void *initial) { method_.initial = initial; }

 private:
  guf_backend_method method_;
};

class QueuedMethod final : public MethodTask {
 public:
  explicit QueuedMethod(const MethodTask &task) : MethodTask(task), owned_(block()) {
    borrow(&owned_);
    borrow(owned_fp_status_.copy(fp_status()));
  }
  ~QueuedMethod() override {
    host_free(indices_[0]);
    host_free(indices_[1]);
    host_free(initial_);
  }
  QueuedMethod(const QueuedMethod &) = delete;
  QueuedMethod &operator=(const QueuedMethod &) = delete;
  void dispose() override { destroy(this); }

  // Returns false if there is no memory.
  bool own_all() {
    return own(&owned_.indices, &indices_[0]) && own(&owned_.operand_indices, &indices_[1]) &&
           own_initial();
  }

 private:
  bool own_initial() {
    if (initial() == nullptr) return true;
    const size_t size = dtype_size(owned_.loop_dtype);
    initial_ = host_alloc(size, kMaxAlignment);
    if (initial_ == nullptr) return false;
    std::memcpy(initial_, initial(), size);
    borrow_initial(initial_);
    return true;
  }

  bool own(const int64_t **indices, void **memory) const {
    const auto size = static_cast<size_t>(owned_.nindices) * sizeof(int64_t);
    if (*indices == nullptr || size == 0) return true;
    *memory = host_alloc(size, alignof(int64_t));
    if (*memory == nullptr) return false;
    std::memcpy(*memory, *indices, size);
    *indices = static_cast<const int64_t *>(*memory);
    return true;
  }

  guf_method_block owned_;
  OwnedFpStatus owned_fp_status_;
  void *indices_[2] = {};
  void *initial_ = nullptr;
};

Task *MethodTask::copy_of(const Task &task) {
  auto *const queued = create<QueuedMethod>(static_cast<const MethodTask &>(task));
  if (queued == nullptr || queued->own_all()) return queued;
  destroy(queued);
  return nullptr;
}

}  // namespace

guf_status method(void *, const guf_backend_method *method, guf_error *error) {
  const guf_method_block &block = *method->block;
  GUF_BACKEND_TRY(check_flags(block, error));
  if (method->stream == nullptr) return execute_method(*method, error);
  auto *const stream = static_cast<Stream *>(method->stream);
  MethodTask task(*method);
  task.launch = stream->next_launch();
  const LoopCost cost(method->kernel, method->user);
  const bool is_short = cost.is_known() && cost.weigh(work_of(block)) <= kInlineWork;
  RunPolicy policy = is_short ? RunPolicy::kInlineWhenIdle : RunPolicy::kQueue;
  // A loop that is not marked as callable from any thread runs on the calling thread.
  if ((block.flags & GUF_METHOD_ANY_THREAD) == 0) policy = RunPolicy::kCaller;
  return stream->submit(task, MethodTask::copy_of, policy, error);
}

}  // namespace gufunc::cpu
