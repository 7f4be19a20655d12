// SPDX-License-Identifier: Apache-2.0
// The current context of a thread. Callers hold the driver's lock.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_CONTEXT_H
#define GUFUNC_TESTS_SIM_CORE_SIM_CONTEXT_H

#include <vector>

#include "tests/sim/core/sim_driver.h"

namespace sim {

// The context stack of this thread; the current context is last.
std::vector<void *> &context_stack();

// Returns the current context, even if it has failed, or null. In a driver without contexts (HIP)
// the default is the primary context of device 0.
Context *current_context(Driver &driver);

// Stores the current context, for a call that requires one. Returns kInvalidContext,
// kContextIsDestroyed, or the sticky failure of the context.
int use_context(Driver &driver, Context **out);

// Adds a reference to the primary context of a device. The first reference creates the context.
std::shared_ptr<Context> retain_primary(Driver &driver, int device);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_CONTEXT_H
