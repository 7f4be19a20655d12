// SPDX-License-Identifier: Apache-2.0
// The digest in a module file. The loader checks the digest before any code of the file runs.
#ifndef GUFUNC_CORE_MODULE_MODULE_DIGEST_H
#define GUFUNC_CORE_MODULE_MODULE_DIGEST_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/elf_file.h"

namespace gufunc::module {

// A module note's descriptor (section .note.gufunc.module). Little-endian; the format is final.
struct ModuleNote {
  uint32_t version;                // version of the format: 1
  uint32_t kernel_abi;             // GUF_KERNEL_ABI of the compiler that wrote the note
  std::array<uint8_t, 32> digest;  // SHA-256; zero while the digest is computed
};
static_assert(sizeof(ModuleNote) == 40);

// Computes SHA-256 over the file bytes of every PT_LOAD segment, in order. The section header
// fields of the ELF header and the digest in the note are hashed as zeros, so that `strip` and
// debuglink do not change the digest.
// Errors  GUF_E_BAD_FILE <= no module note, or a note of a different size
guf_status compute_digest(const base::ElfFile &file, ModuleNote *out_note,
                          std::array<uint8_t, 32> *out_digest, uint64_t *out_digest_offset,
                          guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_MODULE_DIGEST_H
