// SPDX-License-Identifier: Apache-2.0
// Commands: the kernel launches, on one stream, that a request of the host (launch, convert, fill,
// method) is translated to. Geometry (launch_*, move_*, method_*) translates launch blocks to
// commands and knows no driver; a CommandSink runs commands and knows no geometry. Tests run the
// same commands on the host.
#ifndef GUFUNC_BACKENDS_GPU_COMMAND_SINK_H
#define GUFUNC_BACKENDS_GPU_COMMAND_SINK_H

#include <gufunc/backend.h>

#include "backends/gpu/entry.h"

namespace gufunc::gpu {

// One kernel launch, over blocks along x. `block` is what the entry takes by value; it is copied
// before run() returns.
struct Command {
  Entry entry;
  uint32_t blocks;
  uint32_t threads;       // of a block
  uint32_t shared_bytes;  // that the launch gives each block
  const void *block;
  uint32_t block_bytes;
};

// What geometry has to know of a device.
struct DeviceTraits {
  uint32_t units;             // multiprocessors, compute units
  uint32_t vectors;           // 16-byte words per operand that a thread of `row` moves
  uint32_t max_shared_bytes;  // that a launch may give a block
  uint64_t unit_local_bytes;  // that the blocks of a launch may have on each unit; 0: any
};

// Receives the commands of one request. Fallible calls return a guf_status, details in `error`, and
// queue nothing when they fail.
class CommandSink {
 public:
  virtual const DeviceTraits &traits() const = 0;

  // Whether the request's kernel has an entry; entries of moves are always there.
  virtual bool has(Entry entry) const = 0;

  // Memory of its own that a work-item of a generalized loop's entry uses beside its registers:
  // its stack, and the registers that the compiler spilled. 0 for other entries, and where
  // unit_local_bytes is 0.
  virtual uint32_t local_bytes(Entry entry) const = 0;

  // Queues a launch: entries of moves from the backend's own kernels, others from the request's.
  virtual guf_status run(const Command &step, guf_error *error) = 0;

  // Device memory for this request alone, 256-byte aligned; it is given back in stream order.
  // Errors  GUF_E_DEVICE_MEMORY
  virtual guf_status scratch(uint64_t bytes, uint64_t *out_address, guf_error *error) = 0;

  // Scratch that holds a copy of host memory; the source may change once this returned.
  virtual guf_status upload(const void *source, uint64_t bytes, uint64_t *out_address,
                            guf_error *error) = 0;

  // The device's word that entries or their status bits into (kStatusFailed, guf_fp_event): zero
  // when the request starts. The first call of a request asks for it to be looked at when the
  // request's work is done.
  virtual guf_status status_word(uint64_t *out_address, guf_error *error) = 0;

 protected:
  ~CommandSink() = default;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_COMMAND_SINK_H
