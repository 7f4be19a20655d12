// SPDX-License-Identifier: Apache-2.0
// Implements streams, events, and all stream operations except kernels.
#include "tests/sim/core/sim_stream.h"

#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/hip/sim_hip_api.h"

namespace {

using sim::Context;
using sim::Driver;
using sim::kSuccess;
using sim::Side;
using StreamRef = std::shared_ptr<sim::Stream>;
namespace hip = sim::hip;

int use_stream(Driver &driver, void *handle, StreamRef *out) {
  Context *current = nullptr;
  const int code = use_context(driver, &current);
  return code != kSuccess ? code : find_stream(driver, *current, handle, out);
}

int use_event(Driver &driver, void *handle, std::shared_ptr<sim::Event> *out) {
  *out = driver.events.find(handle);
  return *out == nullptr ? static_cast<int>(sim::kInvalidHandle) : (*out)->context->failure;
}

int copy(Driver &driver, sim::Lock &lock, void *stream, void *to, Side to_side, const void *from,
         Side from_side, size_t bytes) {
  StreamRef found;
  const int code = use_stream(driver, stream, &found);
  if (code != kSuccess) return code;
  return copy_async(driver, lock, found, to, to_side, from, from_side, bytes);
}

int fill(Driver &driver, void *stream, void *to, uint64_t pattern, unsigned pattern_bytes,
         size_t count) {
  StreamRef found;
  const int code = use_stream(driver, stream, &found);
  if (code != kSuccess) return code;
  return fill_async(driver, found, reinterpret_cast<uint64_t>(to), pattern, pattern_bytes, count);
}

}  // namespace

SIM_EXPORT int hipStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  SIM_CALL(hipStreamCreateWithPriority, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    if (stream == nullptr || flags > hip::kStreamNonBlocking) return sim::kInvalidValue;
    const bool blocking = (flags & hip::kStreamNonBlocking) == 0;
    *stream = create_stream(driver, *current, blocking, flags, priority);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipStreamDestroy(void *stream) {
  SIM_CALL(hipStreamDestroy, sim::kReleases) {
    if (stream == nullptr) return sim::kInvalidHandle;
    return destroy_stream(driver, stream);
  }
  SIM_END;
}

SIM_EXPORT int hipStreamQuery(void *stream) {
  SIM_CALL(hipStreamQuery, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    return code != kSuccess ? code : query_stream(driver, lock, found);
  }
  SIM_END;
}

SIM_EXPORT int hipStreamSynchronize(void *stream) {
  SIM_CALL(hipStreamSynchronize, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    return code != kSuccess ? code : synchronize_stream(driver, lock, found);
  }
  SIM_END;
}

SIM_EXPORT int hipStreamWaitEvent(void *stream, void *event, unsigned flags) {
  SIM_CALL(hipStreamWaitEvent, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    std::shared_ptr<sim::Event> one;
    const int failed = use_event(driver, event, &one);
    if (one == nullptr) return failed;
    return flags > 1 ? static_cast<int>(sim::kInvalidValue) : wait_event(driver, found, one);
  }
  SIM_END;
}

SIM_EXPORT int hipStreamGetDevice(void *stream, int *device) {
  SIM_CALL(hipStreamGetDevice, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    if (device == nullptr) return sim::kInvalidValue;
    *device = found->context->device;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipStreamIsCapturing(void *stream, int *status) {
  SIM_CALL(hipStreamIsCapturing, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    if (status == nullptr) return sim::kInvalidValue;
    *status = found->capture == nullptr ? 0 : found->capture->invalid ? 2 : 1;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipStreamBeginCapture(void *stream, int mode) {
  SIM_CALL(hipStreamBeginCapture, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    return code != kSuccess ? code : begin_capture(driver, found, mode);
  }
  SIM_END;
}

SIM_EXPORT int hipStreamEndCapture(void *stream, void **graph) {
  SIM_CALL(hipStreamEndCapture, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    return graph == nullptr ? static_cast<int>(sim::kInvalidValue)
                            : end_capture(driver, found, graph);
  }
  SIM_END;
}

SIM_EXPORT int hipThreadExchangeStreamCaptureMode(int *mode) {
  SIM_CALL(hipThreadExchangeStreamCaptureMode, 0) {
    return mode == nullptr ? static_cast<int>(sim::kInvalidValue) : sim::exchange_mode(mode);
  }
  SIM_END;
}

SIM_EXPORT int hipLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
  SIM_CALL(hipLaunchHostFunc, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    if (function == nullptr) return sim::kInvalidValue;
    return call_async(driver, found, [function, data] { function(data); });
  }
  SIM_END;
}

SIM_EXPORT int hipStreamAddCallback(void *stream, void (*function)(void *, int, void *), void *data,
                                    unsigned flags) {
  SIM_CALL(hipStreamAddCallback, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    if (function == nullptr || flags != 0) return sim::kInvalidValue;
    if (found->capture != nullptr) return refuse_captured(found);
    Context *const context = found->context;
    return call_async(driver, found, [function, stream, context, data, &driver] {
      sim::Lock inside(driver.mutex);
      const int status = context->failure;
      inside.unlock();
      function(stream, status, data);
    });
  }
  SIM_END;
}

SIM_EXPORT int hipEventCreateWithFlags(void **event, unsigned flags) {
  SIM_CALL(hipEventCreateWithFlags, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    if (event == nullptr || (flags & ~hip::kEventAll) != 0) return sim::kInvalidValue;
    *event = create_event(driver, *current, (flags & hip::kEventDisableTiming) == 0);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipEventDestroy(void *event) {
  SIM_CALL(hipEventDestroy, sim::kReleases) {
    return destroy_event(driver, event);
  }
  SIM_END;
}

SIM_EXPORT int hipEventRecord(void *event, void *stream) {
  SIM_CALL(hipEventRecord, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    std::shared_ptr<sim::Event> one;
    const int failed = use_event(driver, event, &one);
    if (failed != kSuccess) return failed;
    if (one->context != found->context) return sim::kInvalidHandle;
    return record_event(driver, one, found);
  }
  SIM_END;
}

SIM_EXPORT int hipEventQuery(void *event) {
  SIM_CALL(hipEventQuery, 0) {
    std::shared_ptr<sim::Event> one;
    const int code = use_event(driver, event, &one);
    if (code != kSuccess) return code;
    return query_event(driver, lock, one);
  }
  SIM_END;
}

SIM_EXPORT int hipEventSynchronize(void *event) {
  SIM_CALL(hipEventSynchronize, 0) {
    std::shared_ptr<sim::Event> one;
    const int code = use_event(driver, event, &one);
    if (code != kSuccess) return code;
    return synchronize_event(driver, lock, one);
  }
  SIM_END;
}

SIM_EXPORT int hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
  SIM_CALL(hipEventElapsedTime, 0) {
    std::shared_ptr<sim::Event> first, last;
    int code = use_event(driver, start, &first);
    if (code == kSuccess) code = use_event(driver, stop, &last);
    if (code != kSuccess) return code;
    return milliseconds == nullptr ? static_cast<int>(sim::kInvalidValue)
                                   : elapsed_time(driver, *first, *last, milliseconds);
  }
  SIM_END;
}

SIM_EXPORT int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
  SIM_CALL(hipMemcpyAsync, 0) {
    constexpr Side kSides[][2] = {{Side::kHost, Side::kHost},
                                  {Side::kDevice, Side::kHost},
                                  {Side::kHost, Side::kDevice},
                                  {Side::kDevice, Side::kDevice},
                                  {Side::kAny, Side::kAny}};
    if (kind < 0 || kind > hip::kDefault) return sim::kInvalidCopyDirection;
    return copy(driver, lock, stream, to, kSides[kind][0], from, kSides[kind][1], bytes);
  }
  SIM_END;
}

SIM_EXPORT int hipMemcpyHtoDAsync(void *to, void *from, size_t bytes, void *stream) {
  SIM_CALL(hipMemcpyHtoDAsync, 0) {
    return copy(driver, lock, stream, to, Side::kDevice, from, Side::kHost, bytes);
  }
  SIM_END;
}

SIM_EXPORT int hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *stream) {
  SIM_CALL(hipMemcpyDtoHAsync, 0) {
    return copy(driver, lock, stream, to, Side::kHost, from, Side::kDevice, bytes);
  }
  SIM_END;
}

SIM_EXPORT int hipMemcpyDtoDAsync(void *to, void *from, size_t bytes, void *stream) {
  SIM_CALL(hipMemcpyDtoDAsync, 0) {
    return copy(driver, lock, stream, to, Side::kDevice, from, Side::kDevice, bytes);
  }
  SIM_END;
}

SIM_EXPORT int hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                  size_t bytes, void *stream) {
  SIM_CALL(hipMemcpyPeerAsync, 0) {
    const auto home = [&](const void *address, int device) {
      const sim::Allocation *found = driver.memory.find(reinterpret_cast<uint64_t>(address));
      return found != nullptr && found->device == device;
    };
    if (!driver.has_device(to_device) || !driver.has_device(from_device)) {
      return sim::kInvalidDevice;
    }
    if (!home(to, to_device) || !home(from, from_device)) return sim::kInvalidValue;
    return copy(driver, lock, stream, to, Side::kDevice, from, Side::kDevice, bytes);
  }
  SIM_END;
}

SIM_EXPORT int hipMemsetD8Async(void *to, unsigned char value, size_t count, void *stream) {
  SIM_CALL(hipMemsetD8Async, 0) {
    return fill(driver, stream, to, value, 1, count);
  }
  SIM_END;
}

SIM_EXPORT int hipMemsetD16Async(void *to, unsigned short value, size_t count, void *stream) {
  SIM_CALL(hipMemsetD16Async, 0) {
    return fill(driver, stream, to, value, 2, count);
  }
  SIM_END;
}

SIM_EXPORT int hipMemsetD32Async(void *to, int value, size_t count, void *stream) {
  SIM_CALL(hipMemsetD32Async, 0) {
    return fill(driver, stream, to, static_cast<uint32_t>(value), 4, count);
  }
  SIM_END;
}
