// SPDX-License-Identifier: Apache-2.0
// Runs the same call directly, as a plan, and on a stream.
#ifndef GUFUNC_TESTS_UNIT_CALL_EVERY_STRATEGY_H
#define GUFUNC_TESTS_UNIT_CALL_EVERY_STRATEGY_H

#include "tests/unit/call/call_fixture.h"

namespace gufunc {

// Makes a plan of the call and launches it once. `places` are the addresses of the operands and of
// the mask.
inline void run_plan(Call &call, const std::vector<const void *> &places) {
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(call.handle, call.ready(), &plan, &call.error), GUF_OK)
      << call.error.message;
  uint64_t nbytes = 0;
  uint64_t alignment = 0;
  ASSERT_EQ(guf_plan_workspace(plan, &nbytes, &alignment, &call.error), GUF_OK);
  std::vector<char> buffer(nbytes + alignment);
  const uint64_t workspace =
      (reinterpret_cast<uint64_t>(buffer.data()) + alignment - 1) / alignment * alignment;
  std::vector<uint64_t> addresses;
  for (const void *place : places) addresses.push_back(reinterpret_cast<uint64_t>(place));
  EXPECT_EQ(guf_plan_launch(plan, nullptr, static_cast<int32_t>(addresses.size()), addresses.data(),
                            nbytes == 0 ? 0 : workspace, &call.error),
            GUF_OK)
      << call.error.message;
  guf_plan_release(plan, nullptr);
}

class EveryStrategy {
 public:
  EveryStrategy() {
    guf_device cpu = nullptr;
    EXPECT_EQ(guf_device_get(nullptr, "cpu", &cpu, nullptr), GUF_OK);
    EXPECT_EQ(guf_stream_create(cpu, 0, &stream_, nullptr), GUF_OK);
  }
  ~EveryStrategy() {
    guf_poll(0, nullptr, nullptr);
    EXPECT_EQ(guf_stream_release(stream_, nullptr), GUF_OK);
  }
  EveryStrategy(const EveryStrategy &) = delete;
  EveryStrategy &operator=(const EveryStrategy &) = delete;

  // Runs the call directly, as a plan and on a stream. Each run starts with the content that the
  // buffer has on entry to this function, and must leave `expected` in the buffer. The caller must
  // not use the call afterwards, because its arguments still refer to the stream.
  template <class T>
  void expect_each(Call &call, const std::vector<const void *> &places, std::vector<T> &buffer,
                   const std::vector<T> &expected) const {
    const std::vector<T> was = buffer;
    ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
    ASSERT_EQ(buffer, expected);
    buffer = was;
    ASSERT_NO_FATAL_FAILURE(run_plan(call, places));
    ASSERT_EQ(buffer, expected) << "as a plan";
    buffer = was;
    call.args.options.stream = stream_;
    ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
    ASSERT_EQ(guf_stream_synchronize(stream_, UINT64_MAX, nullptr), GUF_OK);
    ASSERT_EQ(buffer, expected) << "on a stream";
  }

 private:
  guf_stream stream_ = nullptr;
};

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_CALL_EVERY_STRATEGY_H
