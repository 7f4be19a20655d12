// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
)

// ChunkOptions says how a chunked call is cut. What is zero is the library's choice.
type ChunkOptions struct {
	ChunkBytes uint64 // bytes of the largest operand in a chunk; 0: 8 MiB, or less
	Depth      int    // chunks under way at once, 1 to 16; 0: 3
	FirstItem  int    // outer items before it are left alone: where a stopped call goes on
	// Progress is told, on the calling goroutine, that the first done of items outer items are in
	// the outputs; false stops the call with ErrCancelled. It may call this package, but not with
	// operands of this call.
	Progress func(done, items int) bool
}

type progress struct {
	ctx      context.Context
	told     func(done, items int) bool
	panicked any
}

// CallChunked applies the ufunc chunk by chunk of the outermost loop dimension: for arrays in host
// memory, mapped files included, that are larger than the device's memory. All outputs are in
// options.Out; there is no stream. It returns how many outer items are in their outputs, also when
// it fails: the FirstItem to go on with.
//
// When ctx ends the call stops behind the chunk under way; the error is then both ctx's and
// ErrCancelled. ErrUnsupported for operands in device memory, ErrDeviceMemory where Depth chunks do
// not fit, else as of Call.
func (u *Ufunc) CallChunked(ctx context.Context, options *CallOptions, chunks *ChunkOptions,
	inputs ...Operand) (items int, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if chunks == nil {
		chunks = &ChunkOptions{}
	}
	watched := &progress{ctx: ctx, told: chunks.Progress}
	err = with(u, options, inputs, func(o *CallOptions, b *block) error {
		if _, err := o.prepare(b, u, inputs); err != nil {
			return err
		}
		b.c.items = 0
		if depth := chunks.Depth; depth != int(int32(depth)) {
			message := fmt.Sprintf("Depth: %d is not between 0 and 16", depth)
			return &Error{ErrArg, message, -1, -1, 0}
		}
		b.c.chunk = C.guf_chunk_options{struct_size: C.sizeof_guf_chunk_options,
			chunk_bytes: C.uint64_t(chunks.ChunkBytes), depth: C.int32_t(chunks.Depth),
			first_item: C.int64_t(chunks.FirstItem)}
		user := C.uintptr_t(0)
		if ctx.Done() != nil || watched.told != nil {
			kept := cgo.NewHandle(watched)
			defer kept.Delete()
			user = C.uintptr_t(kept)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := failure(C.gufgo_call_chunked(u.handle(), b.c, user))
		items = int(b.c.items)
		return err
	})
	if watched.panicked != nil {
		panic(watched.panicked)
	}
	if ended := ctx.Err(); ended != nil && errors.Is(err, ErrCancelled) {
		err = errors.Join(ended, err)
	}
	return items, err
}
