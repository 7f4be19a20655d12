// SPDX-License-Identifier: Apache-2.0
// Reads module files. All checks run on the sealed copy, so later changes of the file
// have no effect. Headers and notes are first read from the file itself, so that a file
// that is not a module is rejected before it is copied. These early checks only reject
// files and do not replace the checks of the copy.
#include "core/module/read_module.h"

#include <gufunc/module_table.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/file_trust.h"
#include "core/module/module_extent.h"
#include "core/module/module_segments.h"

namespace gufunc::module {
namespace {

// Copying and hashing a file of this size takes 0.4 to 0.6 s (SHA-256 of libmd at 260 MB/s).
constexpr uint64_t kMaxSize = uint64_t{64} << 20;
constexpr uint64_t kMaxNotes = uint64_t{64} << 10;  // limit per segment, before the file is copied
constexpr uint32_t kNoteVersion = 1;

guf_status read_at(const char *path, const base::CheckedFile &file, uint64_t offset,
                   std::span<std::byte> to, guf_error *error) {
  for (size_t done = 0; done < to.size();) {
    const ssize_t n = pread(file.descriptor.get(), to.data() + done, to.size() - done,
                            static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return base::fail_native(
          error, GUF_E_IO, base::kNone, base::kNone, n < 0 ? errno : 0, "cannot read %s: %s", path,
          n < 0 ? std::strerror(errno) : "the file became shorter while it was read");
    }
    done += static_cast<size_t>(n);
  }
  return GUF_OK;
}

// Checks that one of the segments contains a module note.
guf_status check_notes(const char *path, const base::CheckedFile &file,
                       std::span<const Elf64_Phdr> segments, guf_error *error) {
  std::vector<std::byte> notes;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_offset >= file.size) continue;
    notes.resize(std::min({segment.p_filesz, file.size - segment.p_offset, kMaxNotes}));
    GUF_TRY(read_at(path, file, segment.p_offset, notes, error));
    base::FileRange found;
    if (base::ElfFile::find_note_in(notes, kNoteOwner, kModuleNoteType, &found)) return GUF_OK;
  }
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "%s is not a gufunc module; the file has no gufunc module note", path);
}

guf_status check_before_copy(const char *path, const base::CheckedFile &file, guf_error *error) {
  if (file.size == 0) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone, "%s is empty", path);
  }
  Elf64_Ehdr header;
  const auto start = std::as_writable_bytes(std::span(&header, 1));
  const auto present = start.first(std::min<uint64_t>(start.size(), file.size));
  GUF_TRY(read_at(path, file, 0, present, error));
  GUF_TRY(base::ElfFile::check_start(present, file.size, error));
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  GUF_TRY(read_at(path, file, header.e_phoff, std::as_writable_bytes(std::span(segments)), error));
  uint64_t span = 0;
  GUF_TRY(check_segments(path, segments, file.size, &span, error));
  GUF_TRY(check_notes(path, file, segments, error));
  if (file.size <= kMaxSize) return GUF_OK;
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "%s is too large for a module; expected at most %llu bytes, got %llu", path,
                    static_cast<unsigned long long>(kMaxSize),
                    static_cast<unsigned long long>(file.size));
}

guf_status copy_file(const char *path, SealedCopy *out, guf_error *error) {
  base::CheckedFile file;
  GUF_TRY(base::open_regular(path, &file, error));
  if (base::process_is_privileged()) {
    base::TrustRule trust;
    GUF_TRY(base::process_trust(&trust, error));
    GUF_TRY(base::check_trust(path, file, trust, error));
  }
  GUF_TRY(check_before_copy(path, file, error));
  return out->copy(path, file, error);
}

// Checks that segments do not share bytes. Linkers never produce overlapping segments, and hashing
// overlapping segments could take as long as hashing many files.
guf_status check_apart(const char *path, std::span<const base::FileRange> loads, guf_error *error) {
  uint64_t end = 0;
  for (const base::FileRange &load : loads) {
    if (load.size == 0) continue;
    if (load.offset < end) {
      return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                        "%s is malformed; a segment's bytes begin at %llu, expected at least %llu, "
                        "the end of another's",
                        path, static_cast<unsigned long long>(load.offset),
                        static_cast<unsigned long long>(end));
    }
    end = load.offset + load.size;
  }
  return GUF_OK;
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
                      "%s was made for another libgufunc; note %u, kernel ABI: expected %d, got %u",
                      path, note.version, GUF_KERNEL_ABI, note.kernel_abi);
  }
  return GUF_OK;
}

}  // namespace

guf_status read_module_file(const char *path, ModuleFile *out, guf_error *error) {
  GUF_TRY(copy_file(path, &out->copy, error));
  GUF_TRY(base::ElfFile::open(out->copy.bytes(), &out->elf, error));
  GUF_TRY(check_apart(path, out->elf.loads(), error));
  GUF_TRY(check_digest(path, out, error));
  out->segments = read_segments(out->elf);
  return check_segments(path, out->segments, out->elf.bytes().size(), &out->span, error);
}

}  // namespace gufunc::module
