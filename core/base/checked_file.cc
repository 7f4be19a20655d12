// SPDX-License-Identifier: Apache-2.0
// A file is examined only through its open descriptor, never again by its path. The file that was
// checked is therefore the file that is used.
#include "core/base/checked_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gufunc::base {
namespace {

guf_status fail_file(const char *what, const char *path, int code, guf_error *error) {
  return base::fail_native(error, status_of_errno(code), base::kNone, base::kNone, code,
                           "cannot %s %s: %s", what, path, std::strerror(code));
}

}  // namespace

guf_status open_regular(const char *path, CheckedFile *out, guf_error *error) {
  // With O_NONBLOCK, opening a FIFO returns immediately; the check after fstat then rejects it.
  Descriptor descriptor(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (descriptor.get() < 0) return fail_file("open", path, errno, error);
  struct stat status;
  if (fstat(descriptor.get(), &status) != 0) return fail_file("examine", path, errno, error);
  if (!S_ISREG(status.st_mode)) {
    return base::fail(error, GUF_E_IO, base::kNone, base::kNone, "%s is not a regular file", path);
  }
  out->descriptor = std::move(descriptor);
  out->identity = {status.st_dev, status.st_ino};
  out->size = static_cast<uint64_t>(status.st_size);
  out->owner = status.st_uid;
  out->group = status.st_gid;
  out->mode = status.st_mode;
  return GUF_OK;
}

MappedBytes::~MappedBytes() {
  if (!bytes_.empty()) munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

guf_status MappedBytes::map(const char *path, const CheckedFile &file, guf_error *error) {
  if (file.size == 0) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone, "%s is empty", path);
  }
  void *const address = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.descriptor.get(), 0);
  if (address == MAP_FAILED) return fail_file("map", path, errno, error);
  bytes_ = {static_cast<const std::byte *>(address), file.size};
  return GUF_OK;
}

}  // namespace gufunc::base
