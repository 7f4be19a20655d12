// SPDX-License-Identifier: Apache-2.0

package gufunc

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"
)

// Go's garbage collector does not know the size of the library's memory. hold therefore counts the
// memory of arrays that are not closed, and starts a collection when it has doubled since the last
// one. leastPressure is the number of bytes that starts the first collection.
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

// collect runs the garbage collector and waits at most 100 ms until the cleanups of arrays that it
// found have run.
func collect() {
	done := make(chan struct{})
	marker := new([64]byte) // larger than a tiny object: tiny objects share memory
	runtime.AddCleanup(marker, func(done chan struct{}) { close(done) }, done)
	runtime.GC()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
}

// twice makes a call that allocates memory, and repeats it if again returns true. A call that
// failed because of memory has had no effect.
func twice(call func() error) error {
	err := call()
	if again(err) {
		err = call()
	}
	return err
}

// again reports whether a failed call should be repeated: memory ran out, and unreachable arrays
// may have held it.
func again(err error) bool {
	if err == nil || !errors.Is(err, ErrDeviceMemory) && !errors.Is(err, ErrNoMemory) {
		return false
	}
	collect()
	return cPoll(0, nil) == nil
}
