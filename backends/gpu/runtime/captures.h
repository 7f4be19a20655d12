// SPDX-License-Identifier: Apache-2.0
// The captures that the host has started on a device: the streams that take part in a capture and
// the status words of its kernels. The driver does not report them.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_CAPTURES_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_CAPTURES_H

#include <cstdint>
#include <mutex>

#include "backends/gpu/geometry/gpu_host.h"

namespace gufunc::gpu {

class Stream;
struct StatusSlot;

class Captures {
 public:
  // Records that the stream has begun a capture.   Errors  GUF_E_NO_MEMORY
  guf_status open(Stream &origin, guf_error *error);
  // Returns the number of the host's capture that the stream takes part in, or 0 if there is none.
  uint64_t of(Stream &stream);
  // Adds the stream to a capture, because the stream waits for an event of the capture.
  // Has no effect if the capture has ended.
  void join(Stream &stream, uint64_t number);
  // Adds a status word to a capture. Returns false if the capture has ended.
  bool add(uint64_t number, StatusSlot *word);
  // Ends the capture that began on the stream, if any.
  // Returns the capture's status words in the order in which they were added.
  StatusSlot *close(const Stream &origin);

 private:
  struct Capture {
    const Stream *origin;
    uint64_t number;
    StatusSlot *first = nullptr, **end = &first;
    Capture *next = nullptr;
  };
  Capture *find(uint64_t number) const;

  std::mutex mutex_;
  Capture *open_ = nullptr;
  uint64_t last_number_ = 0;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_CAPTURES_H
