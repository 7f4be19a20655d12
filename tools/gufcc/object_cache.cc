// SPDX-License-Identifier: Apache-2.0
// Files get their final name by rename, so parallel builds never see an incomplete object. Each
// file ends with a digest, which detects damage by full disks, power loss or other programs.
// Symbolic links are not followed, and a file that another user can write is not read. Every folder
// is opened relative to its parent, which is already checked, so a path cannot change between check
// and use.
#include "object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sha2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

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

// Opens `folder`, and creates missing folders of its path with access for the user only. The result
// is not open if the folder cannot be created or read, or if another user owns or can write to the
// folder or one of its parents. If another user is the reason, `*refusal` names the folder and the
// problem. Parents may belong to root, and may be writable if the sticky bit protects the user's
// own folder, as in /tmp.
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

std::string sha256(const std::string &text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const uint8_t *>(text.data()), text.size());
  SHA256Final(reinterpret_cast<uint8_t *>(digest.data()), &context);
  return digest;
}

// The digest covers the key too, so that an object stored under a wrong key is detected.
std::string seal(const std::string &key, const std::string &object) {
  return sha256(key + object);
}

std::string object_name(const std::string &key) {
  return key + ".o";
}

bool is_trusted(int descriptor) {
  struct stat found = {};
  return fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
         (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

ObjectCache::ObjectCache(const fs::path &folder) {
  if (!folder.empty()) folder_ = open_private_folder(folder, &refusal_);
}

std::string ObjectCache::key(const std::string &text) {
  std::string name;
  for (const char byte : sha256(text)) {
    name += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return name;
}

bool ObjectCache::fetch(const std::string &key, const fs::path &output) const {
  if (!folder_.is_open()) return false;
  // O_NONBLOCK: if the name is a FIFO, open must not wait for a writer.
  const Descriptor kept(openat(folder_.get(), object_name(key).c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  Diagnostics unheard;  // not printed, because gufcc compiles a damaged object again
  std::string content;
  if (!kept.is_open() || !is_trusted(kept.get()) || !read_descriptor(kept, &content) ||
      content.size() < SHA256_DIGEST_LENGTH) {
    return false;
  }
  const std::string digest = content.substr(content.size() - SHA256_DIGEST_LENGTH);
  content.resize(content.size() - SHA256_DIGEST_LENGTH);
  return seal(key, content) == digest && write_file(output, content, &unheard);
}

ObjectCache::Lock::Lock(const ObjectCache &cache, const std::string &key)
    : cache_(cache), name_(key + ".lock") {
  if (!cache.folder_.is_open()) return;
  file_ = Descriptor(openat(cache.folder_.get(), name_.c_str(),
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  while (file_.is_open() && flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

// A process that waits on the removed file still gets its lock, while later processes lock a new
// file. At worst an object is compiled twice.
ObjectCache::Lock::~Lock() {
  if (file_.is_open()) unlinkat(cache_.folder_.get(), name_.c_str(), 0);
}

void ObjectCache::store(const std::string &key, const fs::path &object) const {
  if (!folder_.is_open()) return;
  static std::atomic<int> serial{0};
  const std::string partial = fmt::format("{}.{}.{}", key, getpid(), serial++);
  Diagnostics unheard;
  std::string content;
  if (!read_file(object, &content, &unheard)) return;
  content += seal(key, content);
  const std::string name = object_name(key);    // from here on nothing throws
  unlinkat(folder_.get(), partial.c_str(), 0);  // left by a killed process with the same id
  Descriptor file(openat(folder_.get(), partial.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) return;
  const bool written = write_descriptor(file, content) && file.close();
  if (!written || renameat(folder_.get(), partial.c_str(), folder_.get(), name.c_str()) != 0) {
    unlinkat(folder_.get(), partial.c_str(), 0);
  }
}

fs::path default_cache_folder() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return fs::path(cache) / "gufunc" / "gufcc";
  }
  if (const char *home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".cache" / "gufunc" / "gufcc";
  }
  return {};
}

}  // namespace gufunc::gufcc
