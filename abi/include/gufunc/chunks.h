/* SPDX-License-Identifier: Apache-2.0
 * Calls on arrays that exceed the device's memory or the host's memory. The call is split into
 * chunks along the outermost loop dimension; copying in, computing and copying out overlap. */
#ifndef GUFUNC_CHUNKS_H
#define GUFUNC_CHUNKS_H

#include "call.h"

GUF_BEGIN_DECLS

/** The library calls this function on the calling thread after each chunk, when the outputs of the
 * chunk are written. The first `done` of `items` outer items (see guf_call_chunked) are complete;
 * `done` does not grow while an item takes several chunks. Return 0 to continue; any other value
 * ends the call with GUF_E_CANCELLED. The function may call the library, but not with operands of
 * this call. */
typedef int32_t (*guf_progress_fn)(void *user, int64_t done, int64_t items);

/** Options of a chunked call. Zero the structure, set struct_size, then set the fields that are
 * needed.
 *
 * chunk_bytes  maximum bytes of the largest operand in a chunk. 0 means 8 MiB, or less if the
 *              device does not have that much memory. A chunk contains at least one loop item.
 * depth        number of chunks in progress at the same time, 1 to 16; 0 means 3. On a device, each
 *              chunk in progress needs device memory for its operands and the same amount of
 *              page-locked host memory.
 * first_item   number of the first outer item to compute; earlier items are neither read nor
 *              written. Set it to resume a call that was stopped.
 * progress     NULL, or a function that is called with `user` after each chunk. */
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

/** Applies a ufunc like guf_call, in chunks. The call is split along its outermost loop dimension
 * that is longer than 1; the positions along this dimension are the outer items. A call without
 * such a dimension has one outer item. An outer item that is larger than a chunk is split along an
 * inner dimension.
 * All operands are in host memory, including mapped files, and all outputs are given. The call is
 * complete on return. On the cpu, chunks are computed in place. On a device that cannot access host
 * memory, three streams copy in, compute and copy out at the same time. The copies go through
 * page-locked memory, which host threads fill with contiguous elements. These elements have the
 * loop's dtype if it is not wider than the operand's, else the operand's dtype. Contiguous operands
 * in page-locked memory (guf_array_alloc_host, guf_host_register) are copied directly; operands in
 * mapped and managed memory are used in place. Operands that do not have the split dimension are
 * copied once.
 * options    NULL means the defaults.
 * out_items  NULL, or receives the number of outer items whose outputs are complete, counted from
 *            item 0, even if the call fails or is cancelled. Pass this number as first_item to
 *            resume the call. The outputs of later items are unspecified. Inout operands are
 *            unchanged in later items, except in the chunk that failed on the cpu. The number is 0
 *            if first_item is not one of the call's items.
 * [mt-object], blocks
 * Errors  as guf_call, and
 *         GUF_E_ARG         <= an output is GUF_OPERAND_NONE; args->options.stream is not NULL;
 *                              options->flags, depth, reserved or first_item is out of range
 *         GUF_E_STRUCT      <= options->struct_size is not valid
 *         GUF_E_OVERLAP     <= an output shares memory with another operand and is not the same
 *                              view
 *         GUF_E_UNSUPPORTED <= an operand is in device memory, or is inout with a separate output
 *         GUF_E_DEVICE_MEMORY, GUF_E_NO_MEMORY <= there is no memory for `depth` chunks of
 *             chunk_bytes
 *         GUF_E_CANCELLED   <= progress returned a value other than 0 */
GUF_API guf_status guf_call_chunked(guf_ufunc ufunc, guf_call_args *args,
                                    const guf_chunk_options *options, int64_t *out_items,
                                    guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_CHUNKS_H */
