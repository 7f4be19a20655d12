// SPDX-License-Identifier: Apache-2.0
// Each write replaces the closing bracket of the previous write and adds a new one, so the file is
// valid JSON even if the process ends unexpectedly.
#include "core/trace/trace_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gufunc::trace {
namespace {

using base::kNone;

guf_status fail_system(guf_error *error, const char *what, int code) {
  return base::fail_native(error, GUF_E_IO, kNone, kNone, code, "%s: %s", what,
                           strerrordesc_np(code));
}

}  // namespace

bool expand_path(const char *path, int64_t process, char *out, size_t size) {
  size_t used = 0;
  while (*path != '\0') {
    char number[24] = {*path, '\0'};
    const bool placeholder = path[0] == '%' && path[1] == 'p';
    if (placeholder) std::snprintf(number, sizeof number, "%lld", static_cast<long long>(process));
    const size_t length = std::strlen(number);
    if (used + length >= size) return false;
    std::memcpy(out + used, number, length);
    used += length;
    path += placeholder ? 2 : 1;
  }
  out[used] = '\0';
  return used > 0;
}

// O_NONBLOCK rejects a pipe without a reader instead of blocking. A child program inherits
// GUFUNC_TRACE; the lock prevents it from truncating its parent's file.
guf_status TraceFile::open(const char *path, guf_error *error) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  file_ = base::Descriptor(::open(path, kFlags, S_IRUSR | S_IWUSR));
  if (!file_.is_open()) return fail_system(error, path, errno);
  struct stat about = {};
  if (fstat(file_.get(), &about) != 0) return fail_system(error, path, errno);
  const bool ordinary = S_ISREG(about.st_mode);
  if (!ordinary && !S_ISCHR(about.st_mode)) {
    return base::fail(error, GUF_E_IO, kNone, kNone, "%s is not a regular file", path);
  }
  if (ordinary && flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return base::fail(
        error, GUF_E_IO, kNone, kNone,
        "%s is in use as the trace of another process; %%p in the name inserts the process id",
        path);
  }
  if (ordinary && ftruncate(file_.get(), 0) != 0) return fail_system(error, path, errno);
  GUF_TRY(write_at("[\n]\n", 4, 0, error));
  end_ = 1;
  return GUF_OK;
}

guf_status TraceFile::write_at(const char *bytes, size_t length, uint64_t offset,
                               guf_error *error) {
  while (length > 0) {
    const ssize_t written = pwrite(file_.get(), bytes, length, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail_system(error, "writing it", written < 0 ? errno : ENOSPC);
    bytes += written;
    length -= static_cast<size_t>(written);
    offset += static_cast<uint64_t>(written);
  }
  return GUF_OK;
}

guf_status TraceFile::add(const char *event, size_t length, guf_error *error) {
  constexpr size_t kBetween = 2;
  if (length + kBetween > kCapacity) return GUF_OK;  // no event is that long
  if (used_ + length + kBetween > kCapacity) GUF_TRY(write_out(error));
  const char *const between = first_ ? "\n" : ",\n";
  first_ = false;
  const size_t more = std::strlen(between);
  std::memcpy(buffer_ + used_, between, more);
  std::memcpy(buffer_ + used_ + more, event, length);
  used_ += more + length;
  return GUF_OK;
}

guf_status TraceFile::write_out(guf_error *error) {
  if (used_ == 0) return GUF_OK;
  constexpr size_t kClosingBytes = sizeof kClosing - 1;
  std::memcpy(buffer_ + used_, kClosing, kClosingBytes);
  const guf_status status = write_at(buffer_, used_ + kClosingBytes, end_, error);
  if (status != GUF_OK) {
    // Restore the closing bracket, so that the events written so far stay readable. This needs no
    // disk space, because the file already contained the bracket.
    const auto size = static_cast<off_t>(end_ + kClosingBytes);
    [[maybe_unused]] const bool restored =
        write_at(kClosing, kClosingBytes, end_, nullptr) == GUF_OK &&
        ftruncate(file_.get(), size) == 0;
    return status;
  }
  end_ += used_;
  used_ = 0;
  return GUF_OK;
}

}  // namespace gufunc::trace
