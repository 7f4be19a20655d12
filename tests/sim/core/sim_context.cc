// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_context.h"

#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_device_memory.h"
#include "tests/sim/core/sim_module.h"

namespace sim {

std::vector<void *> &context_stack() {
  thread_local std::vector<void *> stack;
  return stack;
}

Context *current_context(Driver &driver) {
  std::vector<void *> &stack = context_stack();
  const std::shared_ptr<Context> found =
      stack.empty() ? nullptr : driver.contexts.find(stack.back());
  if (found != nullptr) return found.get();
  return driver.implicit_context && !driver.devices.empty() ? driver.devices[0].primary.get()
                                                            : nullptr;
}

int use_context(Driver &driver, Context **out) {
  *out = current_context(driver);
  if (*out == nullptr) return context_stack().empty() ? kInvalidContext : kContextIsDestroyed;
  return (*out)->failure;
}

std::shared_ptr<Context> make_context(Driver &driver, int device, bool primary) {
  auto context = std::make_shared<Context>();
  context->handle = driver.new_handle();
  context->device = device;
  context->primary = primary;
  driver.contexts.add(context->handle, context);
  driver.every_context.push_back(context);
  auto legacy = std::make_shared<Stream>();
  legacy->context = context.get();
  legacy->is_legacy = true;
  context->legacy = legacy;
  driver.engine.add(legacy);
  return context;
}

std::shared_ptr<Context> retain_primary(Driver &driver, int device) {
  std::shared_ptr<Context> &primary = driver.devices[static_cast<size_t>(device)].primary;
  if (primary == nullptr) primary = make_context(driver, device, true);
  ++primary->references;
  return primary;
}

void destroy_context(Driver &driver, Lock &lock, const std::shared_ptr<Context> &context) {
  driver.engine.wait_all(lock, context.get());
  context->alive = false;
  driver.contexts.remove(context->handle);
  const auto drop = [&](auto &registry) {
    auto &all = registry.all();
    for (auto at = all.begin(); at != all.end();) {
      at = at->second->context == context.get() ? all.erase(at) : std::next(at);
    }
  };
  for (auto &[handle, stream] : driver.streams.all()) {
    if (stream->context == context.get()) stream->destroyed = true;
  }
  context->legacy->destroyed = true;
  driver.engine.touch(context->legacy);
  drop(driver.streams);
  drop(driver.events);
  drop(driver.modules);
  drop(driver.kernels);
  for (auto at = driver.memory.all().begin(); at != driver.memory.all().end();) {
    Allocation &allocation = (at++)->second;
    if (allocation.context == context.get()) forget_allocation(driver, allocation.address);
  }
  Device &device = driver.devices[static_cast<size_t>(context->device)];
  if (device.primary == context) device.primary = nullptr;
}

}  // namespace sim
