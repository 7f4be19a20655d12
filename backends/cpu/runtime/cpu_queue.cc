// SPDX-License-Identifier: Apache-2.0
// The slots that run work on a stream. Each slot creates a task, which runs immediately or is
// copied to the stream's queue. The copy of a method owns the block, its indices and the initial
// value.
#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/cpu_launch.h"
#include "backends/cpu/loops/dtype_layout.h"
#include "backends/cpu/loops/fp_status.h"
#include "backends/cpu/loops/launch_strategy.h"
#include "backends/cpu/loops/work_split.h"
#include "backends/cpu/methods/method_run.h"
#include "backends/cpu/runtime/cpu_stream.h"
#include "backends/cpu/runtime/cpu_table.h"

namespace gufunc::cpu {
namespace {

constexpr uint64_t kInlineBytes = 256 * 1024;

// A task whose copy constructor makes a copy that can be queued, because the task borrows no data.
template <class Self>
class PlainTask : public Task {
 public:
  static Task *copy_of(const Task &task) { return create<Self>(static_cast<const Self &>(task)); }
  void dispose() override { destroy(static_cast<Self *>(this)); }

 private:
  friend Self;
  PlainTask() = default;
  PlainTask(const PlainTask &) = default;
};

// Runs a task on a stream. If `stream` is NULL (the device's default stream), the task runs
// immediately, because work on the default stream is complete when a slot returns.
template <class Self>
guf_status run_in_order(Self &task, void *stream, RunPolicy policy, guf_error *error) {
  if (stream == nullptr) return task.execute(error);
  return static_cast<Stream *>(stream)->submit(task, Self::copy_of, policy, error);
}

guf_status unknown(guf_error *error, const char *what, uint32_t found) {
  return fail(error, GUF_E_UNSUPPORTED, kNone, kNone, "%s: 0x%x is not known to this plugin", what,
              found);
}

class CopyTask final : public PlainTask<CopyTask> {
 public:
  CopyTask(uint64_t dst, uint64_t src, uint64_t size) : dst_(dst), src_(src), size_(size) {}
  guf_status execute(guf_error *) {
    execute_copy(dst_, src_, size_);
    return GUF_OK;
  }
  guf_status run(Stream &, guf_error *error) override { return execute(error); }

 private:
  uint64_t dst_, src_, size_;
};

class FillTask final : public PlainTask<FillTask> {
 public:
  FillTask(uint64_t dst, const void *pattern, uint32_t pattern_size, uint64_t count)
      : dst_(dst), pattern_size_(pattern_size), count_(count) {
    std::memcpy(pattern_, pattern, pattern_size);
  }
  guf_status execute(guf_error *) {
    execute_fill(dst_, pattern_, pattern_size_, count_);
    return GUF_OK;
  }
  guf_status run(Stream &, guf_error *error) override { return execute(error); }

 private:
  uint64_t dst_;
  char pattern_[kMaxElementBytes];
  uint32_t pattern_size_;
  uint64_t count_;
};

class FreeTask final : public PlainTask<FreeTask> {
 public:
  FreeTask(uint64_t address, uint64_t size) : address_(address), size_(size) {}
  guf_status execute(guf_error *) {
    memory_release(address_, size_);
    return GUF_OK;
  }
  guf_status run(Stream &, guf_error *error) override { return execute(error); }

 private:
  uint64_t address_, size_;
};

// A task that runs on the calling thread borrows the launch and its block. A queued task owns
// copies of both.
class LaunchTask : public Task {
 public:
  explicit LaunchTask(const guf_backend_launch &request) : launch_(request) {}
  guf_status run(Stream &, guf_error *error) override {
    const guf_launch_block &block = *launch_.block;
    if (block.items == 0 || serial_reason(block, launch_.max_threads) == SerialReason::kNotSerial) {
      return execute_launch(launch_, error);  // execute_launch measures launches that it divides
    }
    const Stopwatch stopwatch;
    GUF_BACKEND_TRY(execute_launch(launch_, error));
    LoopCost(launch_.kernel, launch_.user).record(work_of(block), stopwatch.ns());
    return GUF_OK;
  }
  void dispose() override {}
  static Task *copy_of(const Task &task);

 protected:
  const guf_launch_block &block() const { return *launch_.block; }
  void borrow(const guf_launch_block *block) { launch_.block = block; }
  const guf_fp_status *fp_status() const { return launch_.fp_status; }
  void borrow(const guf_fp_status *fp_status) { launch_.fp_status = fp_status; }

 private:
  guf_backend_launch launch_;
};

class QueuedLaunch final : public LaunchTask {
 public:
  explicit QueuedLaunch(const LaunchTask &task) : LaunchTask(task), owned_(block()) {
    borrow(&owned_);
    borrow(owned_fp_status_.copy(fp_status()));
  }
  void dispose() override { destroy(this); }

 private:
  guf_launch_block owned_;
  OwnedFpStatus owned_fp_status_;
};

Task *LaunchTask::copy_of(const Task &task) {
  return create<QueuedLaunch>(static_cast<const LaunchTask &>(task));
}

class ConvertTask : public Task {
 public:
  explicit ConvertTask(const guf_launch_block &block) : block_(&block) {}
  guf_status run(Stream &, guf_error *error) override { return execute_convert(*block_, error); }
  void dispose() override {}
  static Task *copy_of(const Task &task);

 protected:
  const guf_launch_block &block() const { return *block_; }
  void borrow(const guf_launch_block *block) { block_ = block; }

 private:
  const guf_launch_block *block_;
};

class QueuedConvert final : public ConvertTask {
 public:
  explicit QueuedConvert(const ConvertTask &task) : ConvertTask(task), owned_(block()) {
    borrow(&owned_);
  }
  void dispose() override { destroy(this); }

 private:
  guf_launch_block owned_;
};

Task *ConvertTask::copy_of(const Task &task) {
  return create<QueuedConvert>(static_cast<const ConvertTask &>(task));
}

// Keeps a reference to the event while the task exists.
class EventTask : public Task {
 public:
  EventTask(Event *event, uint64_t record) : event_(event), record_(record) { event_->retain(); }
  EventTask(const EventTask &other) : Task(other), event_(other.event_), record_(other.record_) {
    event_->retain();
  }
  EventTask &operator=(const EventTask &) = delete;
  ~EventTask() override { event_->release(); }

 protected:
  Event &event() const { return *event_; }
  uint64_t record() const { return record_; }

 private:
  Event *event_;
  uint64_t record_;
};

class RecordTask final : public EventTask {
 public:
  using EventTask::EventTask;
  guf_status run(Stream &stream, guf_error *) override {
    failure_ = stream.failure();
    return GUF_OK;
  }
  void complete() override { event().complete(record(), failure_.value_or(Failure())); }
  void dispose() override { destroy(this); }
  static Task *copy_of(const Task &task) {
    return create<RecordTask>(static_cast<const RecordTask &>(task));
  }

 private:
  std::optional<Failure> failure_;  // set if the stream's work failed; a Failure has 424 bytes
};

class WaitTask final : public EventTask {
 public:
  using EventTask::EventTask;
  guf_status run(Stream &, guf_error *) override {
    event().wait_for(record());
    return GUF_OK;
  }
  void dispose() override { destroy(this); }
  static Task *copy_of(const Task &task) {
    return create<WaitTask>(static_cast<const WaitTask &>(task));
  }
};

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

guf_status memory_free(void *, uint64_t address, uint64_t size, int32_t kind, void *stream,
                       guf_error *error) {
  if (kind < GUF_MEMORY_DEVICE || kind > GUF_MEMORY_MANAGED) {
    return unknown(error, "memory kind", static_cast<uint32_t>(kind));
  }
  FreeTask task(address, size);
  return run_in_order(task, stream, RunPolicy::kInlineWhenIdle, error);
}

guf_status copy(void *, void *stream, uint64_t dst, uint64_t src, uint64_t size, int32_t kind,
                guf_error *error) {
  if (kind < GUF_COPY_HOST_TO_DEVICE || kind > GUF_COPY_DEVICE_TO_DEVICE) {
    return unknown(error, "copy kind", static_cast<uint32_t>(kind));
  }
  CopyTask task(dst, src, size);
  return run_in_order(task, stream,
                      size <= kInlineBytes ? RunPolicy::kInlineWhenIdle : RunPolicy::kQueue, error);
}

guf_status fill(void *, void *stream, uint64_t dst, const void *pattern, uint32_t pattern_size,
                uint64_t count, guf_error *error) {
  if (pattern_size == 0 || pattern_size > kMaxElementBytes) {
    return unknown(error, "pattern size", pattern_size);
  }
  FillTask task(dst, pattern, pattern_size, count);
  const bool small = count <= kInlineBytes / pattern_size;
  return run_in_order(task, stream, small ? RunPolicy::kInlineWhenIdle : RunPolicy::kQueue, error);
}

guf_status launch(void *, const guf_backend_launch *launch, guf_error *error) {
  const guf_launch_block &block = *launch->block;
  GUF_BACKEND_TRY(check_flags(block, error));
  if (launch->stream == nullptr) return execute_launch(*launch, error);
  auto *stream = static_cast<Stream *>(launch->stream);
  LaunchTask task(*launch);
  task.launch = stream->next_launch();
  // Only work that is known to be short runs on the calling thread.
  const LoopCost cost(launch->kernel, launch->user);
  const bool is_short = cost.is_known() && cost.weigh(work_of(block)) <= kInlineWork;
  RunPolicy policy = is_short || block.items == 0 ? RunPolicy::kInlineWhenIdle : RunPolicy::kQueue;
  // A loop that is not marked as callable from any thread runs on the calling thread.
  if ((block.flags & GUF_LAUNCH_ANY_THREAD) == 0) policy = RunPolicy::kCaller;
  return stream->submit(task, LaunchTask::copy_of, policy, error);
}

guf_status convert(void *, void *stream, const guf_launch_block *block, guf_error *error) {
  if (stream == nullptr) return execute_convert(*block, error);
  ConvertTask task(*block);
  const RunPolicy policy =
      block->items <= kInlineWork ? RunPolicy::kInlineWhenIdle : RunPolicy::kQueue;
  return static_cast<Stream *>(stream)->submit(task, ConvertTask::copy_of, policy, error);
}

guf_status stream_wait_event(void *stream, void *event, guf_error *error) {
  auto *awaited = static_cast<Event *>(event);
  const guf_status status = awaited->query(error);
  if (status == GUF_E_FORKED) return status;
  // The stream that recorded the event reports the failure.
  if (status != GUF_NOT_READY) return GUF_OK;
  if (stream == nullptr) {
    awaited->wait_for(awaited->last_record());
    return GUF_OK;
  }
  WaitTask task(awaited, awaited->last_record());
  return static_cast<Stream *>(stream)->submit(task, WaitTask::copy_of, RunPolicy::kQueue, error);
}

guf_status event_record(void *event, void *stream, guf_error *error) {
  auto *recorded = static_cast<Event *>(event);
  const guf_status known = recorded->query(error);
  if (known == GUF_E_FORKED) return known;
  const uint64_t record = recorded->begin_record();
  if (stream == nullptr) {
    recorded->complete(record, Failure());
    return GUF_OK;
  }
  RecordTask task(recorded, record);
  const guf_status status = static_cast<Stream *>(stream)->submit(
      task, RecordTask::copy_of, RunPolicy::kInlineWhenIdle, error);
  if (status != GUF_OK)
    // The task was not queued, so no stream will complete the recording.
    recorded->complete(record, Failure());
  return status;
}

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
