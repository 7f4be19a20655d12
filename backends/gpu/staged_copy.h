// SPDX-License-Identifier: Apache-2.0
// Copies between a device and ordinary host memory in the order of a stream. The memory is read or
// written when the stream gets there, by a thread of the driver, through page-locked staging; so
// the call returns at once, and the memory must stay valid until the stream is past it.
#ifndef GUFUNC_BACKENDS_GPU_STAGED_COPY_H
#define GUFUNC_BACKENDS_GPU_STAGED_COPY_H

#include <atomic>
#include <mutex>

#include "backends/gpu/driver.h"

namespace gufunc::gpu {

class Stream;
class Device;
class StagedCopies;

// One copy under way. Its parts run one after the other and share one piece of staging.
struct StagedCopy {
  StagedCopies *home;
  char *host;  // next byte of the host's side
  char *staging;
  uint64_t left;  // bytes that are still to pass through the host
  uint64_t part_bytes;
  bool to_device;
  std::atomic<uint32_t> holders;  // parts that are queued, and who queues them
  std::atomic<uint32_t> state;    // of what the driver's thread does
  StagedCopy *next, *previous;
};

class StagedCopies {
 public:
  explicit StagedCopies(Device &device) : device_(device) {}

  // Errors  GUF_E_CAPTURE <= the stream is captured;  GUF_E_NO_MEMORY, or what the driver says
  guf_status queue(uint64_t dst, uint64_t src, uint64_t bytes, Direction direction, Stream &stream,
                   guf_error *error);
  // Forgets copies that never ended: when the device is idle or lost. Their memory is the driver's
  // thread's then, which may still come, and touches nothing else any more.
  void close();
  bool idle();

 private:
  guf_status queue_parts(StagedCopy &copy, uint64_t device_address, Stream &stream,
                         guf_error *error);
  StagedCopy *begin();
  static void let_go(StagedCopy *copy);
  static void pass(void *copy);

  Device &device_;
  StagedCopy *first_ = nullptr;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_STAGED_COPY_H
