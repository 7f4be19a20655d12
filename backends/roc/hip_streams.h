// SPDX-License-Identifier: Apache-2.0
// The driver interface for HIP, part 3 of 4: streams and events.
#ifndef GUFUNC_BACKENDS_ROC_HIP_STREAMS_H
#define GUFUNC_BACKENDS_ROC_HIP_STREAMS_H

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/roc/hip_memory.h"

namespace gufunc::roc {

class HipStreams : public HipMemory {
 public:
  using HipMemory::HipMemory;

  Code stream_open(Native *out_stream) override {
    return hip_.hipStreamCreateWithPriority(out_stream, kNonBlockingStream, 0);
  }
  Code stream_close(Native stream) override { return hip_.hipStreamDestroy(stream); }
  Code stream_query(Native stream) override { return hip_.hipStreamQuery(stream); }
  Code stream_synchronize(Native stream) override { return hip_.hipStreamSynchronize(stream); }
  Code stream_wait(Native stream, Native event) override {
    return hip_.hipStreamWaitEvent(stream, event, 0);
  }

  // If the runtime cannot report the device of a stream, the stream is accepted.
  Code stream_belongs(Native stream, const gpu::Context &context, bool *out_belongs) override {
    int owner = context.index;
    const HipError status =
        hip_.hipStreamGetDevice == nullptr ? kHipSuccess : hip_.hipStreamGetDevice(stream, &owner);
    *out_belongs = owner == context.index;
    return status;
  }

  Code stream_capturing(Native stream, bool *out_capturing) override {
    int capture = 0;
    const HipError status = hip_.hipStreamIsCapturing == nullptr
                                ? kHipSuccess
                                : hip_.hipStreamIsCapturing(stream, &capture);
    *out_capturing = capture != 0;
    return status;
  }

  Code stream_call(Native stream, gpu::HostCall call, void *argument) override {
    if (hip_.hipLaunchHostFunc != nullptr) return hip_.hipLaunchHostFunc(stream, call, argument);
    auto *packet = gpu::create<Packet>(Packet{call, argument});
    if (packet == nullptr) return kHipOutOfMemory;
    const HipError queued = hip_.hipStreamAddCallback(stream, run_packet, packet, 0);
    if (queued != kHipSuccess) gpu::destroy(packet);
    return queued;
  }

  Code event_open(gpu::EventKind kind, Native *out_event) override {
    const unsigned flags = kind == gpu::EventKind::kTimed ? kTimedEvent : kUntimedEvent;
    return hip_.hipEventCreateWithFlags(out_event, flags);
  }
  Code event_close(Native event) override { return hip_.hipEventDestroy(event); }
  Code event_record(Native event, Native stream) override {
    return hip_.hipEventRecord(event, stream);
  }
  Code event_query(Native event) override { return hip_.hipEventQuery(event); }
  Code event_synchronize(Native event) override { return hip_.hipEventSynchronize(event); }
  Code event_elapsed(Native from, Native to, float *out_milliseconds) override {
    return hip_.hipEventElapsedTime(out_milliseconds, from, to);
  }

 protected:
  ~HipStreams() = default;

 private:
  struct Packet {
    gpu::HostCall call;
    void *argument;
  };
  // Also called after failed work. The argument of the call is still valid then.
  static void run_packet(HipHandle, HipError, void *argument) {
    auto *const packet = static_cast<Packet *>(argument);
    packet->call(packet->argument);
    gpu::destroy(packet);
  }
};

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_HIP_STREAMS_H
