// SPDX-License-Identifier: Apache-2.0
// Copies a file to sealed memory. The file is read, not mapped, so a file that becomes shorter
// during the copy causes an error and not a SIGBUS.
#include "core/module/sealed_copy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

namespace gufunc::module {
namespace {

constexpr unsigned kNoExecSeal = 0x0008U;  // MFD_NOEXEC_SEAL, which Linux 6.3 introduced
constexpr size_t kLongestName = 249;       // maximal length of the name of a memory file
constexpr size_t kBlock = 32 * 1024;

guf_status fail_copy(const char *path, int code, guf_error *error) {
  const bool no_memory = code == ENOMEM || code == ENOSPC;
  return base::fail_native(error, no_memory ? GUF_E_NO_MEMORY : GUF_E_IO, base::kNone, base::kNone,
                           code, "cannot make a sealed copy of %s in memory: %s", path,
                           std::strerror(code));
}

// Creates the memory file. The copy is mapped as a library but never executed as a program. Linux
// 6.3 introduced a flag that declares this, and can be configured to reject memory files without it
// (vm.memfd_noexec). Older kernels reject the flag with EINVAL.
int make_memory_file(const char *path) {
  const size_t length = std::strlen(path);
  const char *const name = path + (length > kLongestName ? length - kLongestName : 0);
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int made = memfd_create(name, flags | kNoExecSeal);
  return made < 0 && errno == EINVAL ? memfd_create(name, flags) : made;
}

// Returns whether a write would exceed RLIMIT_FSIZE and end the process with SIGXFSZ.
bool exceeds_file_limit(uint64_t size) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         size > limit.rlim_cur;
}

// Returns 0, or an errno value on failure.
int write_all(int descriptor, const char *bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = write(descriptor, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENOSPC;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return 0;
}

guf_status copy_content(const char *path, const base::CheckedFile &from, int to, guf_error *error) {
  const auto block = std::make_unique_for_overwrite<char[]>(kBlock);
  for (uint64_t done = 0; done < from.size;) {
    const ssize_t n = pread(from.descriptor.get(), block.get(),
                            std::min<uint64_t>(kBlock, from.size - done), static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return base::fail_native(
          error, GUF_E_IO, base::kNone, base::kNone, n < 0 ? errno : 0, "cannot read %s: %s", path,
          n < 0 ? std::strerror(errno) : "the file became shorter while it was read");
    }
    if (const int code = write_all(to, block.get(), static_cast<size_t>(n)); code != 0) {
      return fail_copy(path, code, error);
    }
    done += static_cast<uint64_t>(n);
  }
  return GUF_OK;
}

}  // namespace

guf_status SealedCopy::copy(const char *path, const base::CheckedFile &file, guf_error *error) {
  if (exceeds_file_limit(file.size)) return fail_copy(path, EFBIG, error);
  base::Descriptor made(make_memory_file(path));
  if (made.get() < 0) return fail_copy(path, errno, error);
  GUF_TRY(copy_content(path, file, made.get(), error));
  const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (fcntl(made.get(), F_ADD_SEALS, seals) != 0) return fail_copy(path, errno, error);
  file_.descriptor = std::move(made);
  file_.size = file.size;
  return mapped_.map(path, file_, error);
}

}  // namespace gufunc::module
