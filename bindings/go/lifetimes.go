// SPDX-License-Identifier: Apache-2.0

package gufunc

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// handle is one reference to an object of the library. A closed handle passes an invalid value to
// the library, so that every use fails with ErrHandle. The original value is not passed, because
// other references may keep it valid.
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

// own makes object the owner of the reference c. h must be a field of object.
func own[H, T any](object *T, h *handle[H], c H, release func(H) error) {
	h.c, h.release = c, release
	h.cleanup = runtime.AddCleanup(object, func(c H) { _ = release(c) }, c)
}

// close drops the reference. Further calls do nothing.
func (h *handle[H]) close() error {
	if h == nil || h.release == nil || h.closed.Swap(true) {
		return nil
	}
	h.cleanup.Stop()
	return h.release(h.c)
}

// kind returns a description that distinguishes live, closed and nil objects.
func (h *handle[H]) kind(name string) string {
	if h == nil || h.closed.Load() {
		return "no " + name
	}
	return name
}

// counted is a pointer to a type that contains a handle.
type counted[T, H any] interface {
	*T
	reference() *handle[H]
}

// owner returns a new object that owns the reference c.
func owner[T, H any, P counted[T, H]](c H, release func(H) error) P {
	object := P(new(T))
	own((*T)(object), object.reference(), c, release)
	return object
}

// another returns a new object that owns another reference to the same library object. If of is
// nil, it returns nil.
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
