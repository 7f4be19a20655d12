// SPDX-License-Identifier: Apache-2.0
// Opens every folder relative to its parent, which is already checked, so a path cannot change
// between check and use.
#include "private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

// Why a folder cannot be trusted. `is_above`: it is a parent of the requested folder.
std::string why_untrusted(const struct stat &folder, const fs::path &path, bool is_above) {
  const bool is_ours = folder.st_uid == geteuid(), is_of_root = folder.st_uid == 0;
  if (!is_ours && !(is_above && is_of_root)) {
    return fmt::format("{} belongs to user {}", path.string(), folder.st_uid);
  }
  const bool others_write = (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (others_write && !(is_above && (folder.st_mode & S_ISVTX) != 0)) {
    return fmt::format("other users can write to {}; chmod go-w {}", path.string(), path.string());
  }
  return {};
}

// Resolves the symbolic links of a path once.
fs::path without_links(const fs::path &folder) {
  std::error_code failure;
  fs::path path = fs::weakly_canonical(fs::absolute(folder, failure), failure);
  if (failure) return {};
  return path.has_filename() ? path : path.parent_path();  // "cache/" has no file name
}

}  // namespace

Descriptor open_private_folder(const fs::path &folder, std::string *refusal) {
  // O_PATH requires no read permission.
  constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const fs::path path = without_links(folder);
  if (path.empty() || !path.has_filename()) return Descriptor();
  Descriptor opened(open("/", kFolderFlags));
  fs::path reached = "/";
  for (const fs::path &name : path.relative_path()) {
    reached /= name;
    int next = openat(opened.get(), name.c_str(), kFolderFlags);
    if (next < 0) {
      mkdirat(opened.get(), name.c_str(), S_IRWXU);  // another process may have made it
      next = openat(opened.get(), name.c_str(), kFolderFlags);
    }
    opened = Descriptor(next);
    struct stat found = {};
    if (!opened.is_open() || fstat(opened.get(), &found) != 0) return Descriptor();
    *refusal = why_untrusted(found, reached, reached != path);
    if (!refusal->empty()) return Descriptor();
  }
  return opened;
}

}  // namespace gufunc::gufcc
