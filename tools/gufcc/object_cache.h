// SPDX-License-Identifier: Apache-2.0
// Objects kept by the content of what they were compiled from.
#ifndef GUFUNC_TOOLS_GUFCC_OBJECT_CACHE_H
#define GUFUNC_TOOLS_GUFCC_OBJECT_CACHE_H

#include <filesystem>
#include <string>

#include "files.h"

namespace gufunc::gufcc {

class ObjectCache {
 public:
  // An empty folder: nothing is kept. A folder that another user could write to, by itself or
  // through one above it, is not used: whoever can put an object there has its code run.
  explicit ObjectCache(const std::filesystem::path &folder);

  // Why a folder that exists is not used; empty when it is.
  const std::string &refusal() const { return refusal_; }

  // Name for an object: SHA-256 of `text`, in hexadecimal.
  static std::string key(const std::string &text);

  // Copies the object of that name to `output`; false when there is none, or when it is not, bit
  // for bit, what was stored under that name.
  bool fetch(const std::string &key, const std::filesystem::path &output) const;

  // Waits while another gufcc makes the object of that name; then it is the caller's to make, as
  // long as the lock lives.
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

  // Keeps a copy of `object` and its SHA-256. A cache that cannot be written is no error: the next
  // build is slower.
  void store(const std::string &key, const std::filesystem::path &object) const;

 private:
  Descriptor folder_;
  std::string refusal_;
};

// $XDG_CACHE_HOME/gufunc/gufcc or ~/.cache/gufunc/gufcc; empty when neither is known.
std::filesystem::path default_cache_folder();

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_OBJECT_CACHE_H
