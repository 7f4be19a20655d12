// SPDX-License-Identifier: Apache-2.0
// The interface between geometry and drivers. A command is one kernel launch; each request of the
// host (launch, convert, fill, method) is translated to commands on one stream. Geometry (launch_*,
// copy_*, method_*) translates requests to commands and does not depend on a driver. A CommandSink
// runs commands and does not depend on geometry. Tests run the same commands on the host.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_COMMAND_SINK_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_COMMAND_SINK_H

#include <gufunc/backend.h>

#include "backends/gpu/geometry/entry.h"

namespace gufunc::gpu {

// One kernel launch, whose blocks are numbered along x.
// The entry receives `block` by value; run() copies the bytes before it returns.
struct Command {
  Entry entry;
  uint32_t blocks;
  uint32_t threads;       // number of threads of a block
  uint32_t shared_bytes;  // dynamic shared memory of a block
  const void *block;
  uint32_t block_bytes;
};

// The properties of a device that geometry needs.
struct DeviceTraits {
  uint32_t multiprocessors;   // number of multiprocessors or compute units
  uint32_t vectors;           // number of 16-byte words per operand and thread of `row`
  uint32_t max_shared_bytes;  // maximum dynamic shared memory of a block
  // The limit of a launch's local memory on each multiprocessor, or 0 if there is none.
  uint64_t multiprocessor_local_bytes;
};

// Receives the commands of one request. A function that fails returns a status,
// writes the details to `error` and queues nothing.
class CommandSink {
 public:
  virtual const DeviceTraits &traits() const = 0;

  // Returns whether the request's kernel has the entry.
  // The backend's own copy and cast entries always exist.
  virtual bool has(Entry entry) const = 0;

  // Returns the local memory of a work-item in an entry of a generalized loop: its stack and its
  // spilled registers. Returns 0 for other entries, and if multiprocessor_local_bytes is 0.
  virtual uint32_t local_bytes(Entry entry) const = 0;

  // Queues a kernel launch. Copy and cast entries are functions of the backend's own kernels. All
  // other entries are functions of the request's kernel.
  virtual guf_status run(const Command &command, guf_error *error) = 0;

  // Allocates device memory for this request, aligned to 256 bytes.
  // The memory is released in stream order.
  // Errors  GUF_E_DEVICE_MEMORY
  virtual guf_status scratch(uint64_t bytes, uint64_t *out_address, guf_error *error) = 0;

  // Allocates scratch memory that contains a copy of host memory.
  // The source may change after the call returns.
  virtual guf_status upload(const void *source, uint64_t bytes, uint64_t *out_address,
                            guf_error *error) = 0;

  // Returns the address of the request's status word in device memory. Entries OR status bits
  // (kStatusFailed and floating-point flags) into the word, which is zero when the request starts.
  // If a request calls this function, the word is examined when the request's work is complete.
  virtual guf_status status_word(uint64_t *out_address, guf_error *error) = 0;

 protected:
  ~CommandSink() = default;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_COMMAND_SINK_H
