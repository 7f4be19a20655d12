// SPDX-License-Identifier: Apache-2.0
// Runs raw kernels. The threads of the pool share the blocks of a launch; each thread claims a
// range of consecutive blocks. If the threads of a block can wait for each other, they run on
// fibers (backends/emulator).
#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/thread_pool.h"
#include "backends/cpu/loops/work_split.h"
#include "backends/cpu/runtime/cpu_stream.h"
#include "backends/cpu/runtime/cpu_table.h"
#include "backends/emulator/emulator.h"

namespace gufunc::cpu {
namespace {

constexpr uint32_t kMaxShared = 227 * 1024;  // the largest limit of all supported devices
constexpr uint32_t kSubgroup = 32;           // subgroup size of the emulator
// The assumed weight of one thread of a kernel that was never measured.
constexpr uint64_t kThreadWork = 16;
constexpr uint32_t kRunsPerThread = 8;

// Workers that are kept between launches. An empty entry is nullptr.
constexpr size_t kCacheEntries = 64;
constinit std::atomic<emulator::Worker *> worker_cache[kCacheEntries] = {};

emulator::Worker *acquire_worker() {
  for (std::atomic<emulator::Worker *> &place : worker_cache) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    if (emulator::Worker *const worker = place.exchange(nullptr, std::memory_order_acquire)) {
      return worker;
    }
  }
  return emulator::make_worker();
}

void release_worker(emulator::Worker *worker) {
  for (std::atomic<emulator::Worker *> &place : worker_cache) {
    emulator::Worker *none = nullptr;
    if (place.compare_exchange_strong(none, worker, std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return;
    }
  }
  emulator::end_worker(worker);
}

uint64_t product(const uint32_t (&of)[3]) {
  return uint64_t{of[0]} * of[1] * of[2];
}

// Returns the product, or UINT64_MAX on overflow.
uint64_t saturated_product(uint64_t a, uint64_t b) {
  uint64_t both;
  return __builtin_mul_overflow(a, b, &both) ? UINT64_MAX : both;
}

// A running launch. It keeps the first failure. After a failure, chunks that have already begun run
// to their end, and the remaining chunks are skipped.
struct Job {
  emulator::Launch launch;
  LoopCost cost;
  uint64_t block_work;
  uint64_t blocks, first_block, chunk_blocks;
  std::atomic<bool> failed{false};
  emulator::Result failure;
};

void keep_failure(Job &job, const emulator::Result &result) {
  if (!job.failed.exchange(true, std::memory_order_acq_rel)) job.failure = result;
}

void run_blocks(void *context, uint32_t chunk) {
  Job &job = *static_cast<Job *>(context);
  if (job.failed.load(std::memory_order_relaxed)) return;
  emulator::Launch launch = job.launch;
  launch.first_block = job.first_block + chunk * job.chunk_blocks;
  launch.nblocks = std::min(job.chunk_blocks, job.blocks - launch.first_block);
  emulator::Result result = {};
  emulator::Worker *const worker = acquire_worker();
  if (worker == nullptr) {
    result.outcome = emulator::Outcome::kNoMemory;
    return keep_failure(job, result);
  }
  const Stopwatch stopwatch;
  result = emulator::run(launch, *worker);
  LoopCost cost = job.cost;
  cost.record(saturated_product(launch.nblocks, job.block_work), stopwatch.ns());
  release_worker(worker);
  if (result.outcome != emulator::Outcome::kDone) keep_failure(job, result);
}

LoopCost cost_of(const guf_backend_kernel_launch &request) {
  return {request.kernel, nullptr};
}

// Runs the blocks from job.first_block to the last one. `weight` is the weight of these blocks.
void run_chunks(Job &job, uint64_t weight) {
  const uint64_t blocks = job.blocks - job.first_block;
  uint64_t chunks = 1;
  if (weight >= kParallelWork) {
    chunks = std::min<uint64_t>(blocks, uint64_t{thread_pool().threads()} * kRunsPerThread);
    chunks = std::min<uint64_t>(chunks, ThreadPool::kMaxChunks);
  }
  job.chunk_blocks = (blocks + chunks - 1) / chunks;
  chunks = (blocks + job.chunk_blocks - 1) / job.chunk_blocks;
  thread_pool().run(static_cast<uint32_t>(chunks), 0,
                    weight >= kWakeWork ? ThreadPool::Wake::kYes : ThreadPool::Wake::kNo,
                    run_blocks, &job);
}

guf_status execute_kernel(const guf_backend_kernel_launch &request, guf_error *error) {
  Job job = {.cost = cost_of(request)};
  job.launch.entry = reinterpret_cast<guf::device::item_entry>(request.kernel);
  job.launch.arguments = request.arguments;
  std::memcpy(job.launch.blocks, request.grid, sizeof request.grid);
  std::memcpy(job.launch.threads, request.block, sizeof request.block);
  job.launch.shared_bytes = request.shared_bytes;
  job.launch.synchronizes = (request.flags & GUF_MODULE_KERNEL_SYNCHRONIZES) != 0;
  job.blocks = product(request.grid);
  job.block_work = kThreadWork * product(request.block);
  const uint64_t weight = job.cost.weigh(saturated_product(job.blocks, job.block_work));
  if (!job.cost.is_known() && weight < kParallelWork && job.blocks > 1) {
    // The kernel was never measured and the launch may be small, so the measured cost of the first
    // block decides how the remaining blocks run.
    const uint64_t all = std::exchange(job.blocks, 1);
    run_chunks(job, 0);
    job.first_block = 1;
    job.blocks = all;
  }
  run_chunks(
      job, cost_of(request).weigh(saturated_product(job.blocks - job.first_block, job.block_work)));
  if (!job.failed.load(std::memory_order_acquire)) return GUF_OK;
  char message[256];
  emulator::describe(job.failure, message, sizeof message);
  const bool memory = job.failure.outcome == emulator::Outcome::kNoMemory;
  return fail(error, memory ? GUF_E_NO_MEMORY : GUF_E_LAUNCH, kNone, kNone, "kernel '%.63s': %s",
              request.name, message);
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
  out_limits->max_threads = emulator::kMaxThreads;
  out_limits->max_shared_bytes = kMaxShared;
  out_limits->subgroup_size = kSubgroup;
  return GUF_OK;
}

guf_status kernel_launch(void *, const guf_backend_kernel_launch *launch, guf_error *error) {
  const uint32_t unknown = launch->flags & ~uint32_t{GUF_MODULE_KERNEL_SYNCHRONIZES};
  if (unknown != 0) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                "kernel flags: 0x%x is not known to this plugin", unknown);
  }
  if (launch->shared_bytes > kMaxShared) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                "kernel '%.63s': shared memory of a block: expected at most %u bytes, got %u",
                launch->name, kMaxShared, launch->shared_bytes);
  }
  if (launch->argument_bytes > sizeof(guf_kernel_head) + GUF_MAX_KERNEL_BYTES) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone, "kernel '%.63s': got %u argument bytes",
                launch->name, launch->argument_bytes);
  }
  if (launch->stream == nullptr) return execute_kernel(*launch, error);
  auto *stream = static_cast<Stream *>(launch->stream);
  KernelTask task(*launch);
  task.launch = stream->next_launch();
  const LoopCost cost = cost_of(*launch);
  const uint64_t work =
      saturated_product(product(launch->grid), kThreadWork * product(launch->block));
  const bool is_short = cost.is_known() && cost.weigh(work) <= kInlineWork;
  return stream->submit(task, KernelTask::copy_of,
                        is_short ? RunPolicy::kInlineWhenIdle : RunPolicy::kQueue, error);
}

}  // namespace

const guf_kernels_api kKernelsExtension = {sizeof(guf_kernels_api), GUF_KERNELS_EXTENSION_VERSION,
                                           kernel_limits, kernel_launch};

void free_kernel_workers() {
  for (std::atomic<emulator::Worker *> &place : worker_cache) {
    emulator::Worker *const worker = place.exchange(nullptr, std::memory_order_acquire);
    if (worker != nullptr) emulator::end_worker(worker);
  }
}

}  // namespace gufunc::cpu
