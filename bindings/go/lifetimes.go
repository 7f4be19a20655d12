// SPDX-License-Identifier: Apache-2.0

package gufunc

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"
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

// Go's garbage collector does not know the size of the library's memory. hold therefore counts the
// memory of arrays that are not closed, and starts a collection when this memory has doubled since
// the last collection. leastPressure is the number of bytes that starts the first collection.
const leastPressure = 256 << 20

var held, collectAt atomic.Int64

func init() { collectAt.Store(leastPressure) }

func hold(bytes int64) {
	limit := collectAt.Load()
	if held.Add(bytes) > limit && collectAt.CompareAndSwap(limit, 1<<62) {
		go func() {
			collect()
			collectAt.Store(max(leastPressure, 2*held.Load()))
		}()
	}
}

// collect runs the garbage collector and waits, at most 100 ms, until the cleanups of the collected
// arrays have run.
func collect() {
	done := make(chan struct{})
	marker := new([64]byte) // not a tiny object, because tiny objects share memory
	runtime.AddCleanup(marker, func(done chan struct{}) { close(done) }, done)
	runtime.GC()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
}

// collections is the maximum number of times that a call is repeated after a collection. One
// repetition is not always enough: the cleanups of arrays run on several goroutines, and collect
// does not wait for all of them.
const collections = 4

// retry makes a call that allocates memory, and repeats it while again returns true. A call that
// failed for lack of memory has had no effect.
func retry(call func() error) error {
	err := call()
	for attempt := 0; again(err, attempt); attempt++ {
		err = call()
	}
	return err
}

// again reports whether a failed call should be repeated. This is the case if memory ran out,
// because unreachable arrays may have held memory. again frees these arrays first.
func again(err error, attempt int) bool {
	if err == nil || attempt == collections ||
		!errors.Is(err, ErrDeviceMemory) && !errors.Is(err, ErrNoMemory) {
		return false
	}
	collect()
	return cPoll(0, nil) == nil
}
