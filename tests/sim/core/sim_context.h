// SPDX-License-Identifier: Apache-2.0
// Which context a thread works in. Called with the driver locked.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_CONTEXT_H
#define GUFUNC_TESTS_SIM_CORE_SIM_CONTEXT_H

#include <vector>

#include "tests/sim/core/sim_driver.h"

namespace sim {

// The contexts of this thread, the current one last.
std::vector<void *> &context_stack();

// The current context, alive or failed; null where there is none. A driver without contexts (HIP)
// has the primary one of device 0 until another is asked for.
Context *current_context(Driver &driver);

// The same for a call that needs one: gives kInvalidContext, kContextIsDestroyed, or the failure
// that the context keeps.
int use_context(Driver &driver, Context **out);

// One more reference to the primary context of a device, which the first one makes.
std::shared_ptr<Context> retain_primary(Driver &driver, int device);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_CONTEXT_H
