// SPDX-License-Identifier: Apache-2.0
// Memory mappings of files, and anonymous mappings.
#ifndef GUFUNC_TOOLS_GUFUNC_MAPPING_H
#define GUFUNC_TOOLS_GUFUNC_MAPPING_H

#include <cstddef>
#include <span>
#include <string>

namespace gufunc::cli {

// The destructor unmaps the memory.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  Mapping(Mapping &&other) noexcept;
  Mapping &operator=(Mapping &&other) noexcept;
  ~Mapping();

  // `kPrivate`: writes stay in memory. `kShared`: writes go to the file. Throws Failure: kRunTime
  // if memory is lacking, otherwise kFile.
  enum class Mode { kRead, kPrivate, kShared };
  static Mapping of(int fd, size_t size, Mode mode, const std::string &name);
  // Zeroed memory without a file. Throws Failure(kRunTime).
  static Mapping anonymous(size_t size, const std::string &name);

  std::byte *data() const { return data_; }
  size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte *data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_MAPPING_H
