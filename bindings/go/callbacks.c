/* SPDX-License-Identifier: Apache-2.0
 * Callbacks that forward from the library to Go. `user` is the value of a cgo.Handle. */
#include "block.h"

/* Exported by callbacks.go. */
guf_status gufuncGoLoop(char **args, int64_t *dims, int64_t *steps, uintptr_t user,
                        guf_error *record);
guf_status gufuncGoCoreDims(int32_t ndims, int64_t *sizes, uintptr_t user, guf_error *record);
int32_t gufuncGoProgress(uintptr_t user, int64_t finished, int64_t items);
void gufuncGoDestroy(uintptr_t user);
void gufuncGoRelease(uintptr_t user);

guf_status gufgo_loop(char **args, const int64_t *dims, const int64_t *steps, void *user,
                      guf_error *error) {
  return gufuncGoLoop(args, (int64_t *)dims, (int64_t *)steps, (uintptr_t)user, error);
}

guf_status gufgo_core_dims(int32_t ndims, int64_t *inout_sizes, void *user, guf_error *error) {
  return gufuncGoCoreDims(ndims, inout_sizes, (uintptr_t)user, error);
}

int32_t gufgo_progress(void *user, int64_t done, int64_t items) {
  return gufuncGoProgress((uintptr_t)user, done, items);
}

void gufgo_destroy(void *user) {
  gufuncGoDestroy((uintptr_t)user);
}

void gufgo_release(void *user, uint64_t address) {
  (void)address;
  gufuncGoRelease((uintptr_t)user);
}

int32_t gufgo_has_memory(size_t bytes) {
  void *volatile memory = malloc(bytes);
  free(memory);
  return memory != NULL;
}

guf_error *gufgo_wrap(guf_tensor tensor, const int64_t *shape, const int64_t *strides,
                      uintptr_t user, guf_array *out_array) {
  tensor.shape = shape;
  tensor.strides = strides;
  return zguf_array_wrap(&tensor, user == 0 ? NULL : gufgo_release, (void *)user,
                         GUF_RELEASE_ANY_THREAD, out_array);
}

guf_error *gufgo_add_loop(guf_ufunc ufunc, uint32_t flags, int32_t ntypes, const guf_dtype *types,
                          uintptr_t user) {
  guf_loop_desc desc = {.struct_size = sizeof desc, .kind = GUF_LOOP_ERROR, .flags = flags};
  desc.ntypes = ntypes;
  desc.types = types;
  desc.error = gufgo_loop;
  desc.user = (void *)user;
  desc.destroy = gufgo_destroy;
  return zguf_ufunc_add_loop(ufunc, &desc);
}

guf_error *gufgo_create(guf_context context, guf_ufunc_desc desc, const char *name,
                        const char *signature, const char *rules, const char *doc,
                        const int32_t *roles, uintptr_t user, guf_ufunc *out_ufunc) {
  desc.name = name;
  desc.signature = signature;
  desc.rules = rules;
  desc.doc = doc;
  desc.roles = roles;
  if (user != 0) {
    desc.core_dims = gufgo_core_dims;
    desc.user = (void *)user;
    desc.destroy = gufgo_destroy;
  }
  return zguf_ufunc_create(context, &desc, out_ufunc);
}

guf_error *gufgo_call_chunked(guf_ufunc ufunc, gufgo_block *block, uintptr_t user) {
  if (user != 0) {
    block->chunk.progress = gufgo_progress;
    block->chunk.user = (void *)user;
  }
  return zguf_call_chunked(ufunc, &block->call, &block->chunk, &block->items);
}
