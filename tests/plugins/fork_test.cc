// SPDX-License-Identifier: Apache-2.0
// Calls fork() while another thread is inside the dynamic loader to load a plugin or a module. The
// library must be usable in the child and not half initialized.
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "tests/support/operands.h"

namespace {

constexpr unsigned kHangs = 30;  // seconds until a child counts as hung

// Loads and unloads a module.
guf_status load_once() {
  guf_context context = nullptr;
  guf_module module = nullptr;
  guf_status status = guf_context_create(0, &context, nullptr);
  if (status == GUF_OK) {
    status = guf_module_load(context, GUFUNC_TEST_MODULES "/fork_sample.so", 0, &module, nullptr);
  }
  guf_module_release(module, nullptr);
  guf_context_release(context, nullptr);
  guf_poll(0, nullptr, nullptr);
  return status;
}

guf_status add_once() {
  guf_ufunc add = nullptr;
  guf_status status = guf_ufunc_find(nullptr, "add", &add, nullptr);
  if (status != GUF_OK) return status;
  const guf_operand inputs[] = {gufunc::weak_int_of(2), gufunc::weak_int_of(2)};
  guf_operand output = {};
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs;
  args.ninputs = 2;
  args.outputs = &output;
  args.noutputs = 1;
  status = guf_call(add, &args, nullptr);
  guf_array_release(output.array, nullptr);
  guf_ufunc_release(add, nullptr);
  return status;
}

// Waits for the child. Returns 0 if the child used the library successfully and exited.
int wait_for(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

// This test must be the first test, because this process must not have used the library. Each child
// starts a thread that uses the library for the first time, and forks while that thread runs.
TEST(Fork, WhileAThreadUsesABackendForTheFirstTime) {
  for (int run = 0; run < 40; ++run) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(2 * kHangs);
      std::atomic<guf_status> status{GUF_E_INTERNAL};
      std::thread first([&] { status = add_once(); });
      usleep(static_cast<useconds_t>(run * 100));
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        alarm(kHangs);
        _exit(add_once() == GUF_OK ? 0 : 1);
      }
      const bool good = wait_for(grandchild) == 0;
      first.join();
      _exit(good && status == GUF_OK ? 0 : 1);
    }
    ASSERT_EQ(wait_for(child), 0) << "run " << run;
  }
}

TEST(Fork, WhileAThreadLoadsModules) {
  ASSERT_EQ(add_once(), GUF_OK);
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0}, loads{0};
  std::thread loader([&] {
    while (!stop) {
      if (load_once() != GUF_OK) ++failures;
      ++loads;
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  int forks = 0, bad = 0;
  while (std::chrono::steady_clock::now() < end && bad == 0) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kHangs);
      _exit(load_once() == GUF_OK && add_once() == GUF_OK ? 0 : 1);
    }
    ++forks;
    if (wait_for(child) != 0) ++bad;
  }
  stop = true;
  loader.join();
  EXPECT_EQ(bad, 0) << "of " << forks << " children, beside " << loads << " loads";
  EXPECT_EQ(failures, 0);
  EXPECT_GT(forks, 3);
}

}  // namespace
