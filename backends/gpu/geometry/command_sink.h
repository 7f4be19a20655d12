// SPDX-License-Identifier: Apache-2.0
// Commands are the kernel launches, on one stream, that a request of the host (launch, convert,
// fill, method) is translated to. Geometry (launch_*, move_*, method_*) translates launch blocks to
// commands and does not depend on a driver. A CommandSink runs commands and does not depend on
// geometry. Tests run the same commands on the host.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_COMMAND_SINK_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_COMMAND_SINK_H

#include <gufunc/backend.h>

#include "backends/gpu/geometry/entry.h"

namespace gufunc::gpu {

// One kernel launch with blocks along x. `block` is passed to the entry by value; run() copies it
// before it returns.
struct Command {
  Entry entry;
  uint32_t blocks;
  uint32_t threads;       // per block
  uint32_t shared_bytes;  // dynamic shared memory per block
  const void *block;
  uint32_t block_bytes;
};

// The properties of a device that geometry needs.
struct DeviceTraits {
  uint32_t units;             // multiprocessors or compute units
  uint32_t vectors;           // 16-byte words per operand that one thread of `row` processes
  uint32_t max_shared_bytes;  // maximum dynamic shared memory of a block
  uint64_t unit_local_bytes;  // limit of a launch's local memory on each unit; 0: no limit
};

// Receives the commands of one request. Functions that can fail return a guf_status and write
// details into `error`; if they fail, they queue nothing.
class CommandSink {
 public:
  virtual const DeviceTraits &traits() const = 0;

  // Whether the request's kernel has the entry. The backend's own copy and cast entries always
  // exist.
  virtual bool has(Entry entry) const = 0;

  // Local memory of a work-item in an entry of a generalized loop: its stack and the registers that
  // the compiler spilled. 0 for other entries, and if unit_local_bytes is 0.
  virtual uint32_t local_bytes(Entry entry) const = 0;

  // Queues a launch: copy and cast entries from the backend's own kernels, others from the
  // request's kernel.
  virtual guf_status run(const Command &step, guf_error *error) = 0;

  // Allocates device memory for this request, aligned to 256 bytes. It is released in stream order.
  // Errors  GUF_E_DEVICE_MEMORY
  virtual guf_status scratch(uint64_t bytes, uint64_t *out_address, guf_error *error) = 0;

  // Allocates scratch that contains a copy of host memory; the source may change after the return.
  virtual guf_status upload(const void *source, uint64_t bytes, uint64_t *out_address,
                            guf_error *error) = 0;

  // Returns the address of the device word that entries OR their status bits into (kStatusFailed
  // and floating-point flags). The word is zero when the request starts. After the first call in a
  // request, the word is examined when the request's work is complete.
  virtual guf_status status_word(uint64_t *out_address, guf_error *error) = 0;

 protected:
  ~CommandSink() = default;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_COMMAND_SINK_H
