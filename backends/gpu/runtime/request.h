// SPDX-License-Identifier: Apache-2.0
// One request of the host on a stream. It runs the commands that geometry creates for the request.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_REQUEST_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_REQUEST_H

#include "backends/gpu/geometry/command_sink.h"
#include "backends/gpu/runtime/gpu_kernel.h"
#include "backends/gpu/runtime/status_ring.h"

namespace gufunc::gpu {

class Stream;
struct Block;

// The object is on the stack of a slot's function, with the device's context current. The
// destructor releases the request's memory in stream order, after the request's work, even if the
// request has failed.
class Request final : public CommandSink {
 public:
  Request(Stream &stream, const Kernel *kernel, const StatusRequest &status_request);
  Request(const Request &) = delete;
  Request &operator=(const Request &) = delete;
  ~Request();

  // Queues the check of the status word, if the request uses one.
  guf_status finish(guf_error *error);

  const DeviceTraits &traits() const override;
  bool has(Entry entry) const override;
  uint32_t local_bytes(Entry entry) const override;
  guf_status run(const Command &command, guf_error *error) override;
  guf_status scratch(uint64_t bytes, uint64_t *out_address, guf_error *error) override;
  guf_status upload(const void *source, uint64_t bytes, uint64_t *out_address,
                    guf_error *error) override;
  guf_status status_word(uint64_t *out_address, guf_error *error) override;

 private:
  Stream &stream_;
  Device &device_;
  const Kernel *kernel_;
  const StatusRequest status_request_;
  Block *scratch_ = nullptr;
  StatusSlot *status_ = nullptr;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_REQUEST_H
