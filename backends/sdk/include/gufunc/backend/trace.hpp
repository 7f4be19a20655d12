// SPDX-License-Identifier: Apache-2.0
// For plugins: the host's trace, to which a plugin reports its work (the extension gufunc.trace).
#ifndef GUFUNC_BACKEND_TRACE_HPP
#define GUFUNC_BACKEND_TRACE_HPP

#include <gufunc/backend_trace.h>

#include <atomic>
#include <ctime>

namespace gufunc::sdk {

// The functions of the host that receive the plugin's work; nullptr if no trace is being written.
[[gnu::visibility("hidden")]] inline std::atomic<const guf_trace_sink *> trace_sink{nullptr};

// Returns the time of the host's clock for traces, in nanoseconds.
inline uint64_t monotonic_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Reports that work of a device is missing from the trace. Does nothing for an older host, whose
// struct lacks the function.
inline void count_unreported(const guf_trace_sink &sink, int32_t device) {
  if (sink.struct_size >= sizeof(guf_trace_sink)) sink.unreported(sink.context, device);
}

// Returns the table of the extension. Its function `start` sets trace_sink.
constexpr guf_trace_api make_trace_api(void (*collect)(void)) {
  const auto start = [](const guf_trace_sink *sink) {
    trace_sink.store(sink, std::memory_order_release);
  };
  return {sizeof(guf_trace_api), GUF_TRACE_EXTENSION_VERSION, start, collect};
}

}  // namespace gufunc::sdk

#endif  // GUFUNC_BACKEND_TRACE_HPP
