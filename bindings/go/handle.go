// SPDX-License-Identifier: Apache-2.0

package gufunc

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// handle is one reference to an object of the library. Closed, it has a value that is no handle,
// for which the library answers ErrHandle: its own may be alive still, by other references.
type handle[H any] struct {
	c       H
	closed  atomic.Bool
	cleanup runtime.Cleanup
	release func(H) error
}

func (h *handle[H]) value() H {
	if h.closed.Load() {
		foreign := uintptr(1)
		return *(*H)(unsafe.Pointer(&foreign))
	}
	return h.c
}

// own makes object, which holds h, the owner of the reference c.
func own[H, T any](object *T, h *handle[H], c H, release func(H) error) {
	h.c, h.release = c, release
	h.cleanup = runtime.AddCleanup(object, func(c H) { _ = release(c) }, c)
}

// close drops the reference, the first time.
func (h *handle[H]) close() error {
	if h == nil || h.release == nil || h.closed.Swap(true) {
		return nil
	}
	h.cleanup.Stop()
	return h.release(h.c)
}
