// SPDX-License-Identifier: Apache-2.0
// Tests that a process without /proc finds no plugins, and that the error message names the cause.
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tests/support/fresh_error.h"

namespace gufunc {
namespace {

enum Outcome { kNamed = 0, kSilent = 1, kNotAllowed = 2 };

// Mounts an empty folder over /proc, for this process only.
bool hide_proc() {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", "/proc", "tmpfs", 0, nullptr) == 0;
}

Outcome open_without_proc(const char *spec) {
  if (!hide_proc()) return kNotAllowed;
  guf_error error = fresh_error();
  guf_device device = nullptr;
  const guf_status status = guf_device_get(nullptr, spec, &device, &error);
  const std::string message = error.message;
  const bool named = status == GUF_E_NO_BACKEND &&
                     message.find("/proc/self/maps cannot be read") != std::string::npos;
  if (!named) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  return named ? kNamed : kSilent;
}

TEST(WithoutProc, TheMessageNamesTheCause) {
  for (const char *spec : {"cpu", "auto"}) {
    const pid_t child = fork();
    if (child == 0) _exit(open_without_proc(spec));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNotAllowed) GTEST_SKIP() << "no namespaces of mounts here";
    EXPECT_EQ(WEXITSTATUS(status), kNamed) << spec;
  }
}

}  // namespace
}  // namespace gufunc
