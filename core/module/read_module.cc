// SPDX-License-Identifier: Apache-2.0
// The file is read, not mapped: a file that shrinks while it is looked at is then an error, not a
// SIGBUS.
#include "core/module/read_module.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <gufunc/module_table.h>

#include "core/module/module_extent.h"

namespace gufunc::module {
namespace {

constexpr uint64_t kMaxSize = uint64_t{1} << 30;
constexpr uint32_t kNoteVersion = 1;

guf_status read_all(const char *path, const backend::CheckedFile &file, std::vector<std::byte> *out,
                    guf_error *error) {
  if (file.size > kMaxSize) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "%s is too large for a module; found %llu bytes, wanted at most %llu", path,
                      static_cast<unsigned long long>(file.size),
                      static_cast<unsigned long long>(kMaxSize));
  }
  out->resize(file.size);
  size_t done = 0;
  while (done < out->size()) {
    const ssize_t n = pread(file.descriptor.get(), out->data() + done, out->size() - done,
                            static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return base::fail_native(error, GUF_E_IO, base::kNone, base::kNone, n < 0 ? errno : 0,
                               "cannot read %s: %s", path,
                               n < 0 ? std::strerror(errno) : "it became shorter");
    }
    done += static_cast<size_t>(n);
  }
  return GUF_OK;
}

guf_status check_digest(const char *path, ModuleFile *file, guf_error *error) {
  GUF_TRY(base::ElfFile::open(file->bytes, &file->elf, error));
  ModuleNote note;
  uint64_t digest_offset = 0;
  GUF_TRY(compute_digest(file->elf, &note, &file->digest, &digest_offset, error));
  if (note.digest != file->digest) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "%s is damaged; its digest differs from the one in its note", path);
  }
  GUF_TRY(check_extent(path, file->elf, error));
  if (note.version != kNoteVersion || note.kernel_abi != GUF_KERNEL_ABI) {
    return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                      "%s was made for another libgufunc; note %u, kernel ABI: found %u, wanted %d",
                      path, note.version, note.kernel_abi, GUF_KERNEL_ABI);
  }
  return GUF_OK;
}

}  // namespace

std::vector<Elf64_Phdr> ModuleFile::segments() const {
  Elf64_Ehdr header;  // ElfFile::open has checked that all of this lies inside
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<Elf64_Phdr> all(header.e_phnum);
  std::memcpy(all.data(), bytes.data() + header.e_phoff, all.size() * sizeof(Elf64_Phdr));
  return all;
}

guf_status read_module_file(const char *path, ModuleFile *out, guf_error *error) {
  ModuleFile file;
  GUF_TRY(backend::open_regular(path, &file.file, error));
  GUF_TRY(read_all(path, file.file, &file.bytes, error));
  GUF_TRY(check_digest(path, &file, error));
  *out = std::move(file);
  return GUF_OK;
}

}  // namespace gufunc::module
