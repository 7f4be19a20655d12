// SPDX-License-Identifier: Apache-2.0
// Rules for the permitted effects of a fault on a run.
#ifndef GUFUNC_TESTS_GPU_FAULT_RULES_H
#define GUFUNC_TESTS_GPU_FAULT_RULES_H

#include <string>

#include "tests/gpu/fault_codes.h"
#include "tests/gpu/fault_run.h"

namespace gufunc::gpu_test {

// Describes what is wrong with a run under a fault, compared with the same scenario without the
// fault. An empty string means no error.
std::string judge(const Trial &clean, const Trial &run, const FaultCode &code);

// The same for a run in which queued work failed permanently. `must_tell`: a caller has waited for
// the work, so the failure must have been reported.
std::string judge_late(const Trial &run, const FaultCode &code, bool must_tell);

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_FAULT_RULES_H
