// SPDX-License-Identifier: Apache-2.0
// Reads 64-bit little-endian ELF files that nobody has vouched for: segments and notes, no code.
#ifndef GUFUNC_CORE_BASE_ELF_FILE_H
#define GUFUNC_CORE_BASE_ELF_FILE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/error.h"

namespace gufunc::base {

// Where a piece of a file lies. Always inside the file it was found in.
struct FileRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// A read-only view of an ELF image in memory; borrows the bytes.
class ElfFile {
 public:
  static constexpr size_t kMaxSegments = 64;

  // Checks magic, class, byte order, type ET_DYN, machine x86-64 (or the host's), header sizes, and
  // that every program header lies inside the file.
  // Errors  GUF_E_BAD_FILE <= anything else; the message says which field
  static guf_status open(std::span<const std::byte> bytes, ElfFile *out, guf_error *error);

  // What open() asks of the header, of a file's first bytes: for whoever has no more of it yet.
  // Errors  GUF_E_BAD_FILE
  static guf_status check_start(std::span<const std::byte> start, uint64_t file_size,
                                guf_error *error);

  // PT_LOAD ranges in file order.
  std::span<const FileRange> loads() const { return {loads_, nloads_}; }

  // Finds the note (owner `name`, `type`) in the PT_NOTE segments. False when there is none or it
  // is malformed.
  bool find_note(std::string_view name, uint32_t type, FileRange *out_descriptor) const;

  // The same in the bytes of one PT_NOTE segment; the descriptor's range counts from its start.
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
