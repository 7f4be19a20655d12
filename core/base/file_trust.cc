// SPDX-License-Identifier: Apache-2.0
// The trust rule of the process, and the check of a file. The file is checked through its open
// descriptor. The directories are checked along the path that the operating system reports for the
// descriptor, because this path contains no symbolic links.
#include "core/base/file_trust.h"

#include <limits.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace gufunc::base {
namespace {

constexpr uid_t kUnmappedUser = 65534;  // reported for owners outside the user namespace

enum class PathPart { kFile, kFolder, kAbove };

struct Entry {
  const char *path;
  PathPart place;
  uid_t owner;
  gid_t group;
  mode_t mode;
};

const char *kind_of(const Entry &entry) {
  return entry.place == PathPart::kFile ? "file" : "directory";
}

guf_status check_owner(const Entry &entry, const TrustRule &rule, guf_error *error) {
  if (entry.owner == 0 || entry.owner == rule.effective_user || entry.owner == rule.library_owner) {
    return GUF_OK;
  }
  if (!rule.privileged && entry.place == PathPart::kAbove && entry.owner == kUnmappedUser) {
    return GUF_OK;
  }
  return base::fail(error, GUF_E_UNTRUSTED, base::kNone, base::kNone,
                    "%s %s is not trusted; its owner is user %u, expected root, user %u or user %u",
                    kind_of(entry), entry.path, entry.owner, rule.effective_user,
                    rule.library_owner);
}

guf_status check_writers(const Entry &entry, const TrustRule &rule, guf_error *error) {
  if (entry.place == PathPart::kAbove && (entry.mode & S_ISVTX) != 0) return GUF_OK;
  if ((entry.mode & S_IWOTH) != 0) {
    return base::fail(error, GUF_E_UNTRUSTED, base::kNone, base::kNone,
                      "%s %s is not trusted; everybody may write it (mode %04o)", kind_of(entry),
                      entry.path, entry.mode & 07777U);
  }
  if ((entry.mode & S_IWGRP) == 0) return GUF_OK;
  if (!rule.privileged && (entry.group == 0 || entry.group == rule.effective_group ||
                           entry.group == rule.library_group)) {
    return GUF_OK;
  }
  return base::fail(error, GUF_E_UNTRUSTED, base::kNone, base::kNone,
                    "%s %s is not trusted; group %u may write it (mode %04o)", kind_of(entry),
                    entry.path, entry.group, entry.mode & 07777U);
}

guf_status check_entry(const Entry &entry, const TrustRule &rule, guf_error *error) {
  GUF_TRY(check_owner(entry, rule, error));
  return check_writers(entry, rule, error);
}

guf_status fail_examine(const char *path, int code, guf_error *error) {
  return base::fail_native(error, status_of_errno(code), base::kNone, base::kNone, code,
                           "cannot examine %s: %s", path, std::strerror(code));
}

// Returns the current path of the open file.
guf_status find_place(const char *path, const CheckedFile &file, std::string *out,
                      guf_error *error) {
  const std::string link = "/proc/self/fd/" + std::to_string(file.descriptor.get());
  char place[PATH_MAX];
  const ssize_t length = readlink(link.c_str(), place, sizeof place);
  if (length < 0) return fail_examine(link.c_str(), errno, error);
  out->assign(place, static_cast<size_t>(length));
  return out->starts_with('/') ? GUF_OK : fail_examine(path, ENOENT, error);
}

guf_status check_folder(const std::string &folder, PathPart place, const TrustRule &rule,
                        guf_error *error) {
  struct stat status;
  if (stat(folder.c_str(), &status) != 0) return fail_examine(folder.c_str(), errno, error);
  const Entry entry = {folder.c_str(), place, status.st_uid, status.st_gid, status.st_mode};
  return check_entry(entry, rule, error);
}

struct CloseFile {
  void operator()(FILE *file) const { fclose(file); }
};

guf_status fail_read(const char *path, int code, guf_error *error) {
  return fail_native(error, status_of_errno(code), kNone, kNone, code, "cannot read %s: %s", path,
                     std::strerror(code));
}

}  // namespace

guf_status check_trust(const char *path, const CheckedFile &file, const TrustRule &rule,
                       guf_error *error) {
  const Entry entry = {path, PathPart::kFile, file.owner, file.group, file.mode};
  GUF_TRY(check_entry(entry, rule, error));
  std::string folder;
  GUF_TRY(find_place(path, file, &folder, error));
  PathPart place = PathPart::kFolder;
  while (folder.size() > 1) {
    folder.resize(std::max<size_t>(folder.find_last_of('/'), 1));
    GUF_TRY(check_folder(folder, place, rule, error));
    place = PathPart::kAbove;
  }
  return GUF_OK;
}

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
