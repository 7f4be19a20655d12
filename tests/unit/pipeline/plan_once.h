// SPDX-License-Identifier: Apache-2.0
// Calls as plans, for tests that do both.
#ifndef GUFUNC_TESTS_UNIT_PIPELINE_PLAN_ONCE_H
#define GUFUNC_TESTS_UNIT_PIPELINE_PLAN_ONCE_H

#include "tests/unit/pipeline/call_fixture.h"

namespace gufunc {

// The call as a plan that is launched once.
inline void run_plan(Call &call, const std::vector<const void *> &places) {
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(call.handle, call.ready(), &plan, &call.error), GUF_OK)
      << call.error.message;
  uint64_t nbytes = 0;
  uint64_t alignment = 0;
  ASSERT_EQ(guf_plan_workspace(plan, &nbytes, &alignment, &call.error), GUF_OK);
  std::vector<char> room(nbytes + alignment);
  const uint64_t workspace =
      (reinterpret_cast<uint64_t>(room.data()) + alignment - 1) / alignment * alignment;
  std::vector<uint64_t> addresses;
  for (const void *place : places) addresses.push_back(reinterpret_cast<uint64_t>(place));
  EXPECT_EQ(guf_plan_launch(plan, nullptr, static_cast<int32_t>(addresses.size()), addresses.data(),
                            nbytes == 0 ? 0 : workspace, &call.error),
            GUF_OK)
      << call.error.message;
  guf_plan_release(plan, nullptr);
}

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_PIPELINE_PLAN_ONCE_H
