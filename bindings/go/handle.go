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

func (h *handle[H]) value() (none H) {
	if h == nil {
		return none
	}
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

// kind tells an object that is there from one that is closed or nil.
func (h *handle[H]) kind(name string) string {
	if h == nil || h.closed.Load() {
		return "no " + name
	}
	return name
}

// counted is a pointer to a kind of object that holds a handle.
type counted[T, H any] interface {
	*T
	reference() *handle[H]
}

// owner is a new object, of the reference c.
func owner[T, H any, P counted[T, H]](c H, release func(H) error) P {
	object := P(new(T))
	own((*T)(object), object.reference(), c, release)
	return object
}

// another is a new object of one more reference to the same; of nil it is nil.
func another[T, H any, P counted[T, H]](of P, retain func(H) error, owner func(H) P) (P, error) {
	if of == nil {
		return nil, nil
	}
	defer runtime.KeepAlive(of)
	c := of.reference().value()
	if err := retain(c); err != nil {
		return nil, err
	}
	return owner(c), nil
}
