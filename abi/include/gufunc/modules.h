/* SPDX-License-Identifier: Apache-2.0
 * Modules: files of kernels that gufcc made. Loading a module adds its ufuncs to a context. */
#ifndef GUFUNC_MODULES_H
#define GUFUNC_MODULES_H

#include "ufunc.h"

GUF_BEGIN_DECLS

enum guf_module_flag {
  GUF_MODULE_DATA_ONLY = 1u << 0 /* runs no code of the file: device images are used, but loops of
                                    the cpu are not */
};

typedef struct guf_module_info {
  uint32_t struct_size;
  uint32_t nfunctions;
  uint32_t nimages;
  uint32_t flags; /* guf_module_flag */
  char name[64];
  char path[512];
  uint32_t nkernels; /* number of raw kernels, see guf_module_kernel_at */
  uint32_t reserved;
} guf_module_info;

/** Loads a module file that gufcc made, checks its digest, and registers its ufuncs as
 * "module:name". No code of the file runs before the digest is verified. The library opens a copy
 * in memory of the verified bytes, so the file may change or be deleted afterwards.
 * Ownership  the caller receives one reference. The module's ufuncs, loops and plans also keep the
 *            module loaded. The module is unmapped, and its names are removed, when no reference is
 *            left. Loading the same file again returns the same module.
 * [mt], reads the disk
 * Errors     GUF_E_ARG       <= path or out_module is NULL, or flags has unknown bits
 *            GUF_E_HANDLE    <= context is not a live context
 *            GUF_E_IO        <= the file cannot be opened, read or copied
 *            GUF_E_UNTRUSTED <= the process is privileged and the file's owner or mode is not
 *                               acceptable
 *            GUF_E_BAD_FILE  <= the file is not a module, is damaged (the digest differs) or too
 *                               large in memory, or its table is not valid
 *            GUF_E_ABI       <= the module has a different kernel ABI
 *            GUF_E_EXISTS    <= another module of that name is loaded
 *            GUF_E_NO_MEMORY <= a host allocation failed */
GUF_API guf_status guf_module_load(guf_context context, const char *path, uint32_t flags,
                                   guf_module *out_module, guf_error *error);

/** Registers a module that is linked into the program.
 * Ownership  the caller receives one reference. `table` and everything that it points to must never
 *            be freed.
 * [mt] [no-block]
 * Errors     GUF_E_ARG    <= table or out_module is NULL
 *            GUF_E_HANDLE <= context is not a live context
 *            GUF_E_STRUCT <= table->struct_size is not valid
 *            GUF_E_BAD_FILE, GUF_E_ABI, GUF_E_EXISTS, GUF_E_NO_MEMORY <= as guf_module_load */
GUF_API guf_status guf_module_register(guf_context context, const guf_module_v1 *table,
                                       guf_module *out_module, guf_error *error);

/** Adds or drops a reference.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE <= module is not a live module (NULL is allowed and has no effect) */
GUF_API guf_status guf_module_retain(guf_module module, guf_error *error);
GUF_API guf_status guf_module_release(guf_module module, guf_error *error);

/** Describes a module.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= out_info is NULL
 *         GUF_E_HANDLE <= module is not a live module
 *         GUF_E_STRUCT <= out_info->struct_size is smaller than in the first version */
GUF_API guf_status guf_module_get_info(guf_module module, guf_module_info *out_info,
                                       guf_error *error);

/** Returns the full name ("module:function") of the module's function at `index`, for
 * guf_ufunc_find. `capacity` is the size of `name` in bytes.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= name is NULL
 *         GUF_E_HANDLE <= module is not a live module
 *         GUF_E_INDEX  <= index is not below the number of functions
 *         GUF_E_BUFFER_TOO_SMALL <= capacity is less than the name with its NUL */
GUF_API guf_status guf_module_function_at(guf_module module, uint32_t index, char *name,
                                          uint64_t capacity, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_MODULES_H */
