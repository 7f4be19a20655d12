// SPDX-License-Identifier: Apache-2.0
// Files that are opened once and examined only through the open descriptor.
#ifndef GUFUNC_CORE_BASE_CHECKED_FILE_H
#define GUFUNC_CORE_BASE_CHECKED_FILE_H

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/descriptor.h"
#include "core/base/error.h"

namespace gufunc::base {

// Identifies a file independently of its names. A file that replaces another one
// under the same name has a different identity.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;

  bool operator==(const FileIdentity &) const = default;
};

struct CheckedFile {
  Descriptor descriptor;
  FileIdentity identity;
  uint64_t size = 0;
  uid_t owner = 0;
  gid_t group = 0;
  mode_t mode = 0;
};

// Opens a file for reading. Does not block on a FIFO. Rejects everything that is not a regular
// file.
// Errors  GUF_E_IO <= the file cannot be opened, or is not a regular file;  GUF_E_NO_MEMORY
guf_status open_regular(const char *path, CheckedFile *out, guf_error *error);

// The bytes of a file, mapped for reading.
class MappedBytes {
 public:
  MappedBytes() = default;
  MappedBytes(const MappedBytes &) = delete;
  MappedBytes &operator=(const MappedBytes &) = delete;
  ~MappedBytes();
  // Errors  GUF_E_IO;  GUF_E_BAD_FILE <= empty file;  GUF_E_NO_MEMORY <= not enough address space
  guf_status map(const char *path, const CheckedFile &file, guf_error *error);
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_CHECKED_FILE_H
