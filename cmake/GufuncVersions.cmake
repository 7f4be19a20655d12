# SPDX-License-Identifier: Apache-2.0
# Defines the versions of the C ABI and of the plugin ABI. docs/hacking.md describes them and the
# library version (project()).
set(GUFUNC_ABI_VERSION "0.1")          # soname libgufunc.so.0.1 and symbol node GUFUNC_0.1
set(GUFUNC_PLUGIN_ABI_MAJOR 1)         # folder lib/gufunc/1 and entry gufunc_backend_open_v1
set(GUFUNC_PLUGIN_SUBDIR "gufunc/${GUFUNC_PLUGIN_ABI_MAJOR}")
