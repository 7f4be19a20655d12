// SPDX-License-Identifier: Apache-2.0
// Copies between a device and pageable host memory in stream order. A thread of the driver
// accesses the host memory, through page-locked staging buffers, when the stream reaches the copy.
// The call returns immediately. The host memory must stay valid until the copy is complete.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_STAGED_COPY_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_STAGED_COPY_H

#include <atomic>
#include <mutex>

#include "backends/gpu/runtime/driver.h"

namespace gufunc::gpu {

class Stream;
class Device;
class StagedCopies;

// One active copy. Its parts run one after the other and share one staging buffer.
struct StagedCopy {
  StagedCopies *owner;
  char *host;  // next byte of the host memory
  char *staging;
  uint64_t left;  // number of bytes of the host memory that are not copied yet
  uint64_t part_bytes;
  bool to_device;
  // The number of queued parts, plus one while parts are being queued.
  std::atomic<uint32_t> references;
  std::atomic<uint32_t> state;  // state of the work on the driver's thread
  StagedCopy *next, *previous;
};

class StagedCopies {
 public:
  explicit StagedCopies(Device &device) : device_(device) {}

  // Queues a copy.
  // Errors  GUF_E_CAPTURE <= the stream is captured;  GUF_E_NO_MEMORY, or the driver's error
  guf_status queue(uint64_t dst, uint64_t src, uint64_t bytes, Direction direction, Stream &stream,
                   guf_error *error);
  // Abandons copies that never completed. The device must be idle or lost. The abandoned copies
  // then belong to the driver's thread, which may still run but accesses nothing else.
  void close();
  bool idle();

 private:
  guf_status queue_parts(StagedCopy &copy, uint64_t device_address, Stream &stream,
                         guf_error *error);
  StagedCopy *begin();
  static void release(StagedCopy *copy);
  static void copy_part(void *copy);

  Device &device_;
  StagedCopy *first_ = nullptr;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_STAGED_COPY_H
