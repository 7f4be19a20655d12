// SPDX-License-Identifier: Apache-2.0
// Reads module files. All checks run on the sealed copy, so later changes of the file have no
// effect. Headers and notes are first read from the file itself, so that a file that is not a
// module is rejected before it is copied. These early checks only reject files and do not replace
// the checks of the copy. The file is read, not mapped, so a file that becomes shorter during the
// copy causes an error and not a SIGBUS.
//
// The dynamic loader trusts program headers: it reserves the sizes and maps the addresses that they
// contain. The program headers are therefore checked first, and then the size of the file. A loaded
// module does not use sections, which matter here only because they may be the last part of the
// file. `strip` rewrites sections and may remove all of them.
#include "core/module/read_module.h"

#include <elf.h>
#include <fcntl.h>
#include <gufunc/module_table.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/checked.h"
#include "core/base/elf_file.h"
#include "core/base/file_trust.h"

namespace gufunc::module {
namespace {

// A module may occupy at most this number of bytes of memory more than the size of its file.
constexpr uint64_t kMaxBeyondFile = uint64_t{64} << 20;

constexpr unsigned kNoExecSeal = 0x0008U;  // MFD_NOEXEC_SEAL, which Linux 6.3 introduced
constexpr size_t kLongestName = 249;       // maximum length of the name of a memory file
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

guf_status fail_malformed(const char *path, guf_error *error) {
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "%s is damaged; its section headers are malformed or are outside the file",
                    path);
}

// Computes the end of the section headers and of the sections.
guf_status find_sections_end(const char *path, std::span<const std::byte> bytes,
                             const Elf64_Ehdr &header, uint64_t *out, guf_error *error) {
  if (header.e_shoff == 0 && header.e_shnum == 0) return GUF_OK;
  const uint64_t size = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shoff > bytes.size() || size > bytes.size() - header.e_shoff) {
    return fail_malformed(path, error);
  }
  *out = std::max(*out, header.e_shoff + size);
  for (uint64_t at = header.e_shoff; at < header.e_shoff + size; at += sizeof(Elf64_Shdr)) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + at, sizeof section);
    if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS) continue;
    uint64_t end = 0;
    if (__builtin_add_overflow(section.sh_offset, section.sh_size, &end)) {
      return fail_malformed(path, error);
    }
    *out = std::max(*out, end);
  }
  return GUF_OK;
}

// Checks that the file ends where its last segment, section or header ends. The digest does not
// detect bytes that are missing after the segments or that are appended to the file.
// Errors  GUF_E_BAD_FILE <= the file is shorter or longer, or its section headers are malformed
guf_status check_extent(const char *path, const base::ElfFile &file, guf_error *error) {
  Elf64_Ehdr header;  // ElfFile::open has checked this header and the program headers
  std::memcpy(&header, file.bytes().data(), sizeof header);
  uint64_t end = header.e_phoff + uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  for (const base::FileRange &load : file.loads()) end = std::max(end, load.offset + load.size);
  GUF_TRY(find_sections_end(path, file.bytes(), header, &end, error));
  if (file.bytes().size() == end) return GUF_OK;
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "%s is damaged; its size in bytes: expected %llu, got %zu", path,
                    static_cast<unsigned long long>(end), file.bytes().size());
}

constexpr uint64_t kPageSize = 4096;
constexpr uint64_t kMaxAlignment = uint64_t{2} << 20;

class SegmentCheck {
 public:
  SegmentCheck(const char *path, uint64_t limit, guf_error *error)
      : path_(path), limit_(limit), error_(error) {}

  guf_status load(const Elf64_Phdr &segment) {
    uint64_t end = 0;
    if (!base::checked_add<uint64_t>(segment.p_vaddr, segment.p_memsz, &end) || end > limit_) {
      return too_large(segment.p_memsz, segment.p_vaddr);
    }
    if (segment.p_vaddr < end_) {
      return base::fail(error_, GUF_E_BAD_FILE, base::kNone, base::kNone,
                        "%s is malformed; a segment begins at address 0x%llx, expected at least "
                        "0x%llx, the end of the one before it",
                        path_, static_cast<unsigned long long>(segment.p_vaddr),
                        static_cast<unsigned long long>(end_));
    }
    const bool is_power = (segment.p_align & (segment.p_align - 1)) == 0;
    if (!is_power || segment.p_align > kMaxAlignment ||
        segment.p_vaddr % kPageSize != segment.p_offset % kPageSize) {
      return base::fail(error_, GUF_E_BAD_FILE, base::kNone, base::kNone,
                        "%s is malformed; a segment has offset 0x%llx, address 0x%llx and "
                        "alignment 0x%llx, expected the same place in a page and a power of two "
                        "up to 0x%llx",
                        path_, static_cast<unsigned long long>(segment.p_offset),
                        static_cast<unsigned long long>(segment.p_vaddr),
                        static_cast<unsigned long long>(segment.p_align),
                        static_cast<unsigned long long>(kMaxAlignment));
    }
    end_ = end;
    return GUF_OK;
  }
  guf_status thread_local_block(const Elf64_Phdr &segment) {
    return segment.p_memsz <= limit_ && segment.p_align <= kMaxAlignment
               ? GUF_OK
               : too_large(segment.p_memsz, segment.p_vaddr);
  }
  uint64_t end() const { return end_; }

 private:
  guf_status too_large(uint64_t size, uint64_t address) {
    return base::fail(error_, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "%s requests too much memory; a segment of %llu bytes at address 0x%llx, "
                      "expected at most %llu bytes in all, 64 MiB more than the file has",
                      path_, static_cast<unsigned long long>(size),
                      static_cast<unsigned long long>(address),
                      static_cast<unsigned long long>(limit_));
  }

  const char *const path_;
  const uint64_t limit_;
  guf_error *const error_;
  uint64_t end_ = 0;
};

// Returns all program headers of the file.
std::vector<Elf64_Phdr> read_segments(const base::ElfFile &file) {
  Elf64_Ehdr header;  // ElfFile::open has checked that all headers are in the file
  std::memcpy(&header, file.bytes().data(), sizeof header);
  std::vector<Elf64_Phdr> all(header.e_phnum);
  std::memcpy(all.data(), file.bytes().data() + header.e_phoff, all.size() * sizeof(Elf64_Phdr));
  return all;
}

// Checks that the loaded segments are in ascending order in memory and do not overlap,
// that their addresses match their file offsets, and that the segments and the
// thread-local block exceed the file size `file_size` by at most kMaxBeyondFile. Writes
// the end of the last segment to `*out_span`.
// Errors  GUF_E_BAD_FILE <= a segment violates a rule; the message names it and its values
guf_status check_segments(const char *path, std::span<const Elf64_Phdr> segments,
                          uint64_t file_size, uint64_t *out_span, guf_error *error) {
  SegmentCheck check(path, file_size + kMaxBeyondFile, error);
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type == PT_LOAD) GUF_TRY(check.load(segment));
    if (segment.p_type == PT_TLS) GUF_TRY(check.thread_local_block(segment));
  }
  *out_span = check.end();
  return GUF_OK;
}

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
    if (base::ElfFile::find_note_in(notes, base::kNoteOwner, base::kModuleNoteType, &found))
      return GUF_OK;
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

guf_status read_module_file(const char *path, ModuleFile *out, guf_error *error) {
  GUF_TRY(copy_file(path, &out->copy, error));
  GUF_TRY(base::ElfFile::open(out->copy.bytes(), &out->elf, error));
  GUF_TRY(check_apart(path, out->elf.loads(), error));
  GUF_TRY(check_digest(path, out, error));
  out->segments = read_segments(out->elf);
  return check_segments(path, out->segments, out->elf.bytes().size(), &out->span, error);
}

}  // namespace gufunc::module
