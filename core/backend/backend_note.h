// SPDX-License-Identifier: Apache-2.0
// A plugin's identity, read from its file before any code of it runs.
#ifndef GUFUNC_CORE_BACKEND_BACKEND_NOTE_H
#define GUFUNC_CORE_BACKEND_BACKEND_NOTE_H

#include <string>
#include <string_view>

#include "core/backend/checked_file.h"

namespace gufunc::backend {

struct BackendNote {
  std::string name;
  uint32_t abi_low = 0;  // minors of plugin ABI 1 that the plugin speaks
  uint32_t abi_high = 0;
  uint32_t priority = 0;
  std::string isa;  // what the plugin's code needs from the start
};

// Parses "name=null;abi=0-0;priority=10;isa=x86-64". Each of the four keys stands exactly once;
// keys that this version does not know are passed over, so that a later minor may add some.
// Errors  GUF_E_BAD_FILE <= anything else; the message quotes the part at fault
guf_status parse_backend_note(std::string_view text, BackendNote *out, guf_error *error);

// Finds and parses the note of a plugin file.
// Errors  GUF_E_IO;  GUF_E_BAD_FILE <= no ELF file, no backend note, or a malformed one
guf_status read_backend_note(const char *path, const CheckedFile &file, BackendNote *out,
                             guf_error *error);

// Errors  GUF_E_ABI <= the plugin needs a newer host, or this machine lacks the ISA
guf_status check_backend_note(const BackendNote &note, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_BACKEND_NOTE_H
