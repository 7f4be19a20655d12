// SPDX-License-Identifier: Apache-2.0
// Each stream stores the number of its last capture. The list of open captures shows whether that
// capture is still active.
#include "backends/gpu/runtime/captures.h"

#include "backends/gpu/runtime/gpu_stream.h"
#include "backends/gpu/runtime/status_ring.h"

namespace gufunc::gpu {

Captures::Capture *Captures::find(uint64_t number) const {
  Capture *capture = open_;
  while (capture != nullptr && capture->number != number) capture = capture->next;
  return capture;
}

guf_status Captures::open(Stream &origin, guf_error *error) {
  auto *const capture = create<Capture>(Capture{&origin, 0});
  if (capture == nullptr) return fail_memory(error, "a capture");
  capture->end = &capture->first;
  const std::lock_guard lock(mutex_);
  capture->number = ++last_number_;
  capture->next = open_;
  open_ = capture;
  origin.set_capture(capture->number);
  return GUF_OK;
}

uint64_t Captures::of(Stream &stream) {
  const uint64_t number = stream.capture();
  if (__builtin_expect(number == 0, 1)) return 0;
  const std::lock_guard lock(mutex_);
  if (find(number) != nullptr) return number;
  stream.set_capture(0);
  return 0;
}

void Captures::join(Stream &stream, uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (find(number) != nullptr) stream.set_capture(number);
}

bool Captures::add(uint64_t number, StatusSlot *word) {
  const std::lock_guard lock(mutex_);
  Capture *const capture = find(number);
  if (capture == nullptr) return false;
  word->next = nullptr;
  *capture->end = word;
  capture->end = &word->next;
  return true;
}

StatusSlot *Captures::close(const Stream &origin) {
  const std::lock_guard lock(mutex_);
  for (Capture **link = &open_; *link != nullptr; link = &(*link)->next) {
    Capture *const capture = *link;
    if (capture->origin != &origin) continue;
    *link = capture->next;
    StatusSlot *const words = capture->first;
    destroy(capture);
    return words;
  }
  return nullptr;
}

}  // namespace gufunc::gpu
