// SPDX-License-Identifier: Apache-2.0
// A host table for the cpu backend under test, and launch blocks written as table rows.
#ifndef GUFUNC_TESTS_UNIT_CPU_CPU_FIXTURE_H
#define GUFUNC_TESTS_UNIT_CPU_CPU_FIXTURE_H

#include <gtest/gtest.h>
#include <gufunc/backend.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gufunc::cpu {

// The only host of the test program, because the plugin keeps the first host that opens it.
struct TestHost {
  std::map<std::string, std::string> config;  // changed only while no other thread runs
  std::vector<std::string> log;
  bool alloc_fails = false;
  std::atomic<uint64_t> allocations{0}, live{0};  // counts of host memory
};
TestHost &test_host();

// Returns the backend's function table, which is opened on first use.
const guf_backend_api &cpu();
void *cpu_device();

// Returns an initialized, empty error record.
guf_error fresh_error();

// Geometry of a launch. `sizes[0]` is the innermost loop dimension; strides are
// `steps[operand][dimension]`.
struct BlockRow {
  int nin = 1;
  std::vector<int64_t> sizes;
  std::vector<void *> addresses;
  std::vector<std::vector<int64_t>> steps;
  std::vector<guf_dtype> dtypes;
  uint32_t flags = GUF_LAUNCH_ANY_THREAD;
};
guf_launch_block make_block(const BlockRow &row);

// Launches on `stream`. With NULL the launch is complete on return.
guf_status launch_block(const guf_launch_block &block, void (*loop)(void), guf_error *error,
                        void *stream = nullptr, void *user = nullptr, uint32_t max_threads = 0,
                        const char *failure = nullptr);

// Test loops: float addition, and a loop that fails with GUF_E_VALUE on a negative second input.
void add_f32(char **args, const int64_t *dims, const int64_t *steps, void *user);
guf_status checked_add_f32(char **args, const int64_t *dims, const int64_t *steps, void *user);

template <class Loop>
void (*as_entry(Loop *loop))(void) {
  return reinterpret_cast<void (*)(void)>(loop);
}

}  // namespace gufunc::cpu

#endif  // GUFUNC_TESTS_UNIT_CPU_CPU_FIXTURE_H
