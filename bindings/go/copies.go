// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"math"
	"runtime"
	"unsafe"
)

// Fill sets every element to a scalar, which is cast to the array's dtype. If s is not nil, Fill
// queues the operation on the stream s. Errors: ErrReadOnly, ErrOverflow for a weak integer that
// does not fit, ErrArg if value is not a scalar.
func (a *AnyArray) Fill(value Operand, s *Stream) error {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(value)
	b := acquireBlock()
	defer b.release()
	operands := b.operands(1)
	b.set(&operands[0], value)
	return cArrayFill(a.handle(), &operands[0], s.handle())
}

// Copy returns a new array of the same dtype on the same device, with the given layout.
func (a *AnyArray) Copy(order Order, s *Stream) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var made C.guf_array
	err := retry(func() error {
		return cArrayCopy(a.handle(), C.int32_t(order), s.handle(), &made)
	})
	return madeArray(made, err)
}

// Assign copies source into the array, with broadcasting and casting. If the memory of source
// overlaps the array, the result is as if source had been copied first. Errors: ErrCasting,
// ErrShape, ErrReadOnly, ErrOverlap.
func (a *AnyArray) Assign(source AnyOperand, casting Casting, s *Stream) error {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(source)
	return retry(func() error {
		return cArrayAssign(a.handle(), anyOf(source).handle(), C.int32_t(casting), s.handle())
	})
}

// AsType returns a new array of another dtype. Errors: ErrCasting if casting forbids the
// conversion, ErrDType.
func (a *AnyArray) AsType(dtype DType, casting Casting, order Order, s *Stream) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var made C.guf_array
	err := retry(func() error {
		return cArrayAstype(a.handle(), C.guf_dtype(dtype), C.int32_t(casting), C.int32_t(order),
			s.handle(), &made)
	})
	return madeArray(made, err)
}

// ToDevice copies into a new array on the device. With a stream, or between two GPUs, the copy is
// queued. Without a stream, the copy is complete on return if the source or the destination is host
// memory.
func (a *AnyArray) ToDevice(d Device, s *Stream) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var made C.guf_array
	err := retry(func() error { return cArrayToDevice(a.handle(), d.c, s.handle(), &made) })
	return madeArray(made, err)
}

// CopyTo copies into an existing array of equal dtype and shape on any device. The copy is queued
// under the same conditions as in ToDevice. Errors: ErrDType, ErrShape, ErrReadOnly.
func (a *AnyArray) CopyTo(destination AnyOperand, s *Stream) error {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(destination)
	to := anyOf(destination)
	existing := to.handle()
	if existing == nil {
		return &Error{ErrHandle, "no array to copy into", -1, -1, 0}
	}
	return cArrayToDevice(a.handle(), to.Device().c, s.handle(), &existing)
}

// CopyBytes copies the elements into host memory in COrder or FOrder and waits for the copy. The
// copy runs after earlier work of the stream or, without a stream, after all pending work on the
// array. CopyBytes fails with ErrBufferTooSmall if the elements do not fit into destination.
func (a *AnyArray) CopyBytes(destination []byte, order Order, s *Stream) error {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var pinner runtime.Pinner
	defer pinner.Unpin()
	start := unsafe.SliceData(destination)
	if len(destination) > 0 {
		pinner.Pin(start)
	}
	err := cArrayCopyToHost(a.handle(), unsafe.Pointer(start), C.uint64_t(len(destination)),
		C.int32_t(order), s.handle())
	if err == nil && s != nil {
		err = cStreamSynchronize(s.handle(), math.MaxUint64)
	}
	return err
}
