// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"context"
	"math"
	"time"
)

// Open opens the library at path, in a program that is built with the tag gufunc_dlopen: it is not
// linked with libgufunc, and starts where there is none. It is opened once, before anything else is
// used; later calls tell how that went. With "", and when the first function is called without
// Open, the file that the environment's GUFUNC_LIBRARY names is opened, else what the system's
// loader finds. Without a library Open and every call fail with ErrIO and say what was not found.
//
// In a program that is linked with the library Open("") does nothing, and a path is ErrUnsupported.
func Open(path string) error {
	if path == "" {
		return failure(C.gufgo_open(nil))
	}
	return lent(path, func(text *C.char) error { return failure(C.gufgo_open(text)) })
}

// Version is the loaded library's version, "0.1.0".
func Version() string { return C.GoString(cVersionString()) }

// VersionNumber is the version as major << 22 | minor << 12 | patch.
func VersionNumber() uint32 { return uint32(cVersion()) }

// Context is a registry of ufuncs and modules over the standard library.
// nil is the process's own one, which most programs use; it needs no making and no closing.
type Context struct{ ref handle[C.guf_context] }

// NewContext makes a context beside the process's own. Close it when it is done with; what was
// found in it stays usable.
func NewContext() (*Context, error) {
	var made C.guf_context
	if err := cContextCreate(0, &made); err != nil {
		return nil, err
	}
	return ownContext(made), nil
}

func ownContext(c C.guf_context) *Context { return owner[Context](c, cContextRelease) }

// Clone is another reference to the same context, to be closed on its own.
func (c *Context) Clone() (*Context, error) {
	return another(c, cContextRetain, ownContext)
}

// Close gives the reference back; a second time it does nothing.
func (c *Context) Close() error { return c.reference().close() }

func (c *Context) reference() *handle[C.guf_context] {
	if c == nil {
		return nil
	}
	return &c.ref
}

func (c *Context) handle() C.guf_context { return c.reference().value() }

// Poll frees what closed objects left behind and runs at most limit queued release callbacks (0:
// all), on this thread. It tells how many ran. Programs that go on making calls need none of it.
func Poll(limit int) (ran int, err error) {
	var count C.uint32_t
	err = cPoll(C.uint32_t(limit), &count)
	return int(count), err
}

// LogLevel is how grave a line of the log is.
type LogLevel int32

// Levels of the log.
const (
	LogError LogLevel = iota
	LogWarning
	LogInformation
)

// ReadLog takes the oldest line of the library's log; ok is false when there is none. The library
// prints nothing itself.
func ReadLog() (line string, level LogLevel, ok bool) {
	var text [1024]C.char
	var number C.int32_t
	if cLogRead(&text[0], C.size_t(len(text)), &number) != nil || number < 0 {
		return "", 0, false
	}
	return C.GoString(&text[0]), LogLevel(number), true
}

// Shutdown waits for all work, stops the library's threads and frees its caches. Nothing needs it
// at the end of a program. After it objects can be closed and little else be done. When ctx ends
// first, its error is returned and the library stays usable.
func Shutdown(ctx context.Context) error {
	return wait(ctx, func(nanoseconds C.uint64_t) error { return cShutdown(nanoseconds) })
}

const longestWait = 2 * time.Millisecond

// wait calls a function that waits for at most so long until it is done or ctx is: a wait that runs
// out loses nothing. A context that cannot end costs one call; nil is such a one.
func wait(ctx context.Context, waiting func(nanoseconds C.uint64_t) error) error {
	if ctx == nil || ctx.Done() == nil {
		return waiting(math.MaxUint64)
	}
	for limit := 50 * time.Microsecond; ; limit = min(2*limit, longestWait) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := waiting(C.uint64_t(limit)); err != statusTimeout {
			return err
		}
	}
}

// done makes an answer of what a query brought.
func done(err error) (bool, error) {
	if err == statusNotReady {
		return false, nil
	}
	return err == nil, err
}
