// SPDX-License-Identifier: Apache-2.0
// Ring of device status words. Kernels OR error bits into a word, which is copied back after
// the launch, examined on a thread of the driver, and reported to the caller and the stream.
// A word that is used in a capture belongs to the graph. Every run of the graph clears the word
// first and examines it afterwards.
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

// The bit of a failed loop. The other bits are floating-point flags (guf_fp_flag).
inline constexpr uint32_t kStatusFailed = 0x80000000u;

// The part of a request that is needed to check its status word.
struct StatusRequest {
  const guf_fp_status *fp_status;  // NULL: floating-point flags are not requested
  const char *failure;             // message for a failed loop, never freed; or NULL
  uint64_t launch;  // number of the launch in its stream; 0: failures are not reported
};

struct StatusChunk;

// One status word. `host` points to page-locked memory.
struct StatusSlot {
  StatusChunk *chunk;
  uint64_t device_address;
  uint32_t *host;
  StatusSlot *next;
  std::atomic<Stream *> stream;  // NULL: no check of the word is queued
  guf_fp_status fp_status;
  char name[64];
  const char *failure;
  uint64_t launch;
  uint64_t capture;  // number of the word's capture; 0: not part of a graph
};

class StatusRing {
 public:
  explicit StatusRing(Device &device) : device_(device) {}

  // Allocates words for concurrent launches. Usually no other allocation is needed later.
  guf_status reserve(guf_error *error);
  // Returns a word that is zero when the stream reaches this point.
  // Errors  GUF_E_CAPTURE <= the stream is captured, and either the host did not start the
  //         capture, or floating-point flags are requested, which cannot be reported when the
  //         graph runs later
  guf_status acquire(Stream &stream, const StatusRequest &request, StatusSlot **out,
                     guf_error *error);
  // Queues the check of a word. The word is free after the check. During a capture, adds the word
  // to the capture instead.
  guf_status queue_check(StatusSlot *slot, Stream &stream, const StatusRequest &request,
                         guf_error *error);
  // Queues the checks of a graph's words. The stream has run the graph as launch number `launch`.
  // The graph must not run again before the checks are complete.
  guf_status queue_graph_checks(const StatusSlot *words, Stream &stream, uint64_t launch,
                                guf_error *error);
  // Releases the words of a graph when `stream` reaches this point, or immediately if `stream` is
  // NULL.
  void recycle(StatusSlot *words, Stream *stream);

  // Frees all words, including words that were never examined. The device must be idle or lost.
  // Words that a thread of the driver may still access are freed by that thread.
  void close();

 private:
  guf_status grow(guf_error *error);
  StatusSlot *pop_free();
  guf_status acquire_any(StatusSlot **out, guf_error *error);
  void release(StatusSlot *slot);
  guf_status queue_slot_check(StatusSlot *slot, uint64_t word, Stream &stream,
                              const StatusRequest &request, guf_error *error);
  guf_status queue_copy(StatusSlot *slot, uint64_t word, Stream &stream, guf_error *error);
  guf_status queue_host_check(StatusSlot *slot, Stream &stream, const StatusRequest &request,
                              guf_error *error);
  static void check_slot(void *slot);
  static void report(const StatusSlot &slot, uint32_t found, Stream &stream);

  Device &device_;
  std::mutex mutex_;
  StatusSlot *free_ = nullptr;
  StatusChunk *chunks_ = nullptr;
  std::atomic<StatusSlot *> returned_{nullptr};  // checked words, pushed by threads of the driver
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_STATUS_RING_H
