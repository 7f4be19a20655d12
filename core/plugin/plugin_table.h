// SPDX-License-Identifier: Apache-2.0
// Calls a plugin's entry function and checks that the resulting table satisfies the contract.
#ifndef GUFUNC_CORE_PLUGIN_PLUGIN_TABLE_H
#define GUFUNC_CORE_PLUGIN_PLUGIN_TABLE_H

#include <gufunc/backend.h>

#include "core/plugin/plugin_file.h"

namespace gufunc::plugin {

// Returns the services that plugins can request from the library. The table is never destroyed.
const guf_host_api &host_services();

// Calls the entry function with a zeroed table, compares the result with the note and fills in
// missing optional slots. Catches exceptions of the plugin. `*out` is unchanged on failure.
// Errors  GUF_E_ABI <= a required slot is missing (the message names it), the table or its name
//                      contradicts the note, or the entry function threw an exception
//         otherwise the entry function's own status
guf_status open_table(guf_backend_open_fn entry, const BackendNote &note, guf_backend_api *out,
                      guf_error *error);

// Checks how the file is linked, maps it and opens its table. A mapped plugin is never unmapped.
// Errors  as check_plugin_file, open_library and open_table
guf_status open_plugin(const base::CheckedFile &file, const char *path, const BackendNote &note,
                       guf_backend_api *out, guf_error *error);

}  // namespace gufunc::plugin

#endif  // GUFUNC_CORE_PLUGIN_PLUGIN_TABLE_H
