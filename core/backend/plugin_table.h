// SPDX-License-Identifier: Apache-2.0
// The handshake with a plugin's entry, and the check that its table keeps the contract.
#ifndef GUFUNC_CORE_BACKEND_PLUGIN_TABLE_H
#define GUFUNC_CORE_BACKEND_PLUGIN_TABLE_H

#include <gufunc/backend.h>

#include "core/backend/backend_note.h"

namespace gufunc::backend {

// What plugins may ask of the host. Immortal.
const guf_host_api &host_services();

// Calls the entry with a zeroed table, checks what it filled against the note and fills optional
// gaps. A plugin that throws is caught. `*out` is untouched on failure.
// Errors  GUF_E_ABI <= a required slot is missing (the message names it), the table or its name
//                      contradicts the
//         note, or the entry threw;  else the entry's own status
guf_status open_table(guf_backend_open_fn entry, const BackendNote &note, guf_backend_api *out,
                      guf_error *error);

// Checks how the file is linked, maps it and opens its table. Once mapped, it stays.
// Errors  as check_plugin_file, open_library and open_table
guf_status open_plugin(const CheckedFile &file, const char *path, const BackendNote &note,
                       guf_backend_api *out, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_PLUGIN_TABLE_H
