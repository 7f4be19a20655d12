// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_interpreter.h"

#include <algorithm>

#include "tests/sim/core/sim_device_memory.h"

namespace sim {
namespace {

bool has_peer_on(const Context &context, int device) {
  return std::any_of(context.peers.begin(), context.peers.end(),
                     [device](const Context *peer) { return peer->device == device; });
}

class DeviceMemory : public ptx::GlobalMemory {
 public:
  DeviceMemory(Driver &driver, const Context &context) : driver_(driver), context_(context) {}

  ptx::Range find(uint64_t address) override {
    const Lock lock(driver_.mutex);
    const Allocation *const found = driver_.memory.find(address);
    if (found == nullptr) return {};
    const int access = access_to(*found);
    if (access == 0) return {};
    return {found->address, found->address + found->bytes, access == 3};
  }

 private:
  // Returns the access of the device in the numbers of pool_access().
  int access_to(const Allocation &allocation) const {
    const bool own = allocation.device == context_.device;
    switch (allocation.kind) {
      case MemoryKind::kDevice:
        return own || has_peer_on(context_, allocation.device) ? 3 : 0;
      case MemoryKind::kPool:
        return pool_access(*allocation.pool, context_.device);
      default:
        return allocation.mapped ? 3 : 0;
    }
  }

  Driver &driver_;
  const Context &context_;
};

}  // namespace

std::shared_ptr<ptx::Program> read_program(const std::string &text, std::string *why_not) {
  try {
    return std::make_shared<ptx::Program>(text);
  } catch (const ptx::Fault &fault) {
    *why_not = fault.what();
    return nullptr;
  }
}

ptx::Result interpret(Driver &driver, const Context &context, ptx::Launch launch) {
  DeviceMemory memory(driver, context);
  launch.memory = &memory;
  return ptx::run(launch);
}

}  // namespace sim
