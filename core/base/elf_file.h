// SPDX-License-Identifier: Apache-2.0
// Reader of untrusted 64-bit little-endian ELF files: segments and notes, no code.
#ifndef GUFUNC_CORE_BASE_ELF_FILE_H
#define GUFUNC_CORE_BASE_ELF_FILE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/error.h"

namespace gufunc::base {

// A byte range of a file. It is always inside the file.
struct FileRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// A read-only view of an ELF image in memory; borrows the bytes.
class ElfFile {
 public:
  static constexpr size_t kMaxSegments = 64;

  // Checks the magic, class, byte order, type ET_DYN, the host's machine, the header sizes, and
  // that every program header is inside the file.
  // Errors  GUF_E_BAD_FILE <= any of them is wrong; the message names the field
  static guf_status open(std::span<const std::byte> bytes, ElfFile *out, guf_error *error);

  // Runs open()'s checks of the header on the first bytes of a file, for callers that have not read
  // the rest.
  // Errors  GUF_E_BAD_FILE <= as open()
  static guf_status check_start(std::span<const std::byte> start, uint64_t file_size,
                                guf_error *error);

  // The PT_LOAD ranges, in file order.
  std::span<const FileRange> loads() const { return {loads_, nloads_}; }

  // Finds the note with owner `name` and type `type` in the PT_NOTE segments. Returns false if
  // there is none or it is malformed.
  bool find_note(std::string_view name, uint32_t type, FileRange *out_descriptor) const;

  // The same for the bytes of one PT_NOTE segment. The descriptor's offset is relative to the
  // segment.
  static bool find_note_in(std::span<const std::byte> segment, std::string_view name, uint32_t type,
                           FileRange *out_descriptor);

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  FileRange loads_[kMaxSegments] = {};
  size_t nloads_ = 0;
  FileRange notes_[kMaxSegments] = {};
  size_t nnotes_ = 0;
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_ELF_FILE_H
