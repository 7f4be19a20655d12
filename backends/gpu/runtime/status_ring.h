// SPDX-License-Identifier: Apache-2.0
// Ring of device status words. Kernels OR error bits into a word, which is copied back after the
// launch, examined on a thread of the driver, and reported to the caller and the stream. A word
// that is captured belongs to its graph: every run clears it first and examines it afterwards.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_STATUS_RING_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_STATUS_RING_H

#include <atomic>
#include <mutex>

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/driver.h"

namespace gufunc::gpu {

class Device;
class Stream;
class StatusRing;

// The bit of a loop that failed; the other bits are floating-point flags (guf_fp_flag).
inline constexpr uint32_t kStatusFailed = 0x80000000u;

// What the caller of a request needs from its status word.
struct StatusWish {
  const guf_fp_status *fp_status;  // NULL: no floating-point flags
  const char *failure;             // message for a failed loop; immortal, or NULL
  uint64_t launch;                 // number among the stream's launches; 0: do not report
};

struct StatusChunk;

// One word. `host` is page-locked.
struct StatusSlot {
  StatusChunk *chunk;
  uint64_t device_address;
  uint32_t *host;
  StatusSlot *next;
  std::atomic<Stream *> stream;  // not NULL: the word will be examined
  guf_fp_status fp_status;
  char name[64];
  const char *failure;
  uint64_t launch;
  uint64_t capture;  // number of the capture if the word belongs to a graph, or will
};

class StatusRing {
 public:
  explicit StatusRing(Device &device) : device_(device) {}

  // Allocates words for concurrent launches, usually all that will ever be needed.
  guf_status reserve(guf_error *error);
  // Returns a word that is zero when the stream reaches this point.
  // Errors  GUF_E_CAPTURE <= the stream is captured, and the host did not start the capture or
  //         `wish` contains floating-point flags, which cannot be reported when the graph runs
  //         later
  guf_status take(Stream &stream, const StatusWish &wish, StatusSlot **out, guf_error *error);
  // Queues the check of the word; the word is free afterwards. During a capture, leaves the word to
  // the graph.
  guf_status look_later(StatusSlot *slot, Stream &stream, const StatusWish &wish, guf_error *error);
  // Queues the checks of the words of a graph that the stream has run as launch number `launch`.
  // The graph must not run again before they are complete.
  guf_status look_at(const StatusSlot *words, Stream &stream, uint64_t launch, guf_error *error);
  // Releases the words of a graph when `stream` reaches this point; NULL: immediately.
  void give_back(StatusSlot *words, Stream *stream);

  // Frees everything, including words that were never examined. Requires that the device is idle or
  // lost. Words that the driver's thread may still access then belong to that thread.
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
  std::atomic<StatusSlot *> returned_{nullptr};  // pushed by the driver's threads
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_STATUS_RING_H
