// SPDX-License-Identifier: Apache-2.0
// Files appear under their name by rename, so that builds side by side never see half an object.
// Each ends in a digest: disks fill up, machines lose power and other programs write into folders.
#include "object_cache.h"

#include <fcntl.h>
#include <sha2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "files.h"

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

std::string sha256(const std::string &text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const uint8_t *>(text.data()), text.size());
  SHA256Final(reinterpret_cast<uint8_t *>(digest.data()), &context);
  return digest;
}

// Over the name too, so that an object under another's name is found out.
std::string seal(const std::string &key, const std::string &object) {
  return sha256(key + object);
}

}  // namespace

ObjectCache::ObjectCache(fs::path folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  if (!folder_.has_filename()) folder_ = folder_.parent_path();  // "cache/"
  std::error_code failure;
  if (folder_.has_parent_path()) fs::create_directories(folder_.parent_path(), failure);
  mkdir(folder_.c_str(), 0700);  // a folder that exists keeps the mode that its owner gave it
  if (!fs::is_directory(folder_, failure)) folder_.clear();
}

std::string ObjectCache::key(const std::string &text) {
  std::string name;
  for (const char byte : sha256(text)) {
    name += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return name;
}

bool ObjectCache::fetch(const std::string &key, const fs::path &output) const {
  if (folder_.empty()) return false;
  std::error_code failure;
  const fs::path kept = folder_ / (key + ".o");
  if (!fs::is_regular_file(kept, failure)) return false;
  Diagnostics unheard;  // whatever is wrong with the object, it is compiled anew
  std::string content;
  if (!read_file(kept, &content, &unheard) || content.size() < SHA256_DIGEST_LENGTH) return false;
  const std::string digest = content.substr(content.size() - SHA256_DIGEST_LENGTH);
  content.resize(content.size() - SHA256_DIGEST_LENGTH);
  return seal(key, content) == digest && write_file(output, content, &unheard);
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
  Diagnostics unheard;
  std::string content;
  if (!read_file(object, &content, &unheard)) return;
  std::error_code failure;
  if (write_file(partial, content + seal(key, content), &unheard)) {
    fs::rename(partial, folder_ / (key + ".o"), failure);
  }
  fs::remove(partial, failure);  // there only when it could not be put into place
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
