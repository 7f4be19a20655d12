// SPDX-License-Identifier: Apache-2.0
// What a fault may do to a run, and nothing else.
#ifndef GUFUNC_TESTS_GPU_FAULT_RULES_H
#define GUFUNC_TESTS_GPU_FAULT_RULES_H

#include <string>

#include "tests/gpu/fault_codes.h"
#include "tests/gpu/fault_run.h"

namespace gufunc::gpu_test {

// What is wrong with a run under a fault, beside the same scenario's run without; empty: nothing.
std::string judge(const Trial &clean, const Trial &run, const FaultCode &code);

// The same of a run in which queued work failed for good; `must_tell`: somebody has waited for it.
std::string judge_late(const Trial &run, const FaultCode &code, bool must_tell);

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_FAULT_RULES_H
