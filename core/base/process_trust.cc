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
#include <utility>

namespace gufunc::base {
namespace {

struct CloseFile {
  void operator()(FILE *file) const { fclose(file); }
};

guf_status fail_read(const char *path, int code, guf_error *error) {
  return fail_native(error, status_of_errno(code), kNone, kNone, code, "cannot read %s: %s", path,
                     std::strerror(code));
}

}  // namespace

guf_status library_file(std::string *out, guf_error *error) {
  constexpr char kMaps[] = "/proc/self/maps";
  static const char marker = 0;
  const auto own_address = reinterpret_cast<uintptr_t>(&marker);
  errno = 0;
  const std::unique_ptr<FILE, CloseFile> maps(fopen(kMaps, "re"));
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
  const int code = found.empty() ? errno : 0;
  free(line);
  if (is_shortage(status_of_errno(code), code)) return fail_read(kMaps, code, error);
  *out = std::move(found);
  return GUF_OK;
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

guf_status process_trust(TrustRule *out, guf_error *error) {
  // If the privileges are due to setgid or file capabilities, the effective user is the user who
  // started the program, whom the process must not trust.
  const bool is_stranger = process_is_privileged() && geteuid() == getuid();
  TrustRule rule;
  rule.privileged = process_is_privileged();
  rule.effective_user = is_stranger ? 0 : geteuid();
  rule.effective_group = rule.library_group = getegid();
  rule.library_owner = rule.effective_user;
  struct stat status;
  std::string file;
  GUF_TRY(library_file(&file, error));
  if (!file.empty() && stat(file.c_str(), &status) == 0) {
    rule.library_owner = status.st_uid;
    rule.library_group = status.st_gid;
  } else if (!file.empty() && errno == ENOMEM) {
    return fail_read(file.c_str(), errno, error);
  }
  *out = rule;
  return GUF_OK;
}

}  // namespace gufunc::base
