// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime/cgo"
	"unicode/utf8"
	"unsafe"
)

// callbacks.c calls the exported functions of this file. A panic must not leave these functions,
// because their callers on the stack are C functions.

//export gufuncGoLoop
func gufuncGoLoop(args **C.char, dims, steps *C.int64_t, user C.uintptr_t,
	record *C.guf_error) (status C.guf_status) {
	defer reportPanic(record, &status)
	run := cgo.Handle(user).Value().(*hostLoop)
	given := run.begin(args, dims, steps)
	defer given.end()
	return report(record, run.function(given))
}

//export gufuncGoCoreDims
func gufuncGoCoreDims(ndims C.int32_t, sizes *C.int64_t, user C.uintptr_t,
	record *C.guf_error) (status C.guf_status) {
	defer reportPanic(record, &status)
	hook := cgo.Handle(user).Value().(CoreDims)
	return report(record, hook(unsafe.Slice((*int)(unsafe.Pointer(sizes)), int(ndims))))
}

//export gufuncGoProgress
func gufuncGoProgress(user C.uintptr_t, finished, items C.int64_t) (stop C.int32_t) {
	watched := cgo.Handle(user).Value().(*progress)
	defer func() {
		if problem := recover(); problem != nil {
			watched.panicked = problem
			stop = 1
		}
	}()
	refused := watched.report != nil && !watched.report(int(finished), int(items))
	if refused || watched.ctx.Err() != nil {
		return 1
	}
	return 0
}

//export gufuncGoDestroy
func gufuncGoDestroy(user C.uintptr_t) { cgo.Handle(user).Delete() }

//export gufuncGoRelease
func gufuncGoRelease(user C.uintptr_t) {
	defer func() { _ = recover() }()
	h := cgo.Handle(user)
	ended := h.Value().(*released)
	h.Delete()
	ended.run()
}

// report writes a Go function's error into the library's error record and returns its status: the
// status of an [Error] or [Status] that err wraps, otherwise ErrLoop.
func report(record *C.guf_error, err error) C.guf_status {
	if err == nil {
		return cGUF_OK
	}
	status, text := ErrLoop, err.Error()
	if failed := (*Error)(nil); errors.As(err, &failed) {
		status = failed.Status
		record.argument, record.axis = C.int32_t(failed.Argument), C.int32_t(failed.Axis)
		record.native_code = C.int32_t(failed.NativeCode)
		if err == error(failed) {
			text = failed.Message
		}
	} else if !errors.As(err, &status) {
		status = ErrLoop
	}
	if status < 100 { // statuses below 100 are not failures
		status = ErrLoop
	}
	if text == "" { // the library would replace an empty text by "a loop failed"
		text = status.Error()
	}
	describe(record, text)
	return C.guf_status(status)
}

// reportPanic converts a panic into a failure. It must be deferred.
func reportPanic(record *C.guf_error, status *C.guf_status) {
	if problem := recover(); problem != nil {
		*status = cGUF_E_LOOP
		describe(record, fmt.Sprint("panic: ", problem))
	}
}

// describe copies as many whole UTF-8 characters of a text as fit into the error record.
func describe(record *C.guf_error, text string) {
	message := unsafe.Slice((*byte)(unsafe.Pointer(&record.message[0])), len(record.message))
	length := min(len(text), len(message)-1)
	for length < len(text) && length > 0 && !utf8.RuneStart(text[length]) {
		length--
	}
	message[copy(message, text[:length])] = 0
}
