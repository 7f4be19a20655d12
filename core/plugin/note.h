// SPDX-License-Identifier: Apache-2.0
// The identity of a plugin, read from its file before any of its code runs.
#ifndef GUFUNC_CORE_PLUGIN_NOTE_H
#define GUFUNC_CORE_PLUGIN_NOTE_H

#include <string>
#include <string_view>

#include "core/base/checked_file.h"

namespace gufunc::plugin {

struct BackendNote {
  std::string name;
  uint32_t abi_low = 0;  // minor versions of plugin ABI 1 that it supports
  uint32_t abi_high = 0;
  uint32_t priority = 0;
  std::string isa;  // ISA level that all of the plugin's code requires
};

// Parses "name=null;abi=0-0;priority=10;isa=x86-64". Each of the four keys must occur exactly once.
// Unknown keys are ignored, so that a later minor version can add keys.
// Errors  GUF_E_BAD_FILE <= anything else; the message quotes the malformed part
guf_status parse_backend_note(std::string_view text, BackendNote *out, guf_error *error);

// Finds and parses the note in a plugin file.
// Errors  GUF_E_IO;  GUF_E_BAD_FILE <= no ELF file, no backend note, or a malformed one
guf_status read_backend_note(const char *path, const base::CheckedFile &file, BackendNote *out,
                             guf_error *error);

// Errors  GUF_E_ABI <= the plugin needs a newer host, or this machine lacks the ISA level
guf_status check_backend_note(const BackendNote &note, guf_error *error);

}  // namespace gufunc::plugin

#endif  // GUFUNC_CORE_PLUGIN_NOTE_H
