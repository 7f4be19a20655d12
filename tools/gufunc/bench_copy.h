// SPDX-License-Identifier: Apache-2.0
// The copy that `gufunc bench` measures as the limit of memory throughput.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_COPY_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_COPY_H

#include <gufunc/gufunc.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "owned_handle.h"

namespace gufunc::cli {

// Copies bytes on a device. On the cpu, `threads` threads call memcpy, each for its own part. On
// GPUs the driver copies within the memory of the device.
class BenchCopy {
 public:
  // Allocates `bytes` bytes together, half of them for the source and half for the destination.
  BenchCopy(guf_device device, uint64_t bytes, uint32_t threads);

  // Returns the nanoseconds of `calls` copies, after one copy that reads the source into the cache.
  double sample(int64_t calls);
  // Bytes that one copy reads and writes.
  uint64_t bytes() const { return 2 * half_; }

 private:
  double sample_host(int64_t calls);
  double sample_device(int64_t calls);

  guf_device device_;
  uint64_t half_;
  uint32_t threads_;
  ArrayHandle source_, destination_;
  std::byte *from_ = nullptr, *to_ = nullptr;  // in host memory, else NULL
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_COPY_H
