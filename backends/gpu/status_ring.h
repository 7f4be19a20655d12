// SPDX-License-Identifier: Apache-2.0
// Words in device memory that kernels or what they found into, and what becomes of them: copied
// back behind the work, looked at by a thread of the driver, told to the caller's word and to the
// stream. A captured word stays its graph's: every run clears it and is looked at behind.
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
  uint64_t capture;  // its number, where it is a graph's or becomes one
};

class StatusRing {
 public:
  explicit StatusRing(Device &device) : device_(device) {}

  // Makes room for the words of launches that are under way at once, most often all there will be.
  guf_status reserve(guf_error *error);
  // A word that reads zero when the stream gets here.
  // Errors  GUF_E_CAPTURE <= the stream is captured, and the capture is none of ours or the wish
  //         looks for events, which nobody can be told of any more when the graph runs
  guf_status take(Stream &stream, const StatusWish &wish, StatusSlot **out, guf_error *error);
  // Queues the look at it, after which the word is free again. Under capture: leaves it to the
  // graph.
  guf_status look_later(StatusSlot *slot, Stream &stream, const StatusWish &wish, guf_error *error);
  // Queues the look at the words of a graph that the stream has run as its launch number `launch`.
  // Before they are run again, what is queued now has to be done.
  guf_status look_at(const StatusSlot *words, Stream &stream, uint64_t launch, guf_error *error);
  // A graph's words, which it needs no longer when `stream` gets here; NULL: now.
  void give_back(StatusSlot *words, Stream *stream);

  // Frees everything, also what nobody looked at: when the device is idle or lost. Words that the
  // driver's thread may still come for are its own then.
  void close();

 private:
  guf_status grow(guf_error *error);
  StatusSlot *take_free();
  guf_status take_any(StatusSlot **out, guf_error *error);
  void put(StatusSlot *slot);
  guf_status queue_look(StatusSlot *slot, uint64_t word, Stream &stream, const StatusWish &wish,
                        guf_error *error);
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
