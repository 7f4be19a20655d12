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

// ChunkOptions controls how a chunked call is divided. A zero field leaves the choice to the
// library.
type ChunkOptions struct {
	ChunkBytes uint64 // bytes of the largest operand in a chunk; 0: at most 8 MiB
	Depth      int    // chunks in progress at the same time, 1 to 16; 0: 3
	FirstItem  int    // number of outer items to skip, to resume a stopped call
	// Progress is called on the calling goroutine after a chunk is written. The call has items
	// outer items, and the results of the first done of them are now in the outputs. If Progress
	// returns false, the call stops with ErrCancelled. Progress may call this package, but not with
	// operands of this call.
	Progress func(done, items int) bool
}

type progress struct {
	ctx      context.Context
	report   func(done, items int) bool
	panicked any
}

// CallChunked applies the ufunc in chunks along the outermost loop dimension; an outer item is one
// index of this dimension. Use CallChunked for arrays in host memory, including mapped files, that
// are larger than the device's memory. options.Out must contain all outputs, and no stream is
// allowed. CallChunked returns the number of outer items whose results are in the outputs, also
// when it fails. Pass this number as FirstItem to resume the call.
//
// When ctx ends, the call stops after the current chunk. The error then wraps both ctx's error and
// ErrCancelled. Errors: ErrUnsupported for operands in device memory, ErrDeviceMemory if Depth
// chunks do not fit into device memory, and the errors of Call.
func (u *Ufunc) CallChunked(ctx context.Context, options *CallOptions, chunks *ChunkOptions,
	inputs ...Operand) (items int, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if chunks == nil {
		chunks = &ChunkOptions{}
	}
	watched := &progress{ctx: ctx, report: chunks.Progress}
	err = with(u, options, inputs, func(o *CallOptions, b *block) error {
		if _, err := o.prepare(b, u, inputs); err != nil {
			return err
		}
		b.c.items = 0
		if depth := chunks.Depth; depth != int(int32(depth)) {
			message := fmt.Sprintf("Depth: expected 0 to 16, got %d", depth)
			return &Error{ErrArg, message, -1, -1, 0}
		}
		b.c.chunk = C.guf_chunk_options{struct_size: C.sizeof_guf_chunk_options,
			chunk_bytes: C.uint64_t(chunks.ChunkBytes), depth: C.int32_t(chunks.Depth),
			first_item: C.int64_t(chunks.FirstItem)}
		user := C.uintptr_t(0)
		if ctx.Done() != nil || watched.report != nil {
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
