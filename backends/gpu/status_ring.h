// SPDX-License-Identifier: Apache-2.0
// Words in device memory that kernels or what they found into, and what becomes of them: copied
// back behind the work, looked at by a thread of the driver, told to the caller's word and to the
// stream.
#ifndef GUFUNC_BACKENDS_GPU_STATUS_RING_H
#define GUFUNC_BACKENDS_GPU_STATUS_RING_H

#include <atomic>
#include <mutex>

#include "backends/gpu/driver.h"
#include "backends/gpu/gpu_host.h"

namespace gufunc::gpu {

class Device;
class Stream;
class StatusRing;

// The bit of a loop that failed; the others are guf_fp_event.
inline constexpr uint32_t kStatusFailed = 0x80000000u;

// What a request's caller wants to know of its status word.
struct StatusWish {
  const guf_launch_watch *watch;  // NULL: nothing of events
  const char *failure;            // immortal, or NULL
  uint64_t launch;                // number among the stream's; 0: tell nobody
};

struct StatusChunk;

// One word. `host` is page-locked.
struct StatusSlot {
  StatusChunk *chunk;
  uint64_t device_address;
  uint32_t *host;
  StatusSlot *next;
  std::atomic<Stream *> stream;  // not NULL: somebody will look
  guf_launch_watch watch;
  char name[64];
  const char *failure;
  uint64_t launch;
};

class StatusRing {
 public:
  explicit StatusRing(Device &device) : device_(device) {}

  // A word that reads zero when the stream gets here.
  guf_status take(Stream &stream, StatusSlot **out, guf_error *error);
  // Queues the look at it, after which the word is free again.
  guf_status look_later(StatusSlot *slot, Stream &stream, const StatusWish &wish, guf_error *error);

  // Frees everything, also what nobody looked at: when the device is idle or lost. Words that the
  // driver's thread may still come for are its own then.
  void close();

 private:
  guf_status grow(guf_error *error);
  StatusSlot *take_free();
  static void look(void *slot);
  static void tell(const StatusSlot &slot, uint32_t found, Stream &stream);

  Device &device_;
  std::mutex mutex_;
  StatusSlot *free_ = nullptr;
  StatusChunk *chunks_ = nullptr;
  std::atomic<StatusSlot *> returned_{nullptr};  // pushed by the driver's threads, taken as a whole
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_STATUS_RING_H
