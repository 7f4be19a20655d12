// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "backends/emulator/emulator.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_module.h"

namespace sim {
namespace {

using Bytes = std::vector<unsigned char>;
using gufunc::emulator::Outcome;

// Packs the arguments in the layout that the image defines.
bool pack_parameters(const ImageKernel &message, void **parameters, Bytes *out) {
  out->assign(message.argument_bytes, 0);
  for (size_t i = 0; i < message.parameters.size(); ++i) {
    if (parameters == nullptr || parameters[i] == nullptr) return false;
    std::memcpy(out->data() + message.parameters[i].offset, parameters[i],
                message.parameters[i].bytes);
  }
  return true;
}

// Reads the `extra` list of a launch. The list contains the number 1 followed by the address of the
// argument buffer, the number 2 followed by the address of the buffer's size, and the vendor's end
// marker.
bool take_extra(void **extra, const void *end, Bytes *out) {
  const void *buffer = nullptr;
  const size_t *bytes = nullptr;
  for (; *extra != end; extra += 2) {
    const auto word = reinterpret_cast<uint64_t>(*extra);
    if (word == 1)
      buffer = extra[1];
    else if (word == 2)
      bytes = static_cast<const size_t *>(extra[1]);
    else
      return false;
  }
  if (buffer == nullptr || bytes == nullptr) return false;
  const auto *first = static_cast<const unsigned char *>(buffer);
  out->assign(first, first + *bytes);
  return true;
}

// The content of all memory of a device, indexed by address.
using Snapshot = std::map<uint64_t, std::string>;

Snapshot take_snapshot(Driver &driver, int device) {
  const Lock lock(driver.mutex);
  Snapshot all;
  for (const auto &[address, allocation] : driver.memory.all()) {
    const bool on_device =
        allocation.kind == MemoryKind::kDevice || allocation.kind == MemoryKind::kPool;
    if (allocation.device != device || !on_device) continue;
    std::string &copy = all[address];
    copy.resize(allocation.bytes);
    raw_copy(copy.data(), reinterpret_cast<const void *>(address), allocation.bytes);
  }
  return all;
}

void put_back(const Snapshot &snapshot) {
  for (const auto &[address, bytes] : snapshot) {
    raw_copy(reinterpret_cast<void *>(address), bytes.data(), bytes.size());
  }
}

// The data of a launch that waits in a queue.
struct Queued {
  std::shared_ptr<Kernel> kernel;
  LaunchShape shape;
  Bytes arguments;
  bool twice, descending;
  uint64_t edges;  // number of blocks to run at each end of the grid; 0 means all blocks
};

// Runs the whole grid, or only its first and last blocks if the whole grid would run for minutes.
gufunc::emulator::Result run_grid(gufunc::emulator::Launch launch, uint64_t edges) {
  const uint64_t blocks = uint64_t{launch.blocks[0]} * launch.blocks[1] * launch.blocks[2];
  if (edges == 0 || blocks / 2 <= edges) return gufunc::emulator::run(launch);
  launch.nblocks = edges;
  const gufunc::emulator::Result result = gufunc::emulator::run(launch);
  if (result.outcome != Outcome::kDone) return result;
  launch.first_block = blocks - edges;
  return gufunc::emulator::run(launch);
}

int run_once(Driver &driver, const Queued &queued, bool descending) {
  const guf::device::emulated_kernel &items = *queued.kernel->items;
  gufunc::emulator::Launch launch = {};
  launch.entry = items.entry;
  launch.arguments = queued.arguments.data();
  std::memcpy(launch.blocks, queued.shape.blocks, sizeof(launch.blocks));
  std::memcpy(launch.threads, queued.shape.threads, sizeof(launch.threads));
  launch.shared_bytes = queued.shape.shared_bytes + queued.kernel->message.shared_bytes;
  launch.synchronises = items.synchronises != 0;
  launch.descending = descending;
  const gufunc::emulator::Result result = run_grid(launch, queued.edges);
  if (result.outcome == Outcome::kDone) return kSuccess;
  char text[256];
  gufunc::emulator::describe(result, text, sizeof(text));
  const Lock lock(driver.mutex);
  violation(driver, queued.kernel->context, queued.kernel->message.name + ": " + text);
  return kLaunchFailed;
}

// Runs the work-items in ascending and then in descending order. Both runs must produce the same
// bytes in device memory.
int run_twice(Driver &driver, const Queued &queued) {
  const int device = queued.kernel->context->device;
  const Snapshot before = take_snapshot(driver, device);
  int code = run_once(driver, queued, false);
  if (code != kSuccess) return code;
  const Snapshot ascending = take_snapshot(driver, device);
  put_back(before);
  code = run_once(driver, queued, true);
  if (code != kSuccess) return code;
  if (take_snapshot(driver, device) == ascending) return kSuccess;
  const Lock lock(driver.mutex);
  violation(driver, queued.kernel->context,
            queued.kernel->message.name + ": its result depends on the order of work-items");
  return kLaunchFailed;
}

}  // namespace

int launch(Driver &driver, const std::shared_ptr<Stream> &stream,
           const std::shared_ptr<Kernel> &kernel, const LaunchShape &shape, void **parameters,
           void **extra, const void *extra_end) {
  if (!driver.config.execute && stream->capture == nullptr) return kSuccess;
  Queued queued = {kernel,
                   shape,
                   {},
                   driver.config.twice && driver.config.order != Order::kEager,
                   driver.config.order == Order::kAdversarial && driver.engine.random()() % 2 != 0,
                   driver.config.edges};
  const bool packed = extra != nullptr
                          ? take_extra(extra, extra_end, &queued.arguments)
                          : pack_parameters(kernel->message, parameters, &queued.arguments);
  if (!packed) return kInvalidValue;
  const std::string &name = kernel->message.name;
  if (queued.arguments.size() != kernel->message.argument_bytes) {
    violation(driver, nullptr,
              name + " takes " + std::to_string(kernel->message.argument_bytes) +
                  " bytes of arguments and got " + std::to_string(queued.arguments.size()));
    return kInvalidValue;
  }
  if (kernel->items == nullptr) {
    violation(driver, kernel->context, name + " cannot run: " + kernel->why_not);
    return kLaunchFailed;
  }
  if (kernel->items->argument_bytes != kernel->message.argument_bytes) {
    violation(driver, kernel->context,
              name + " takes " + std::to_string(kernel->message.argument_bytes) +
                  " bytes of arguments in its image and " +
                  std::to_string(kernel->items->argument_bytes) + " in its emulation file");
    return kLaunchFailed;
  }
  const void *const what = kernel.get();
  Work work = {WorkKind::kKernel,
               [&driver, queued = std::move(queued)] {
                 return queued.twice ? run_twice(driver, queued)
                                     : run_once(driver, queued, queued.descending);
               },
               what};
  return submit(driver, stream, std::move(work));
}

}  // namespace sim
