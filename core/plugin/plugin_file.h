// SPDX-License-Identifier: Apache-2.0
// What is read from a plugin's file before it is mapped and any of its code runs: the plugin's
// identity, which is in a note, and how the file is linked.
#ifndef GUFUNC_CORE_PLUGIN_PLUGIN_FILE_H
#define GUFUNC_CORE_PLUGIN_PLUGIN_FILE_H

#include <string>
#include <string_view>

#include "core/backend/backend.h"
#include "core/base/checked_file.h"

namespace gufunc::plugin {

// The identity of a plugin.
struct BackendNote {
  std::string name;
  uint32_t abi_low = 0;  // minor versions of plugin ABI 1 that the plugin supports
  uint32_t abi_high = 0;
  uint32_t priority = 0;
  std::string isa;  // ISA level that the plugin's code requires
  backend::DlpackTypes dlpack;
};

// Parses a note such as "name=null;abi=0-0;priority=10;isa=x86-64". Each of these four keys
// must occur exactly once; "dlpack=DEVICE-PINNED-MANAGED" is optional. Unknown keys are ignored, so
// that later minor versions can add keys.
// Errors  GUF_E_BAD_FILE <= a malformed note; the message quotes the malformed part
guf_status parse_backend_note(std::string_view text, BackendNote *out, guf_error *error);

// Finds and parses the note in a plugin file.
// Errors  GUF_E_IO;  GUF_E_BAD_FILE <= not an ELF file, no backend note, or a malformed note
guf_status read_backend_note(const char *path, const base::CheckedFile &file, BackendNote *out,
                             guf_error *error);

// Checks that this library and this machine support the plugin.
// Errors  GUF_E_ABI <= the plugin needs a newer libgufunc, or the machine lacks the ISA level
guf_status check_backend_note(const BackendNote &note, guf_error *error);

inline constexpr char kPluginEntry[] = "gufunc_backend_open_v1";

// Reads the dynamic section and checks rules 4, 5 and 6 of docs/plugin_contract.md.
// Errors  GUF_E_ABI <= the entry is missing, another symbol is exported, a needed library is
//                      forbidden, or a linker option is missing; the message contains the name
//         GUF_E_BAD_FILE <= not an ELF file, or a malformed dynamic section;  GUF_E_IO
guf_status check_plugin_file(const char *path, const base::CheckedFile &file,
                             const BackendNote &note, guf_error *error);

}  // namespace gufunc::plugin

#endif  // GUFUNC_CORE_PLUGIN_PLUGIN_FILE_H
