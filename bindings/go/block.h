/* SPDX-License-Identifier: Apache-2.0
 * The arguments of a call are in C memory, because cgo does not allow a program to pass Go memory
 * that contains pointers to Go memory. */
#ifndef GUFUNC_GO_BLOCK_H
#define GUFUNC_GO_BLOCK_H

#include "zcalls.h"

enum { GUFGO_ARENA = 8192 };

/* Arguments of one call. The memory that they point to is allocated from the front of `arena`.
 * `info` receives the descriptions of arrays. */
typedef struct gufgo_block {
  guf_call_args call;
  guf_reduce_args reduce;
  guf_accumulate_args accumulate;
  guf_at_args at;
  guf_request request;
  guf_chunk_options chunk;
  int64_t items;
  _Alignas(16) char arena[GUFGO_ARENA];
  guf_array_info info;
} gufgo_block;

/* Makes a call without keywords. */
static inline guf_error *gufgo_call(guf_ufunc ufunc, guf_operand *operands, int32_t nin,
                                    int32_t nout) {
  guf_call_args args = {.struct_size = sizeof args};
  args.ninputs = nin;
  args.noutputs = nout;
  args.inputs = operands;
  args.outputs = operands + nin;
  return zguf_call(ufunc, &args);
}

/* Opens the library at `path` once. NULL selects the default file. A program that is linked with
 * the library accepts only NULL. */
guf_error *gufgo_open(const char *path);

/* Whether malloc can provide this many bytes. */
int32_t gufgo_has_memory(size_t bytes);

/* Calls the deleter of a guf_dlpack or, if `unversioned` is set, of a guf_dlpack_unversioned. */
static inline void gufgo_delete_dlpack(void *managed, int32_t unversioned) {
  if (managed == NULL) return;
  if (unversioned != 0) {
    guf_dlpack_unversioned *plain = (guf_dlpack_unversioned *)managed;
    if (plain->deleter != NULL) plain->deleter(plain);
  } else {
    guf_dlpack *tensor = (guf_dlpack *)managed;
    if (tensor->deleter != NULL) tensor->deleter(tensor);
  }
}

/* Callbacks that the functions below pass to the library. */
guf_status gufgo_loop(char **args, const int64_t *dims, const int64_t *steps, void *user,
                      guf_error *error);
guf_status gufgo_core_dims(int32_t ndims, int64_t *inout_sizes, void *user, guf_error *error);
int32_t gufgo_progress(void *user, int64_t done, int64_t items);
void gufgo_destroy(void *user);
void gufgo_release(void *user, uint64_t address);

/* `user` is a cgo.Handle. It is passed as an integer, because Go must not convert a handle to a
 * pointer. */
guf_error *gufgo_wrap(guf_tensor tensor, const int64_t *shape, const int64_t *strides,
                      uintptr_t user, guf_array *out_array);
guf_error *gufgo_add_loop(guf_ufunc ufunc, uint32_t flags, int32_t ntypes, const guf_dtype *types,
                          uintptr_t user);
guf_error *gufgo_create(guf_context context, guf_ufunc_desc desc, const char *name,
                        const char *signature, const char *rules, const char *doc,
                        const int32_t *roles, uintptr_t user, guf_ufunc *out_ufunc);
guf_error *gufgo_call_chunked(guf_ufunc ufunc, gufgo_block *block, uintptr_t user);

#endif /* GUFUNC_GO_BLOCK_H */
