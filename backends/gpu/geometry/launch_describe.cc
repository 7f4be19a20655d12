// SPDX-License-Identifier: Apache-2.0
// Describes the commands of a launch as text.
#include "backends/gpu/geometry/command_text.h"
#include "backends/gpu/geometry/launch_queue.h"

namespace gufunc::gpu {

guf_status describe_launch_commands(const guf_backend_launch &launch, const CommandSink &device,
                                    char *out_text, size_t text_size, guf_error *error) {
  static constexpr unsigned char kElement[16] = {};  // a placeholder for immediate operands
  guf_launch_block block = *launch.block;
  for (int i = 0; i < block.noperands; ++i) {
    if ((block.operand_flags[i] & GUF_LAUNCH_OPERAND_IMMEDIATE) == 0) continue;
    block.address[i] = reinterpret_cast<uint64_t>(&kElement);
  }
  guf_backend_launch described = launch;
  described.block = &block;
  CommandText commands(device, out_text, text_size);
  return queue_launch(described, commands, error);
}

}  // namespace gufunc::gpu
