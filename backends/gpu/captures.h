// SPDX-License-Identifier: Apache-2.0
// Captures that the host has under way on a device: which streams take part in them, and the status
// words that their kernels or into. The driver tells neither.
#ifndef GUFUNC_BACKENDS_GPU_CAPTURES_H
#define GUFUNC_BACKENDS_GPU_CAPTURES_H

#include <cstdint>
#include <mutex>

#include "backends/gpu/gpu_host.h"

namespace gufunc::gpu {

class Stream;
struct StatusSlot;

class Captures {
 public:
  // The stream has begun one.   Errors  GUF_E_NO_MEMORY
  guf_status open(Stream &origin, guf_error *error);
  // The one that the stream takes part in; 0: none of ours.
  uint64_t of(Stream &stream);
  // The stream waits for an event of the capture, unless that is over.
  void join(Stream &stream, uint64_t number);
  // False: it is over.
  bool add(uint64_t number, StatusSlot *word);
  // The one that the stream began, if any, is over: its words, in the order of the work.
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

#endif  // GUFUNC_BACKENDS_GPU_CAPTURES_H
