// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"math"
	"runtime"
	"unsafe"
)

// Fill sets every element to a scalar, cast to the array's type. With a stream it is queued.
// Errors: ErrReadOnly, ErrOverflow for a weak integer that does not fit, ErrArg for no scalar.
func (a *AnyArray) Fill(value Operand, s *Stream) error {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(value)
	b := lend()
	defer b.back()
	operands := b.operands(1)
	b.set(&operands[0], value)
	return cArrayFill(a.handle(), &operands[0], s.handle())
}

// Copy is a new array of the same type on the same device, laid out by order.
func (a *AnyArray) Copy(order Order, s *Stream) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var made C.guf_array
	err := twice(func() error {
		return cArrayCopy(a.handle(), C.int32_t(order), s.handle(), &made)
	})
	return madeArray(made, err)
}

// Assign copies source into the array, broadcasting and casting; overlapping memory behaves as if
// source were copied first. Errors: ErrCasting, ErrShape, ErrReadOnly, ErrOverlap.
func (a *AnyArray) Assign(source AnyOperand, casting Casting, s *Stream) error {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(source)
	return twice(func() error {
		return cArrayAssign(a.handle(), anyOf(source).handle(), C.int32_t(casting), s.handle())
	})
}

// AsType is a new array of another type. Errors: ErrCasting where casting forbids it, ErrDType.
func (a *AnyArray) AsType(dtype DType, casting Casting, order Order, s *Stream) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var made C.guf_array
	err := twice(func() error {
		return cArrayAstype(a.handle(), C.guf_dtype(dtype), C.int32_t(casting), C.int32_t(order),
			s.handle(), &made)
	})
	return madeArray(made, err)
}

// ToDevice copies into a new array on the device. With a stream, or between two GPUs, the copy is
// queued; without one it is complete on return when one side is host memory.
func (a *AnyArray) ToDevice(d Device, s *Stream) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var made C.guf_array
	err := twice(func() error { return cArrayToDevice(a.handle(), d.c, s.handle(), &made) })
	return madeArray(made, err)
}

// CopyTo copies into an array that is there, of equal type and shape, on any device; queued as by
// ToDevice. Errors: ErrDType, ErrShape, ErrReadOnly.
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

// CopyBytes copies the elements into host memory, by COrder or FOrder, behind the stream's earlier
// work, and waits for it; without a stream behind all work with the array.
// ErrBufferTooSmall where they do not fit.
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
