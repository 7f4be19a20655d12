// SPDX-License-Identifier: Apache-2.0
// Every question is put to the open descriptor, never to the path again: what was judged is what is
// used.
#include "core/backend/checked_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace gufunc::backend {
namespace {

guf_status check_owner_and_mode(const char *what, const char *path, uid_t owner, mode_t mode,
                                const TrustRule &rule, guf_error *error) {
  if (owner != 0 && owner != rule.effective_user && owner != rule.library_owner) {
    return base::fail(error, GUF_E_UNTRUSTED, base::kNone, base::kNone,
                      "%s %s is not trusted; its owner is user %u, wanted root, user %u or user %u",
                      what, path, owner, rule.effective_user, rule.library_owner);
  }
  if ((mode & S_IWOTH) != 0) {
    return base::fail(error, GUF_E_UNTRUSTED, base::kNone, base::kNone,
                      "%s %s is not trusted; everybody may write it (mode %04o)", what, path,
                      mode & 07777U);
  }
  return GUF_OK;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

guf_status open_regular(const char *path, CheckedFile *out, guf_error *error) {
  // O_NONBLOCK: opening a FIFO returns at once, and fstat then refuses it.
  Descriptor descriptor(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (descriptor.get() < 0) {
    return base::fail_native(error, GUF_E_IO, base::kNone, base::kNone, errno, "cannot open %s: %s",
                             path, std::strerror(errno));
  }
  struct stat status;
  if (fstat(descriptor.get(), &status) != 0) {
    return base::fail_native(error, GUF_E_IO, base::kNone, base::kNone, errno,
                             "cannot examine %s: %s", path, std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return base::fail(error, GUF_E_IO, base::kNone, base::kNone, "%s is not a regular file", path);
  }
  out->descriptor = std::move(descriptor);
  out->identity = {status.st_dev, status.st_ino};
  out->size = static_cast<uint64_t>(status.st_size);
  out->owner = status.st_uid;
  out->mode = status.st_mode;
  return GUF_OK;
}

guf_status check_trust(const char *path, const CheckedFile &file, const TrustRule &rule,
                       guf_error *error) {
  GUF_TRY(check_owner_and_mode("file", path, file.owner, file.mode, rule, error));
  std::string folder(path);
  folder.resize(folder.find_last_of('/') + 1);  // paths are absolute: there is one
  struct stat status;
  if (stat(folder.c_str(), &status) != 0) {
    return base::fail_native(error, GUF_E_IO, base::kNone, base::kNone, errno,
                             "cannot examine %s: %s", folder.c_str(), std::strerror(errno));
  }
  return check_owner_and_mode("directory", folder.c_str(), status.st_uid, status.st_mode, rule,
                              error);
}

MappedBytes::~MappedBytes() {
  if (!bytes_.empty()) munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

guf_status MappedBytes::map(const char *path, const CheckedFile &file, guf_error *error) {
  if (file.size == 0) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone, "%s is empty", path);
  }
  void *const address = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.descriptor.get(), 0);
  if (address == MAP_FAILED) {
    return base::fail_native(error, GUF_E_IO, base::kNone, base::kNone, errno, "cannot read %s: %s",
                             path, std::strerror(errno));
  }
  bytes_ = {static_cast<const std::byte *>(address), file.size};
  return GUF_OK;
}

}  // namespace gufunc::backend
