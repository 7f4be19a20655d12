// SPDX-License-Identifier: Apache-2.0
// Reader of untrusted 64-bit little-endian ELF files. It reads segments and notes only.
#ifndef GUFUNC_CORE_BASE_ELF_FILE_H
#define GUFUNC_CORE_BASE_ELF_FILE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/error.h"

namespace gufunc::base {

// The owner of the notes in this project's modules and plugins, and their types.
inline constexpr char kNoteOwner[] = "gufunc";
inline constexpr uint32_t kModuleNoteType = 0x6D01;   // a module::ModuleNote
inline constexpr uint32_t kBackendNoteType = 0x6201;  // text; see gufunc/backend.h

// A byte range that is always inside the file.
struct FileRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// A read-only view of an ELF image in memory. The bytes are borrowed.
class ElfFile {
 public:
  static constexpr size_t kMaxSegments = 64;

  // Checks the magic, class, byte order, type ET_DYN, the host's machine, the header sizes, and
  // that the program headers and all PT_LOAD and PT_NOTE segments are inside the file.
  // Errors  GUF_E_BAD_FILE <= a check fails; the message names the field
  static guf_status open(std::span<const std::byte> bytes, ElfFile *out, guf_error *error);

  // Applies open()'s checks of the header to the first bytes of a file, so that callers can reject
  // a file before they read the rest.
  // Errors  GUF_E_BAD_FILE <= as open()
  static guf_status check_start(std::span<const std::byte> start, uint64_t file_size,
                                guf_error *error);

  // The file ranges of the PT_LOAD segments, in file order.
  std::span<const FileRange> loads() const { return {loads_, nloads_}; }

  // Finds the note with owner `name` and type `type` in the PT_NOTE segments. Returns false if
  // there is no such note or if it is malformed.
  bool find_note(std::string_view name, uint32_t type, FileRange *out_descriptor) const;

  // Like find_note, but searches the bytes of one PT_NOTE segment. The offset of the returned
  // descriptor is relative to the segment.
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
