// SPDX-License-Identifier: Apache-2.0
#include "core/base/process_trust.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace gufunc::base {
namespace {

struct CloseFile {
  void operator()(FILE *file) const { fclose(file); }
};

}  // namespace

std::string library_file() {
  static const char marker = 0;
  const auto own_address = reinterpret_cast<uintptr_t>(&marker);
  errno = 0;
  const std::unique_ptr<FILE, CloseFile> maps(fopen("/proc/self/maps", "re"));
  std::string found;
  char *line = nullptr;
  size_t capacity = 0;
  while (maps != nullptr && found.empty() && getline(&line, &capacity, maps.get()) > 0) {
    unsigned long first = 0, end = 0;
    if (sscanf(line, "%lx-%lx", &first, &end) != 2 || own_address < first || own_address >= end)
      continue;
    const char *const path = std::strchr(line, '/');
    if (path != nullptr) found.assign(path, std::strcspn(path, "\n"));
  }
  const bool lacked_memory = found.empty() && errno == ENOMEM;
  free(line);
  if (lacked_memory) throw std::bad_alloc();
  return found;
}

bool process_is_privileged() {
  return getauxval(AT_SECURE) != 0;
}

std::string missing_proc() {
  if (access("/proc/self/maps", R_OK) == 0) return {};
  return std::string("; /proc/self/maps cannot be read (") + strerrordesc_np(errno) +
         "): without /proc the library does not know its own folder, where its plugins are, and "
         "cannot open plugins through /proc/self/fd";
}

TrustRule process_trust() {
  // If the privileges are due to setgid or file capabilities, the effective user is the user who
  // started the program, whom the process must not trust.
  const bool is_stranger = process_is_privileged() && geteuid() == getuid();
  TrustRule rule;
  rule.privileged = process_is_privileged();
  rule.effective_user = is_stranger ? 0 : geteuid();
  rule.effective_group = rule.library_group = getegid();
  rule.library_owner = rule.effective_user;
  struct stat status;
  if (const std::string file = library_file(); !file.empty() && stat(file.c_str(), &status) == 0) {
    rule.library_owner = status.st_uid;
    rule.library_group = status.st_gid;
  }
  return rule;
}

}  // namespace gufunc::base
