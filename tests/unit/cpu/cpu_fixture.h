// SPDX-License-Identifier: Apache-2.0
// Provides a host table for the cpu backend under test, and functions that make and run launch
// blocks.
#ifndef GUFUNC_TESTS_UNIT_CPU_CPU_FIXTURE_H
#define GUFUNC_TESTS_UNIT_CPU_CPU_FIXTURE_H

#include <gtest/gtest.h>
#include <gufunc/backend.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/fresh_error.h"

namespace gufunc::cpu {

// The state of the host table that the test program passes to the backend. There is only one,
// because the backend keeps the first host table that it receives.
struct TestHost {
  std::map<std::string, std::string> config;  // changed only while the backend runs no other thread
  std::vector<std::string> log;
  bool alloc_fails = false;
  std::atomic<uint64_t> allocations{0}, live{0};  // numbers of all and of live allocations
};
TestHost &test_host();

// Returns the function table of the backend. The first call opens the backend.
const guf_backend_api &cpu();
void *cpu_device();

// Geometry of a launch. Dimension 0 is the innermost loop dimension. Strides are
// `steps[operand][dimension]`, in bytes.
struct BlockRow {
  int nin = 1;
  std::vector<int64_t> sizes;
  std::vector<void *> addresses;
  std::vector<std::vector<int64_t>> steps;
  std::vector<guf_dtype> dtypes;
  uint32_t flags = GUF_LAUNCH_ANY_THREAD;
};
guf_launch_block make_block(const BlockRow &row);

// Launches the block on `stream`. If `stream` is NULL, the launch is complete on return.
guf_status launch_block(const guf_launch_block &block, void (*loop)(void), guf_error *error,
                        void *stream = nullptr, void *user = nullptr, uint32_t max_threads = 0,
                        const char *failure = nullptr);

// Loops for tests: an addition of floats, and an addition that fails with GUF_E_VALUE if the second
// input is negative.
void add_f32(char **args, const int64_t *dims, const int64_t *steps, void *user);
guf_status checked_add_f32(char **args, const int64_t *dims, const int64_t *steps, void *user);

template <class Loop>
void (*as_entry(Loop *loop))(void) {
  return reinterpret_cast<void (*)(void)>(loop);
}

}  // namespace gufunc::cpu

#endif  // GUFUNC_TESTS_UNIT_CPU_CPU_FIXTURE_H
