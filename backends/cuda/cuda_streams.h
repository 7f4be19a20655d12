// SPDX-License-Identifier: Apache-2.0
// The driver interface for NVIDIA, part 3 of 4: streams and events.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_STREAMS_H
#define GUFUNC_BACKENDS_CUDA_CUDA_STREAMS_H

#include "backends/cuda/cuda_memory.h"

namespace gufunc::cuda {

class CudaStreams : public CudaMemory {
 public:
  using CudaMemory::CudaMemory;

  // The new stream is not ordered with the legacy default stream, which other libraries use.
  Code stream_open(Native *out_stream) override {
    return api_.stream_create(out_stream, kStreamNonBlocking, 0);
  }
  Code stream_close(Native stream) override { return api_.stream_destroy(stream); }
  Code stream_query(Native stream) override { return api_.stream_query(stream); }
  Code stream_synchronize(Native stream) override { return api_.stream_synchronize(stream); }
  Code stream_wait(Native stream, Native event) override {
    return api_.stream_wait(stream, event, 0);
  }

  Code stream_belongs(Native stream, const gpu::Context &context, bool *out_belongs) override {
    Handle owner = nullptr;
    const Result code = api_.stream_context(stream, &owner);
    *out_belongs = owner == context.native;
    return code;
  }

  Code stream_capturing(Native stream, bool *out_capturing) override {
    int state = 0;
    const Result code = api_.stream_capturing(stream, &state);
    *out_capturing = state != 0;
    return code;
  }

  Code stream_call(Native stream, gpu::HostCall call, void *argument) override {
    return api_.launch_host(stream, call, argument);
  }

  Code event_open(gpu::EventKind kind, Native *out_event) override {
    const bool timed = kind == gpu::EventKind::kTimed;
    return api_.event_create(out_event, timed ? kEventDefault : kEventDisableTiming);
  }
  Code event_close(Native event) override { return api_.event_destroy(event); }
  Code event_record(Native event, Native stream) override {
    return api_.event_record(event, stream);
  }
  Code event_query(Native event) override { return api_.event_query(event); }
  Code event_synchronize(Native event) override { return api_.event_synchronize(event); }
  Code event_elapsed(Native from, Native to, float *out_milliseconds) override {
    return api_.event_elapsed(out_milliseconds, from, to);
  }

 protected:
  ~CudaStreams() = default;
};

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_STREAMS_H
