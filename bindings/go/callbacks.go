// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime/cgo"
	"unsafe"
)

// The functions that callbacks.c calls. No panic leaves them: C's frames lie between.

//export gufuncGoLoop
func gufuncGoLoop(args **C.char, dims, steps *C.int64_t, user C.uintptr_t) (status C.guf_status) {
	defer func() {
		if recover() != nil {
			status = cGUF_E_LOOP
		}
	}()
	run := cgo.Handle(user).Value().(*hostLoop)
	given := LoopArgs{run.operands, args, dims, steps}
	return statusOf(run.function(&given))
}

//export gufuncGoCoreDims
func gufuncGoCoreDims(ndims C.int32_t, sizes *C.int64_t, user C.uintptr_t,
	record *C.guf_error) (status C.guf_status) {
	defer func() {
		if problem := recover(); problem != nil {
			status = cGUF_E_LOOP
			describe(record, status, fmt.Sprint("panic: ", problem))
		}
	}()
	hook := cgo.Handle(user).Value().(CoreDims)
	err := hook(unsafe.Slice((*int)(unsafe.Pointer(sizes)), int(ndims)))
	if err == nil {
		return cGUF_OK
	}
	status, text := statusOf(err), err.Error()
	if failed := (*Error)(nil); errors.As(err, &failed) {
		text = failed.Message
	}
	describe(record, status, text)
	return status
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
	if watched.told != nil && !watched.told(int(finished), int(items)) || watched.ctx.Err() != nil {
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

// statusOf is what the library is told of a Go function's error.
func statusOf(err error) C.guf_status {
	if err == nil {
		return cGUF_OK
	}
	if failed := (*Error)(nil); errors.As(err, &failed) {
		return C.guf_status(failed.Status)
	}
	if status := Status(0); errors.As(err, &status) && status >= 100 {
		return C.guf_status(status)
	}
	return cGUF_E_LOOP
}

func describe(record *C.guf_error, status C.guf_status, text string) {
	record.status = status
	message := unsafe.Slice((*byte)(unsafe.Pointer(&record.message[0])), len(record.message))
	message[copy(message[:len(message)-1], text)] = 0
}
