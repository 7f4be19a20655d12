// SPDX-License-Identifier: Apache-2.0
// Everything is checked on the sealed copy, never on the file: what changes the file afterwards
// does not matter.
#include "core/module/read_module.h"

#include <gufunc/module_table.h>

#include "core/backend/search_path.h"
#include "core/module/module_extent.h"
#include "core/module/module_segments.h"

namespace gufunc::module {
namespace {

constexpr uint64_t kMaxSize = uint64_t{1} << 30;
constexpr uint32_t kNoteVersion = 1;

guf_status copy_file(const char *path, SealedCopy *out, guf_error *error) {
  backend::CheckedFile file;
  GUF_TRY(backend::open_regular(path, &file, error));
  if (backend::process_is_privileged()) {
    GUF_TRY(backend::check_trust(path, file, backend::process_trust(), error));
  }
  if (file.size > kMaxSize) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "%s is too large for a module; found %llu bytes, wanted at most %llu", path,
                      static_cast<unsigned long long>(file.size),
                      static_cast<unsigned long long>(kMaxSize));
  }
  return out->copy(path, file, error);
}

guf_status check_digest(const char *path, ModuleFile *file, guf_error *error) {
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

guf_status read_module_file(const char *path, ModuleFile *out, guf_error *error) {
  GUF_TRY(copy_file(path, &out->copy, error));
  GUF_TRY(base::ElfFile::open(out->copy.bytes(), &out->elf, error));
  GUF_TRY(check_digest(path, out, error));
  out->segments = read_segments(out->elf);
  return check_segments(path, out->elf, &out->span, error);
}

}  // namespace gufunc::module
