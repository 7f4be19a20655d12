// SPDX-License-Identifier: Apache-2.0
// Decides which effects of a fault on a run are permitted.
#ifndef GUFUNC_TESTS_GPU_FAULT_RULES_H
#define GUFUNC_TESTS_GPU_FAULT_RULES_H

#include <string>

#include "tests/gpu/fault_codes.h"
#include "tests/gpu/fault_run.h"

namespace gufunc::gpu_test {

// Compares a run in which a fault was injected with a run of the same scenario without the fault.
// Returns a description of the first difference that is not permitted, or an empty string.
std::string judge(const Trial &clean, const Trial &run, const FaultCode &code);

// Checks a run in which queued work failed permanently. If `must_report` is true, a caller has
// waited for the work, so one of the calls must have reported the failure.
std::string judge_late(const Trial &run, const FaultCode &code, bool must_report);

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_FAULT_RULES_H
