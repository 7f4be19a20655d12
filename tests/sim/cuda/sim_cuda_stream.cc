// SPDX-License-Identifier: Apache-2.0
// Implements streams, events, graphs, and all stream operations except kernels.
#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_stream.h"
#include "tests/sim/cuda/sim_cuda_api.h"

namespace {

using sim::Context;
using sim::Driver;
using sim::kSuccess;
using sim::Side;
using StreamRef = std::shared_ptr<sim::Stream>;

// Finds a stream of any context. Fails if the current context or the stream's context has failed.
int use_stream(Driver &driver, void *handle, StreamRef *out) {
  Context *current = nullptr;
  const int code = use_context(driver, &current);
  return code != kSuccess ? code : find_stream(driver, *current, handle, out);
}

int use_event(Driver &driver, void *handle, std::shared_ptr<sim::Event> *out) {
  *out = driver.events.find(handle);
  return *out == nullptr ? static_cast<int>(sim::kInvalidHandle) : (*out)->context->failure;
}

void *pointer(uint64_t address) {
  return reinterpret_cast<void *>(address);
}

int copy(Driver &driver, sim::Lock &lock, void *stream, void *to, Side to_side, const void *from,
         Side from_side, size_t bytes) {
  StreamRef found;
  const int code = use_stream(driver, stream, &found);
  if (code != kSuccess) return code;
  return copy_async(driver, lock, found, to, to_side, from, from_side, bytes);
}

int fill(Driver &driver, void *stream, uint64_t to, uint64_t pattern, unsigned pattern_bytes,
         size_t count) {
  StreamRef found;
  const int code = use_stream(driver, stream, &found);
  return code != kSuccess ? code : fill_async(driver, found, to, pattern, pattern_bytes, count);
}

}  // namespace

SIM_EXPORT int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  SIM_CALL(cuStreamCreateWithPriority, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    if (stream == nullptr || flags > sim::cuda::kStreamNonBlocking) return sim::kInvalidValue;
    const bool blocking = (flags & sim::cuda::kStreamNonBlocking) == 0;
    *stream = create_stream(driver, *current, blocking, flags, priority);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuStreamDestroy_v2(void *stream) {
  SIM_CALL(cuStreamDestroy_v2, sim::kReleases) {
    return destroy_stream(driver, stream);
  }
  SIM_END;
}

SIM_EXPORT int cuStreamQuery(void *stream) {
  SIM_CALL(cuStreamQuery, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    return code != kSuccess ? code : query_stream(driver, lock, found);
  }
  SIM_END;
}

SIM_EXPORT int cuStreamSynchronize(void *stream) {
  SIM_CALL(cuStreamSynchronize, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    return code != kSuccess ? code : synchronize_stream(driver, lock, found);
  }
  SIM_END;
}

SIM_EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  SIM_CALL(cuStreamWaitEvent, 0) {
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

SIM_EXPORT int cuStreamGetCtx(void *stream, void **context) {
  SIM_CALL(cuStreamGetCtx, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    if (context == nullptr) return sim::kInvalidValue;
    *context = found->context->handle;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuStreamIsCapturing(void *stream, int *status) {
  SIM_CALL(cuStreamIsCapturing, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    if (status == nullptr) return sim::kInvalidValue;
    *status = found->capture == nullptr ? 0 : found->capture->invalid ? 2 : 1;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
  SIM_CALL(cuStreamBeginCapture_v2, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    return code != kSuccess ? code : begin_capture(driver, found, mode);
  }
  SIM_END;
}

SIM_EXPORT int cuStreamEndCapture(void *stream, void **graph) {
  SIM_CALL(cuStreamEndCapture, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    return graph == nullptr ? static_cast<int>(sim::kInvalidValue)
                            : end_capture(driver, found, graph);
  }
  SIM_END;
}

SIM_EXPORT int cuThreadExchangeStreamCaptureMode(int *mode) {
  SIM_CALL(cuThreadExchangeStreamCaptureMode, 0) {
    return mode == nullptr ? static_cast<int>(sim::kInvalidValue) : sim::exchange_mode(mode);
  }
  SIM_END;
}

SIM_EXPORT int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
  SIM_CALL(cuLaunchHostFunc, 0) {
    StreamRef found;
    const int code = use_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    if (function == nullptr) return sim::kInvalidValue;
    return call_async(driver, found, [function, data] { function(data); });
  }
  SIM_END;
}

SIM_EXPORT int cuEventCreate(void **event, unsigned flags) {
  SIM_CALL(cuEventCreate, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    constexpr unsigned kAll = sim::cuda::kEventBlockingSync | sim::cuda::kEventDisableTiming;
    if (event == nullptr || (flags & ~kAll) != 0) return sim::kInvalidValue;
    *event = create_event(driver, *current, (flags & sim::cuda::kEventDisableTiming) == 0);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuEventDestroy_v2(void *event) {
  SIM_CALL(cuEventDestroy_v2, sim::kReleases) {
    return destroy_event(driver, event);
  }
  SIM_END;
}

SIM_EXPORT int cuEventRecord(void *event, void *stream) {
  SIM_CALL(cuEventRecord, 0) {
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

SIM_EXPORT int cuEventQuery(void *event) {
  SIM_CALL(cuEventQuery, 0) {
    std::shared_ptr<sim::Event> one;
    const int code = use_event(driver, event, &one);
    if (code != kSuccess) return code;
    return query_event(driver, lock, one);
  }
  SIM_END;
}

SIM_EXPORT int cuEventSynchronize(void *event) {
  SIM_CALL(cuEventSynchronize, 0) {
    std::shared_ptr<sim::Event> one;
    const int code = use_event(driver, event, &one);
    if (code != kSuccess) return code;
    return synchronize_event(driver, lock, one);
  }
  SIM_END;
}

SIM_EXPORT int cuEventElapsedTime(float *milliseconds, void *start, void *stop) {
  SIM_CALL(cuEventElapsedTime, 0) {
    std::shared_ptr<sim::Event> first, last;
    int code = use_event(driver, start, &first);
    if (code == kSuccess) code = use_event(driver, stop, &last);
    if (code != kSuccess) return code;
    return milliseconds == nullptr ? static_cast<int>(sim::kInvalidValue)
                                   : elapsed_time(driver, *first, *last, milliseconds);
  }
  SIM_END;
}

SIM_EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  SIM_CALL(cuMemcpyHtoDAsync_v2, 0) {
    return copy(driver, lock, stream, pointer(to), Side::kDevice, from, Side::kHost, bytes);
  }
  SIM_END;
}

SIM_EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  SIM_CALL(cuMemcpyDtoHAsync_v2, 0) {
    return copy(driver, lock, stream, to, Side::kHost, pointer(from), Side::kDevice, bytes);
  }
  SIM_END;
}

SIM_EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  SIM_CALL(cuMemcpyDtoDAsync_v2, 0) {
    return copy(driver, lock, stream, pointer(to), Side::kDevice, pointer(from), Side::kDevice,
                bytes);
  }
  SIM_END;
}

SIM_EXPORT int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
                                 size_t bytes, void *stream) {
  SIM_CALL(cuMemcpyPeerAsync, 0) {
    const auto owner = [&](void *context, uint64_t address) {
      const std::shared_ptr<Context> found = driver.contexts.find(context);
      const sim::Allocation *memory = driver.memory.find(address);
      if (found == nullptr) return static_cast<int>(sim::kInvalidContext);
      return memory != nullptr && memory->device == found->device
                 ? static_cast<int>(kSuccess)
                 : static_cast<int>(sim::kInvalidValue);
    };
    const int target = owner(to_context, to);
    if (target != kSuccess) return target;
    const int source = owner(from_context, from);
    if (source != kSuccess) return source;
    return copy(driver, lock, stream, pointer(to), Side::kDevice, pointer(from), Side::kDevice,
                bytes);
  }
  SIM_END;
}

SIM_EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, void *stream) {
  SIM_CALL(cuMemsetD8Async, 0) {
    return fill(driver, stream, to, value, 1, count);
  }
  SIM_END;
}

SIM_EXPORT int cuMemsetD16Async(uint64_t to, unsigned short value, size_t count, void *stream) {
  SIM_CALL(cuMemsetD16Async, 0) {
    return fill(driver, stream, to, value, 2, count);
  }
  SIM_END;
}

SIM_EXPORT int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream) {
  SIM_CALL(cuMemsetD32Async, 0) {
    return fill(driver, stream, to, value, 4, count);
  }
  SIM_END;
}

SIM_EXPORT int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  SIM_CALL(cuGraphInstantiateWithFlags, 0) {
    const std::shared_ptr<sim::Graph> found = driver.graphs.find(graph);
    if (exec == nullptr || flags > 15) return sim::kInvalidValue;
    return found == nullptr ? static_cast<int>(sim::kInvalidValue)
                            : instantiate(driver, *found, exec);
  }
  SIM_END;
}

SIM_EXPORT int cuGraphExecUpdate_v2(void *exec, void *graph,
                                    sim::cuda::GraphExecUpdateResultInfo *info) {
  SIM_CALL(cuGraphExecUpdate_v2, 0) {
    const std::shared_ptr<sim::GraphExec> target = driver.graph_execs.find(exec);
    const std::shared_ptr<sim::Graph> source = driver.graphs.find(graph);
    if (target == nullptr || source == nullptr || info == nullptr) return sim::kInvalidValue;
    *info = {update_exec(*target, *source), nullptr, nullptr};
    return info->result == 0 ? kSuccess : sim::kGraphUpdateFailure;
  }
  SIM_END;
}

SIM_EXPORT int cuGraphExecDestroy(void *exec) {
  SIM_CALL(cuGraphExecDestroy, sim::kReleases) {
    return driver.graph_execs.remove(exec) ? kSuccess : sim::kInvalidValue;
  }
  SIM_END;
}

SIM_EXPORT int cuGraphDestroy(void *graph) {
  SIM_CALL(cuGraphDestroy, sim::kReleases) {
    return driver.graphs.remove(graph) ? kSuccess : sim::kInvalidValue;
  }
  SIM_END;
}

SIM_EXPORT int cuGraphLaunch(void *exec, void *stream) {
  SIM_CALL(cuGraphLaunch, 0) {
    sim::Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    std::shared_ptr<sim::Stream> found;
    const int failed = find_stream(driver, *current, stream, &found);
    if (failed != kSuccess) return failed;
    const std::shared_ptr<sim::GraphExec> target = driver.graph_execs.find(exec);
    if (target == nullptr) return sim::kInvalidValue;
    return launch_graph(driver, target, found);
  }
  SIM_END;
}
