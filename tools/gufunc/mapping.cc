// SPDX-License-Identifier: Apache-2.0
#include "mapping.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <utility>

#include "core/base/utf8.h"
#include "fatal_signals.h"
#include "outcome.h"

namespace gufunc::cli {

Mapping::Mapping(Mapping &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping &Mapping::operator=(Mapping &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ == nullptr) return;
  forget_mapping(data_);
  ::munmap(data_, size_);
}

Mapping Mapping::of(int fd, size_t size, Mode mode, const std::string &name) {
  Mapping mapping;
  if (size == 0) return mapping;
  const int protection = mode == Mode::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  void *const data =
      ::mmap(nullptr, size, protection, mode == Mode::kShared ? MAP_SHARED : MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) fail_file(name, "map");
  mapping.data_ = static_cast<std::byte *>(data);
  mapping.size_ = size;
  name_mapping(data, size, base::printable(name).c_str());
  return mapping;
}

Mapping Mapping::anonymous(size_t size, const std::string &name) {
  Mapping mapping;
  if (size == 0) return mapping;
  void *const data =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    throw Failure(Exit::kRunTime, fmt::format("{}: no memory for {} bytes", name, size));
  mapping.data_ = static_cast<std::byte *>(data);
  mapping.size_ = size;
  return mapping;
}

}  // namespace gufunc::cli
