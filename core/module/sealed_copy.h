// SPDX-License-Identifier: Apache-2.0
// A snapshot of a file's content in memory that cannot be modified.
#ifndef GUFUNC_CORE_MODULE_SEALED_COPY_H
#define GUFUNC_CORE_MODULE_SEALED_COPY_H

#include <cstddef>
#include <span>

#include "core/base/checked_file.h"

namespace gufunc::module {

// A memory file (memfd_create) with all seals, which no process can write, shrink or grow. The
// dynamic loader therefore maps exactly the bytes that were checked.
class SealedCopy {
 public:
  // Copies the whole file. `path` names the copy in /proc/PID/maps and in messages.
  // Errors  GUF_E_IO <= the file cannot be read or became shorter, or the system does not support
  //                     memory files
  //         GUF_E_NO_MEMORY;  GUF_E_BAD_FILE <= the file is empty
  guf_status copy(const char *path, const base::CheckedFile &file, guf_error *error);

  int descriptor() const { return file_.descriptor.get(); }
  std::span<const std::byte> bytes() const { return mapped_.bytes(); }

 private:
  base::CheckedFile file_;
  base::MappedBytes mapped_;
};

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_SEALED_COPY_H
