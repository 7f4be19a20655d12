// SPDX-License-Identifier: Apache-2.0
// Checks how a plugin file is linked, before it is mapped.
#ifndef GUFUNC_CORE_PLUGIN_PLUGIN_FILE_H
#define GUFUNC_CORE_PLUGIN_PLUGIN_FILE_H

#include "core/plugin/note.h"

namespace gufunc::plugin {

inline constexpr char kPluginEntry[] = "gufunc_backend_open_v1";

// Reads the dynamic section and checks rules 4, 5 and 6 of docs/plugin_contract.md.
// Errors  GUF_E_ABI <= the entry is missing, another symbol is exported, a needed library is
//                      forbidden, or a linker option is missing; the message contains the name
//         GUF_E_BAD_FILE <= not an ELF file, or a malformed dynamic section;  GUF_E_IO
guf_status check_plugin_file(const char *path, const base::CheckedFile &file,
                             const BackendNote &note, guf_error *error);

}  // namespace gufunc::plugin

#endif  // GUFUNC_CORE_PLUGIN_PLUGIN_FILE_H
