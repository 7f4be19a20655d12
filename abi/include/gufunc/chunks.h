/* SPDX-License-Identifier: Apache-2.0
 * Calls on arrays that are larger than a device's memory, or than memory: cut along the outermost
 * loop dimension, copied in, computed and copied out at the same time. */
#ifndef GUFUNC_CHUNKS_H
#define GUFUNC_CHUNKS_H

#include "call.h"

GUF_BEGIN_DECLS

/** Called on the calling thread when a chunk is in its outputs: the first `done` of `items` outer
 * items are, as many as before where an item takes several chunks. 0: go on; else the call ends
 * with GUF_E_CANCELLED. It may call the library, but not with operands of this call. */
typedef int32_t (*guf_progress_fn)(void *user, int64_t done, int64_t items);

/** How a call is cut. Zero everything, set struct_size, then what is needed.
 *
 * chunk_bytes  bytes of the largest operand in a chunk; 0: 8 MiB, or less where the device has no
 *              room for that. A chunk holds one loop item at least.
 * depth        chunks under way at once, 1 to 16; 0: 3. On a device each of them has memory for its
 *              operands there, and as much page-locked memory of the host.
 * first_item   outer items before it are neither read nor written: where a call that was stopped
 *              goes on.
 * progress     NULL, or what is called with `user` behind each chunk. */
typedef struct guf_chunk_options {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  uint64_t chunk_bytes;
  int32_t depth;
  uint32_t reserved; /* 0 */
  int64_t first_item;
  guf_progress_fn progress;
  void *user;
} guf_chunk_options;

/** Applies a ufunc as guf_call, chunk by chunk of the outermost loop dimension that is longer than
 * 1, whose positions are the outer items; a call without such is one item. Outer items larger than
 * a chunk are cut along a dimension further in. Operands lie in host memory, mapped files included;
 * all outputs are given. On a device without access to it three streams copy in, compute and copy
 * out at the same time, through page-locked memory that the cpu's threads fill, without strides and
 * in the loop's type where that is no wider. Contiguous operands in page-locked memory
 * (guf_array_alloc_host, guf_host_register) are copied as they lie, mapped and managed ones used in
 * place; operands that do not have the dimension are copied once. On the cpu chunks are computed in
 * place. Complete on return.
 * options    NULL: defaults.
 * out_items  NULL, or receives how many outer items are in their outputs, from item 0 on, also when
 *            the call fails or is cancelled: the first_item to go on with. Behind them outputs are
 *            unspecified; what is both read and written is as it was, but for the chunk that failed
 *            on the cpu. 0 where first_item is not among the call's items.
 * Errors  as guf_call's;  GUF_E_ARG <= an output is GUF_OPERAND_NONE, args->stream is not NULL,
 *                         options->flags, depth, reserved or first_item
 *         GUF_E_STRUCT <= options->struct_size
 *         GUF_E_OVERLAP <= an output shares memory with another operand that is not the same view
 *         GUF_E_UNSUPPORTED <= an operand lies in device memory, or is inout with an output of its
 *                              own
 *         GUF_E_DEVICE_MEMORY, GUF_E_NO_MEMORY <= `depth` chunks of chunk_bytes do not fit
 *         GUF_E_CANCELLED <= progress asked for it
 * [mt-object], blocks */
GUF_API guf_status guf_call_chunked(guf_ufunc ufunc, guf_call_args *args,
                                    const guf_chunk_options *options, int64_t *out_items,
                                    guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_CHUNKS_H */
