// SPDX-License-Identifier: Apache-2.0
// Every folder is opened relative to the one above it, which has been judged: what a path leads to
// cannot change between the look and the use.
#include "private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

// Why a folder is not to be trusted; `is_above` the folder that is asked for.
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

// Links on the way to a folder are followed once, here.
fs::path without_links(const fs::path &folder) {
  std::error_code failure;
  fs::path path = fs::weakly_canonical(fs::absolute(folder, failure), failure);
  if (failure) return {};
  return path.has_filename() ? path : path.parent_path();  // "cache/"
}

}  // namespace

Descriptor open_private_folder(const fs::path &folder, std::string *refusal) {
  constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;  // readable or not
  const fs::path path = without_links(folder);
  if (path.empty() || !path.has_filename()) return Descriptor();
  Descriptor opened(open("/", kFolderFlags));
  fs::path reached = "/";
  for (const fs::path &name : path.relative_path()) {
    reached /= name;
    int next = openat(opened.get(), name.c_str(), kFolderFlags);
    if (next < 0) {
      mkdirat(opened.get(), name.c_str(), S_IRWXU);  // unless somebody has just made it
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
