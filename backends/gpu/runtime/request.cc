// SPDX-License-Identifier: Apache-2.0
// Runs commands as launches on the stream. Scratch memory is allocated from the device's pool.
#include "backends/gpu/runtime/request.h"

#include <cstring>

#include "backends/gpu/runtime/gpu_device.h"

namespace gufunc::gpu {
namespace {

bool is_copy(Entry entry) {
  return entry >= Entry::kLoopEntries;
}

}  // namespace

Request::Request(Stream &stream, const Kernel *kernel, const StatusRequest &status_request)
    : stream_(stream), device_(stream.device()), kernel_(kernel), status_request_(status_request) {}

Request::~Request() {
  // Kernels of a failed request may still be running and may write to the status word.
  // The word is released when the kernels are complete, and their status is not reported.
  if (status_ != nullptr) device_.status_ring().queue_check(status_, stream_, {}, nullptr);
  while (scratch_ != nullptr) {
    Block *const block = scratch_;
    scratch_ = block->next;
    device_.pool(Backing::kDevice).release_block(block, stream_);
  }
}

guf_status Request::finish(guf_error *error) {
  if (status_ == nullptr) return GUF_OK;
  StatusSlot *const slot = status_;
  status_ = nullptr;
  return device_.status_ring().queue_check(slot, stream_, status_request_, error);
}

const DeviceTraits &Request::traits() const {
  return device_.traits();
}

bool Request::has(Entry entry) const {
  return is_copy(entry) || (kernel_ != nullptr && kernel_->function(entry) != nullptr);
}

uint32_t Request::local_bytes(Entry entry) const {
  return is_copy(entry) || kernel_ == nullptr ? 0 : kernel_->memory(entry);
}

guf_status Request::run(const Command &command, guf_error *error) {
  Native function = nullptr;
  if (is_copy(command.entry)) {
    GUF_BACKEND_TRY(device_.copy_kernels().function(command.entry, &function, error));
  } else {
    function = kernel_ == nullptr ? nullptr : kernel_->function(command.entry);
    if (function == nullptr) {
      return fail(error, GUF_E_NO_IMAGE, "the image has no entry '%s' of the kernel '%.80s'",
                  entry_name(command.entry), kernel_ == nullptr ? "" : kernel_->name);
    }
  }
  const LaunchGrid shape{command.blocks, command.threads, command.shared_bytes};
  TraceSpan span(stream_, GUF_TRACE_LAUNCH);
  span.set_launch(function, shape, is_copy(command.entry) ? nullptr : kernel_->name,
                  entry_name(command.entry));
  const Code code = device_.driver().launch(function, shape, command.block, command.block_bytes,
                                            stream_.native());
  return device_.check(code, "launching a kernel", error);
}

guf_status Request::scratch(uint64_t bytes, uint64_t *out_address, guf_error *error) {
  Block *block = nullptr;
  GUF_BACKEND_TRY(device_.pool(Backing::kDevice).acquire_block(bytes, stream_, &block, error));
  block->next = scratch_;
  scratch_ = block;
  *out_address = block->address;
  return GUF_OK;
}

guf_status Request::upload(const void *source, uint64_t bytes, uint64_t *out_address,
                           guf_error *error) {
  MemoryPool &pinned = device_.pool(Backing::kPinned);
  Block *staging = nullptr;
  GUF_BACKEND_TRY(scratch(bytes, out_address, error));
  GUF_BACKEND_TRY(pinned.acquire_block(bytes, stream_, &staging, error));
  std::memcpy(reinterpret_cast<void *>(staging->address), source, bytes);
  TraceSpan span(stream_, GUF_TRACE_COPY);
  span.set_copy(bytes, GUF_COPY_HOST_TO_DEVICE);
  const guf_status status =
      device_.check(device_.driver().copy(*out_address, staging->address, bytes,
                                          Direction::kToDevice, stream_.native()),
                    "copying to the device", error);
  pinned.release_block(staging, stream_);
  return status;
}

guf_status Request::status_word(uint64_t *out_address, guf_error *error) {
  if (status_ == nullptr) {
    GUF_BACKEND_TRY(device_.status_ring().acquire(stream_, status_request_, &status_, error));
  }
  *out_address = status_->device_address;
  return GUF_OK;
}

}  // namespace gufunc::gpu
