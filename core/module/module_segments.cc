// SPDX-License-Identifier: Apache-2.0
// Checks the program headers before the dynamic loader uses them. The dynamic loader trusts program
// headers: it reserves the sizes and maps the addresses that they contain.
#include "core/module/module_segments.h"

#include <algorithm>
#include <cstring>

#include "core/base/checked.h"

namespace gufunc::module {
namespace {

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

}  // namespace

std::vector<Elf64_Phdr> read_segments(const base::ElfFile &file) {
  Elf64_Ehdr header;  // ElfFile::open has checked that all headers are in the file
  std::memcpy(&header, file.bytes().data(), sizeof header);
  std::vector<Elf64_Phdr> all(header.e_phnum);
  std::memcpy(all.data(), file.bytes().data() + header.e_phoff, all.size() * sizeof(Elf64_Phdr));
  return all;
}

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

}  // namespace gufunc::module
