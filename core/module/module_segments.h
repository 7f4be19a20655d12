// SPDX-License-Identifier: Apache-2.0
// Checks the segments of a module before any memory is reserved for them.
#ifndef GUFUNC_CORE_MODULE_MODULE_SEGMENTS_H
#define GUFUNC_CORE_MODULE_MODULE_SEGMENTS_H

#include <elf.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/elf_file.h"

namespace gufunc::module {

// A module may occupy at most this number of bytes of memory more than the size of its file.
inline constexpr uint64_t kMaxBeyondFile = uint64_t{64} << 20;

// Returns all program headers of the file.
std::vector<Elf64_Phdr> read_segments(const base::ElfFile &file);

// Checks that the loaded segments are in ascending order in memory and do not overlap,
// that their addresses match their file offsets, and that the segments and the
// thread-local block exceed the file size `file_size` by at most kMaxBeyondFile. Writes
// the end of the last segment to `*out_span`.
// Errors  GUF_E_BAD_FILE <= a segment violates a rule; the message names it and its values
guf_status check_segments(const char *path, std::span<const Elf64_Phdr> segments,
                          uint64_t file_size, uint64_t *out_span, guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_MODULE_SEGMENTS_H
