// SPDX-License-Identifier: Apache-2.0
// Files appear under their name by rename, so that builds side by side never see half an object.
#include "object_cache.h"

#include <fcntl.h>
#include <sha2.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

namespace gufunc::gufcc {

namespace fs = std::filesystem;

ObjectCache::ObjectCache(fs::path folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code failure;
  fs::create_directories(folder_, failure);
  fs::permissions(folder_, fs::perms::owner_all, failure);
  if (!fs::is_directory(folder_, failure)) folder_.clear();
}

std::string ObjectCache::key(const std::string &text) {
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest;
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const uint8_t *>(text.data()), text.size());
  SHA256Final(digest.data(), &context);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

bool ObjectCache::fetch(const std::string &key, const fs::path &output) const {
  if (folder_.empty()) return false;
  std::error_code failure;
  return fs::copy_file(folder_ / (key + ".o"), output, fs::copy_options::overwrite_existing,
                       failure);
}

ObjectCache::Lock::Lock(const ObjectCache &cache, const std::string &key) {
  if (cache.folder_.empty()) return;
  file_ = cache.folder_ / (key + ".lock");
  descriptor_ = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

// Who waits on the removed file goes on with a lock of its own: at worst an object is made twice.
ObjectCache::Lock::~Lock() {
  if (descriptor_ < 0) return;
  unlink(file_.c_str());
  close(descriptor_);
}

void ObjectCache::store(const std::string &key, const fs::path &object) const {
  if (folder_.empty()) return;
  static std::atomic<int> serial{0};
  const fs::path partial = folder_ / fmt::format("{}.{}.{}", key, getpid(), serial++);
  std::error_code failure;
  if (fs::copy_file(object, partial, failure)) fs::rename(partial, folder_ / (key + ".o"), failure);
  if (failure) fs::remove(partial, failure);
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
