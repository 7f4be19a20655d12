// SPDX-License-Identifier: Apache-2.0

package gufunc

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"
)

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
