// SPDX-License-Identifier: Apache-2.0
// Blocks of a raw kernel are shared among the pool's threads, in runs of consecutive ones; threads
// of a block that may wait for one another stand on fibers (backends/items).
#include "backends/cpu/cpu_kernels.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backends/cpu/claim_pool.h"
#include "backends/cpu/cpu_host.h"
#include "backends/cpu/cpu_stream.h"
#include "backends/items/items_executor.h"

namespace gufunc::cpu {
namespace {

constexpr uint32_t kMostShared = 227 * 1024;  // as much as any device has
constexpr uint32_t kSubgroup = 32;            // of the executor
// Threads of a grid: below the first a second thread of the host costs more than it brings, below
// the other one it is not worth waking it. A stream that is idle runs few on its caller.
constexpr uint64_t kParallelThreads = 2048, kWakeThreads = 8192, kInlineThreads = 2048;
constexpr uint32_t kRunsPerThread = 8;

// Workers between launches.
constexpr size_t kShelfPlaces = 64;
constinit std::atomic<items::Worker *> worker_shelf[kShelfPlaces] = {};

items::Worker *take_worker() {
  for (std::atomic<items::Worker *> &place : worker_shelf) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    if (items::Worker *const worker = place.exchange(nullptr, std::memory_order_acquire)) {
      return worker;
    }
  }
  return items::make_worker();
}

void give_worker(items::Worker *worker) {
  for (std::atomic<items::Worker *> &place : worker_shelf) {
    items::Worker *none = nullptr;
    if (place.compare_exchange_strong(none, worker, std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return;
    }
  }
  items::end_worker(worker);
}

uint64_t product(const uint32_t (&of)[3]) {
  return uint64_t{of[0]} * of[1] * of[2];
}

// A launch while it runs. The first failure is kept; what others have begun goes on.
struct Job {
  items::Launch launch;
  uint64_t blocks, chunk_blocks;
  std::atomic<bool> failed{false};
  items::Result failure;
};

void keep_failure(Job &job, const items::Result &result) {
  if (!job.failed.exchange(true, std::memory_order_acq_rel)) job.failure = result;
}

void run_blocks(void *context, uint32_t chunk) {
  Job &job = *static_cast<Job *>(context);
  if (job.failed.load(std::memory_order_relaxed)) return;
  items::Launch launch = job.launch;
  launch.first_block = chunk * job.chunk_blocks;
  launch.nblocks = std::min(job.chunk_blocks, job.blocks - launch.first_block);
  items::Result result = {};
  items::Worker *const worker = take_worker();
  if (worker == nullptr) {
    result.outcome = items::Outcome::kNoMemory;
    return keep_failure(job, result);
  }
  result = items::run(launch, *worker);
  give_worker(worker);
  if (result.outcome != items::Outcome::kDone) keep_failure(job, result);
}

guf_status execute_kernel(const guf_backend_kernel_launch &request, guf_error *error) {
  Job job = {};
  job.launch.entry = reinterpret_cast<guf::device::item_entry>(request.kernel);
  job.launch.arguments = request.arguments;
  std::memcpy(job.launch.blocks, request.grid, sizeof request.grid);
  std::memcpy(job.launch.threads, request.block, sizeof request.block);
  job.launch.shared_bytes = request.shared_bytes;
  job.launch.synchronises = (request.flags & GUF_MODULE_KERNEL_SYNCHRONISES) != 0;
  job.blocks = product(request.grid);
  const uint64_t threads = job.blocks * product(request.block);
  ClaimPool &pool = claim_pool();
  uint64_t chunks = 1;
  if (threads >= kParallelThreads) {
    chunks = std::min<uint64_t>(job.blocks, uint64_t{pool.threads()} * kRunsPerThread);
    chunks = std::min<uint64_t>(chunks, ClaimPool::kMaxChunks);
  }
  job.chunk_blocks = (job.blocks + chunks - 1) / chunks;
  chunks = (job.blocks + job.chunk_blocks - 1) / job.chunk_blocks;
  pool.run(static_cast<uint32_t>(chunks), 0,
           threads >= kWakeThreads ? ClaimPool::Wake::kYes : ClaimPool::Wake::kNo, run_blocks,
           &job);
  if (!job.failed.load(std::memory_order_acquire)) return GUF_OK;
  char said[256];
  items::describe(job.failure, said, sizeof said);
  const bool memory = job.failure.outcome == items::Outcome::kNoMemory;
  return fail(error, memory ? GUF_E_NO_MEMORY : GUF_E_LAUNCH, kNone, kNone, "kernel '%.63s': %s",
              request.name, said);
}

class KernelTask : public Task {
 public:
  explicit KernelTask(const guf_backend_kernel_launch &request) : request_(request) {}
  guf_status run(Stream &, guf_error *error) override { return execute_kernel(request_, error); }
  void dispose() override {}
  static Task *copy_of(const Task &task);

 protected:
  guf_backend_kernel_launch request_;
};

class QueuedKernel final : public KernelTask {
 public:
  explicit QueuedKernel(const KernelTask &task) : KernelTask(task) {
    std::memcpy(arguments_, request_.arguments, request_.argument_bytes);
    request_.arguments = arguments_;
  }
  void dispose() override { destroy(this); }

 private:
  uint64_t arguments_[(sizeof(guf_kernel_head) + GUF_MAX_KERNEL_BYTES) / sizeof(uint64_t)];
};

Task *KernelTask::copy_of(const Task &task) {
  return create<QueuedKernel>(static_cast<const KernelTask &>(task));
}

guf_status kernel_limits(void *, void *, guf_backend_kernel_limits *out_limits, guf_error *) {
  out_limits->max_threads = items::kMaxThreads;
  out_limits->max_shared_bytes = kMostShared;
  out_limits->subgroup_size = kSubgroup;
  return GUF_OK;
}

guf_status kernel_launch(void *, const guf_backend_kernel_launch *launch, guf_error *error) {
  const uint32_t unknown = launch->flags & ~uint32_t{GUF_MODULE_KERNEL_SYNCHRONISES};
  if (unknown != 0) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                "kernel flags: 0x%x is not known to this plugin", unknown);
  }
  if (launch->shared_bytes > kMostShared) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                "kernel '%.63s': found %u bytes of shared memory, the cpu gives a block %u",
                launch->name, launch->shared_bytes, kMostShared);
  }
  if (launch->argument_bytes > sizeof(guf_kernel_head) + GUF_MAX_KERNEL_BYTES) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone, "kernel '%.63s': found %u argument bytes",
                launch->name, launch->argument_bytes);
  }
  if (launch->stream == nullptr) return execute_kernel(*launch, error);
  auto *stream = static_cast<Stream *>(launch->stream);
  KernelTask task(*launch);
  task.launch = stream->next_launch();
  const uint64_t threads = product(launch->grid) * product(launch->block);
  return stream->submit(task, KernelTask::copy_of,
                        threads <= kInlineThreads ? Place::kInlineWhenIdle : Place::kQueue, error);
}

}  // namespace

const guf_kernels_api kKernelsExtension = {sizeof(guf_kernels_api), GUF_KERNELS_EXTENSION_VERSION,
                                           kernel_limits, kernel_launch};

void free_kernel_workers() {
  for (std::atomic<items::Worker *> &place : worker_shelf) {
    items::Worker *const worker = place.exchange(nullptr, std::memory_order_acquire);
    if (worker != nullptr) items::end_worker(worker);
  }
}

}  // namespace gufunc::cpu
