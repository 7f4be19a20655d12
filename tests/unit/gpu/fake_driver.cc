// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/gpu/fake_driver.h"

#include <cstdio>

namespace gufunc::gpu {

const ErrorInfo &FakeDriver::error_info(Code code) const {
  static constexpr ErrorInfo kErrorInfos[] = {
      {0, GUF_OK, ErrorKind::kPlain, "done"},
      {2, GUF_E_DEVICE_MEMORY, ErrorKind::kNoMemory, "no memory"},
      {600, GUF_NOT_READY, ErrorKind::kNotReady, "not ready"},
      {700, GUF_E_DEVICE_LOST, ErrorKind::kLost, "lost"},
      {-1, GUF_E_LAUNCH, ErrorKind::kPlain, "other"}};
  for (const ErrorInfo &row : kErrorInfos) {
    if (row.code == code) return row;
  }
  return kErrorInfos[4];
}

void FakeDriver::write_version(char *out_text, size_t size) const {
  std::snprintf(out_text, size, "fake");
}

Code FakeDriver::device_properties(int32_t, DeviceProperties *out) {
  *out = {};
  return kDone;
}

Code FakeDriver::context_open(int32_t index, uint64_t, Context *out) {
  *out = {nullptr, index, false};
  return kDone;
}

Code FakeDriver::enter(const Context &, uint64_t *out_before) {
  *out_before = 0;
  return kDone;
}

Code FakeDriver::context_synchronize() {
  for (const auto &stream : streams_) stream->done = stream->queued;
  return kDone;
}

Code FakeDriver::allocate(uint64_t bytes, uint64_t *out_address) {
  ++requested;
  if (const Code code = fail_next; code != 0) {
    fail_next = 0;
    return code;
  }
  if (bytes > capacity || used > capacity - bytes) return kFakeNoMemory;
  *out_address = next_address_;
  next_address_ += (bytes + 4095) / 4096 * 4096;
  live.insert(*out_address);
  sizes[*out_address] = bytes;
  used += bytes;
  return kDone;
}

Code FakeDriver::release(uint64_t address) {
  if (live.erase(address) == 0) return -1;
  used -= sizes[address];
  sizes.erase(address);
  return kDone;
}

Code FakeDriver::pool_open(const Context &, Native *out_pool) {
  *out_pool = this;
  return with_pools ? kDone : -1;
}

Code FakeDriver::pool_allocate(Native, uint64_t bytes, Native, uint64_t *out_address) {
  return allocate(bytes, out_address);
}

Code FakeDriver::memory_info(uint64_t *out_free, uint64_t *out_total) {
  *out_free = *out_total = 0;
  return kDone;
}

Code FakeDriver::peer_access(const Context &, const Context &, int32_t *out_can) {
  *out_can = 0;
  return kDone;
}

Code FakeDriver::stream_open(Native *out_stream) {
  streams_.push_back(std::make_unique<FakeStream>());
  *out_stream = streams_.back().get();
  return kDone;
}

Code FakeDriver::stream_query(Native stream) {
  const auto &queried = *static_cast<const FakeStream *>(stream);
  return queried.done == queried.queued ? kDone : kFakeNotReady;
}

Code FakeDriver::stream_synchronize(Native stream) {
  auto &waited = *static_cast<FakeStream *>(stream);
  if (waited.done != waited.queued) {
    ++syncs;
    if (while_waiting) while_waiting();
  }
  waited.done = waited.queued;
  return kDone;
}

Code FakeDriver::stream_belongs(Native, const Context &, bool *out_belongs) {
  *out_belongs = true;
  return kDone;
}

Code FakeDriver::stream_capturing(Native stream, bool *out_capturing) {
  *out_capturing = static_cast<const FakeStream *>(stream)->capturing;
  return kDone;
}

Code FakeDriver::event_open(EventKind, Native *out_event) {
  events_.push_back(std::make_unique<FakeEvent>());
  *out_event = events_.back().get();
  return kDone;
}

Code FakeDriver::event_record(Native event, Native stream) {
  const auto *recorded = static_cast<const FakeStream *>(stream);
  *static_cast<FakeEvent *>(event) = {recorded, recorded->queued};
  return kDone;
}

Code FakeDriver::event_query(Native event) {
  const auto &queried = *static_cast<const FakeEvent *>(event);
  return queried.stream == nullptr || queried.stream->done >= queried.at ? kDone : kFakeNotReady;
}

}  // namespace gufunc::gpu
