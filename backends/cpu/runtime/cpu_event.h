// SPDX-License-Identifier: Apache-2.0
// An event: a point in a stream that can be queried and waited for.
#ifndef GUFUNC_BACKENDS_CPU_RUNTIME_CPU_EVENT_H
#define GUFUNC_BACKENDS_CPU_RUNTIME_CPU_EVENT_H

#include <gufunc/backend/failure.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "backends/cpu/base/cpu_host.h"

namespace gufunc::cpu {

// An event that was never recorded is complete. After a second recording, query and synchronize
// refer to the new recording. A stream that already waits continues to wait for the earlier
// recording.
class Event {
 public:
  Event();

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  // Starts a new recording and returns its number. The stream passes the number to `complete` when
  // the stream reaches the recording.
  uint64_t begin_record();
  void complete(uint64_t record, const Failure &failure);

  uint64_t last_record();
  void wait_for(uint64_t record);  // used by streams; has no timeout and reports no failure

  // Errors  GUF_NOT_READY <= the last recording is not complete (query only);
  //         GUF_TIMEOUT <= the last recording is not complete after the timeout (synchronize only);
  //         the failure of the stream when it completed the recording;
  //         GUF_E_FORKED <= the event was created before this process was forked
  guf_status query(guf_error *error);
  guf_status synchronize(uint64_t timeout_ns, guf_error *error);

 private:
  guf_status forked(guf_error *error) const;

  std::atomic<uint32_t> references_{1};
  const uint32_t fork_epoch_;
  std::mutex mutex_;
  std::condition_variable completed_changed_;
  uint64_t recorded_ = 0, completed_ = 0;
  Failure failure_;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_RUNTIME_CPU_EVENT_H
