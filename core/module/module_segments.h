// SPDX-License-Identifier: Apache-2.0
// What a module's segments ask for, judged before any memory is reserved for them.
#ifndef GUFUNC_CORE_MODULE_MODULE_SEGMENTS_H
#define GUFUNC_CORE_MODULE_MODULE_SEGMENTS_H

#include <elf.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/elf_file.h"

namespace gufunc::module {

// A module may occupy as much memory as its file has bytes, and this much more.
inline constexpr uint64_t kMaxBeyondFile = uint64_t{64} << 20;

// All program headers, as the file has them.
std::vector<Elf64_Phdr> read_segments(const base::ElfFile &file);

// Checks that the segments to load follow one another in memory without overlapping, at addresses
// that agree with their file offsets, and that they and the thread-local block stay within
// kMaxBeyondFile of a file of `file_size` bytes. `*out_span`: where the last of them ends.
// Errors  GUF_E_BAD_FILE <= they do not; the message says which one and what it asks for
guf_status check_segments(const char *path, std::span<const Elf64_Phdr> segments,
                          uint64_t file_size, uint64_t *out_span, guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_MODULE_SEGMENTS_H
