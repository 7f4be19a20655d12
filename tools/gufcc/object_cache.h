// SPDX-License-Identifier: Apache-2.0
// Compiled objects, cached under a hash of their input.
#ifndef GUFUNC_TOOLS_GUFCC_OBJECT_CACHE_H
#define GUFUNC_TOOLS_GUFCC_OBJECT_CACHE_H

#include <filesystem>
#include <string>

#include "files.h"

namespace gufunc::gufcc {

class ObjectCache {
 public:
  // An empty path disables the cache. A folder that another user could write to, directly or
  // through a parent folder, is not used: an object placed there would be executed as the user's
  // code.
  explicit ObjectCache(const std::filesystem::path &folder);

  // Why an existing folder is not used; "" if it is used.
  const std::string &refusal() const { return refusal_; }

  // Key of an object: SHA-256 of `text`, in hexadecimal.
  static std::string key(const std::string &text);

  // Copies an object to `output`. Returns false if the cache has no such object, if its file was
  // changed after store(), or if `output` cannot be written.
  bool fetch(const std::string &key, const std::filesystem::path &output) const;

  // Waits while another gufcc compiles the same object. The holder of the lock may compile it.
  class Lock {
   public:
    Lock(const ObjectCache &cache, const std::string &key);
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;
    ~Lock();

   private:
    const ObjectCache &cache_;
    std::string name_;
    Descriptor file_;
  };

  // Stores a copy of `object` and its SHA-256. A cache that cannot be written is not an error; the
  // next build is slower.
  void store(const std::string &key, const std::filesystem::path &object) const;

 private:
  Descriptor folder_;
  std::string refusal_;
};

// $XDG_CACHE_HOME/gufunc/gufcc or ~/.cache/gufunc/gufcc; "" if neither variable is an absolute
// path.
std::filesystem::path default_cache_folder();

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_OBJECT_CACHE_H
