// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"context"
	"math"
	"time"
)

// Open opens the library at path in a program that is built with the tag gufunc_dlopen. Such a
// program is not linked with libgufunc and starts without it. Open must be called before anything
// else is used. The library is opened once; later calls return the result of the first. If path is
// "", or if another function is called before Open, the file named by the environment variable
// GUFUNC_LIBRARY is opened, or else the library that the dynamic loader finds. Without a library,
// Open and every other call fail with ErrIO, and the message names what was not found.
//
// In a program that is linked with the library, Open("") does nothing, and Open with a path fails
// with ErrUnsupported.
func Open(path string) error {
	if path == "" {
		return failure(C.gufgo_open(nil))
	}
	return withText(path, func(text *C.char) error { return failure(C.gufgo_open(text)) })
}

// Version returns the version of the loaded library, such as "0.1.0".
func Version() string { return C.GoString(cVersionString()) }

// VersionNumber returns the version as major << 22 | minor << 12 | patch.
func VersionNumber() uint32 { return uint32(cVersion()) }

// Context is a registry of ufuncs and modules, in addition to the ufuncs that are part of the
// library. nil is the context of the process, which most programs use and which needs neither
// NewContext nor Close.
type Context struct{ ref handle[C.guf_context] }

// NewContext makes a context that is separate from the context of the process. Close it when it is
// no longer needed. Objects found in it stay usable.
func NewContext() (*Context, error) {
	var made C.guf_context
	if err := cContextCreate(0, &made); err != nil {
		return nil, err
	}
	return ownContext(made), nil
}

func ownContext(c C.guf_context) *Context { return owner[Context](c, cContextRelease) }

// Clone returns another reference to the same context. The caller closes it separately.
func (c *Context) Clone() (*Context, error) {
	return another(c, cContextRetain, ownContext)
}

// Close releases the reference. Further calls do nothing.
func (c *Context) Close() error { return c.reference().close() }

func (c *Context) reference() *handle[C.guf_context] {
	if c == nil {
		return nil
	}
	return &c.ref
}

func (c *Context) handle() C.guf_context { return c.reference().value() }

// Poll frees the objects that were closed and runs at most limit queued release callbacks (0: all)
// on this thread. Poll returns the number of callbacks that ran. A program that continues to make
// calls does not need Poll.
func Poll(limit int) (ran int, err error) {
	if err := fits(ErrArg, "limit", limit); err != nil {
		return 0, err
	}
	var count C.uint32_t
	err = cPoll(C.uint32_t(limit), &count)
	return int(count), err
}

// LogLevel is the severity of a line of the log.
type LogLevel int32

// Levels of the log, most severe first.
const (
	LogError LogLevel = iota
	LogWarning
	LogInformation
)

// ReadLog removes and returns the oldest line of the library's log. ok is false if the log is
// empty. The library itself prints nothing.
func ReadLog() (line string, level LogLevel, ok bool) {
	var text [1024]C.char
	var number C.int32_t
	if cLogRead(&text[0], C.size_t(len(text)), &number) != nil || number < 0 {
		return "", 0, false
	}
	return C.GoString(&text[0]), LogLevel(number), true
}

// Shutdown waits for all work, stops the library's threads and frees its caches. A program need not
// call it before it exits. After Shutdown, objects can still be closed, but calls that need a
// device fail with ErrShutdown. If ctx ends first, Shutdown returns ctx's error and the library
// stays usable.
func Shutdown(ctx context.Context) error {
	return wait(ctx, func(nanoseconds C.uint64_t) error { return cShutdown(nanoseconds) })
}

const longestWait = 2 * time.Millisecond

// wait repeatedly calls a function that waits for a limited time, until the function is done or ctx
// ends. A call whose time limit expires does not consume a failure that the library has to report.
// For a context that cannot end, or a nil context, wait makes a single call without a limit.
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

// done converts the result of a query.
func done(err error) (bool, error) {
	if err == statusNotReady {
		return false, nil
	}
	return err == nil, err
}
