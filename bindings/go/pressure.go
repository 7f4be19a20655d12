// SPDX-License-Identifier: Apache-2.0

package gufunc

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"
)

// Go's collector does not see the library's memory: what arrays hold that were not closed is
// counted here, and a collection is asked for when it has doubled.
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

// collect runs the collector and waits, shortly, until arrays that it found have been released.
func collect() {
	done := make(chan struct{})
	marker := new([64]byte) // not a tiny object: those share their memory
	runtime.AddCleanup(marker, func(done chan struct{}) { close(done) }, done)
	runtime.GC()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
}

// twice is a call that needs memory, and once more if again says so. A call that failed for memory
// has done nothing.
func twice(call func() error) error {
	err := call()
	if again(err) {
		err = call()
	}
	return err
}

// again reports whether a call that failed is worth another try: memory was out, and arrays that
// nobody uses any more may have held it.
func again(err error) bool {
	if err == nil || !errors.Is(err, ErrDeviceMemory) && !errors.Is(err, ErrNoMemory) {
		return false
	}
	collect()
	return cPoll(0, nil) == nil
}
