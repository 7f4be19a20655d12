// SPDX-License-Identifier: Apache-2.0
// Libraries are opened as /proc/PID/fd/N, so the dynamic loader maps exactly the file that was
// checked.
//
// Debuggers and the symbolizers of sanitizers open the same name later, from another
// process. The name therefore contains the number of this process instead of "self". The
// descriptor number is one that the process is unlikely to reuse, because a debugger would block
// forever if the name later referred to a pipe.
//
// The loader first compares the name with the names of the loaded libraries. For a second file with
// a reused descriptor number, it would silently return the first library again. Each call therefore
// spells the path differently, with "//" or "/./" for each bit of a counter.
#include "core/base/open_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <gufunc/float_control.hpp>
#include <gufunc/loader_memory.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/base/file_trust.h"
#include "core/base/fork.h"

namespace gufunc::base {
namespace {

// Returns the number of this process in the namespace in which /proc was mounted.
std::string process_name() {
  char number[24];
  const ssize_t length = readlink("/proc/self", number, sizeof number);
  return length > 0 ? std::string(number, static_cast<size_t>(length)) : "self";
}

// Duplicates a descriptor to a number that is rarely in use, for the duration of one dlopen.
class HighDescriptor {
 public:
  explicit HighDescriptor(int descriptor) : original_(descriptor) {
    rlimit limit = {};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    // At most 960, because the kernel's descriptor table grows with the highest number.
    const rlim_t lowest = std::min<rlim_t>(limit.rlim_cur / 8 * 7, 960);
    duplicate_ = fcntl(descriptor, F_DUPFD_CLOEXEC, static_cast<int>(lowest));
  }
  ~HighDescriptor() {
    if (duplicate_ >= 0) close(duplicate_);
  }
  HighDescriptor(const HighDescriptor &) = delete;
  HighDescriptor &operator=(const HighDescriptor &) = delete;

  // Returns the original descriptor if no higher number was available.
  int get() const { return duplicate_ >= 0 ? duplicate_ : original_; }

 private:
  const int original_;
  int duplicate_ = -1;
};

std::string unique_name(int descriptor) {
  static constinit std::atomic<uint32_t> calls{0};
  std::string name = "/proc/" + process_name() + "/fd";
  for (uint32_t bits = calls.fetch_add(1, std::memory_order_relaxed); bits != 0; bits >>= 1) {
    name += (bits & 1) != 0 ? "/." : "/";
  }
  return name + "/" + std::to_string(descriptor);
}

guf_status explain_refusal(const std::string &name, int code, const char *path, guf_error *error) {
  const char *reason = dlerror();
  if (reason == nullptr) reason = "no reason given";
  if (const int shortage = loader_shortage(code, reason); shortage != 0) {
    return base::fail_native(error, base::status_of_errno(shortage), base::kNone, base::kNone,
                             shortage, "the dynamic loader cannot open %s: %s", path,
                             std::strerror(shortage));
  }
  // The loader's message begins with a /proc path, which is removed because it does not help users.
  const std::string_view text(reason);
  const size_t skip = text.starts_with(name + ": ") ? name.size() + 2 : 0;
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "the dynamic loader refuses %s: %s%s", path, reason + skip,
                    missing_proc().c_str());
}

}  // namespace

guf_status open_library(int descriptor, int flags, const char *path, void **out, guf_error *error) {
  const HighDescriptor high(descriptor);
  const std::string name = unique_name(high.get());
  void *library = nullptr;
  int code = 0;
  {
    const base::ForkHold hold;
    const KeepFloatControl keep;
    errno = 0;
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
    code = errno;
  }
  if (library == nullptr) return explain_refusal(name, code, path, error);
  *out = library;
  return GUF_OK;
}

void close_library(void *library) {
  const base::ForkHold hold;
  dlclose(library);
}

}  // namespace gufunc::base
