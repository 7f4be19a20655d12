// SPDX-License-Identifier: Apache-2.0
// Runs kernels of PTX texts with the interpreter of tests/ptx.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_INTERPRETER_H
#define GUFUNC_TESTS_SIM_CORE_SIM_INTERPRETER_H

#include <memory>
#include <string>

#include "tests/ptx/ptx_grid.h"
#include "tests/sim/core/sim_driver.h"

namespace sim {

// Parses a PTX text. If the text has an error, returns null and stores the error in *why_not.
std::shared_ptr<ptx::Program> read_program(const std::string &text, std::string *why_not);

// Runs a launch whose member `memory` is not set. Its kernel may access memory of the context's
// device, and memory that the device can access. The caller must not hold the driver's lock.
ptx::Result interpret(Driver &driver, const Context &context, ptx::Launch launch);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_INTERPRETER_H
