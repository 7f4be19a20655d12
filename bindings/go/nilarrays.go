// SPDX-License-Identifier: Apache-2.0

package gufunc

import (
	"context"
	"runtime"
	"unsafe"
)

// A nil *Array answers as a nil *AnyArray does, which methods that come by embedding would not: Go
// panics on the way to them.

// Any is the array itself, whatever the type of its elements.
func (a *Array[T]) Any() *AnyArray {
	if a == nil {
		return nil
	}
	return &a.AnyArray
}

// Close gives the reference back, see [AnyArray.Close].
func (a *Array[T]) Close() error { return a.Any().Close() }

// KeepAlive keeps the array's memory up to this point of the program, for slices of Data.
func (a *Array[T]) KeepAlive() { runtime.KeepAlive(a) }

// Synchronize waits for the work with the array's memory, see [AnyArray.Synchronize].
func (a *Array[T]) Synchronize(ctx context.Context) error { return a.Any().Synchronize(ctx) }

// Info describes the array.
func (a *Array[T]) Info() (ArrayInfo, error) { return a.Any().Info() }

// Shape is the array's extents; nil for a closed array.
func (a *Array[T]) Shape() []int { return a.Any().Shape() }

// Strides is the array's strides in bytes; nil for a closed array.
func (a *Array[T]) Strides() []int { return a.Any().Strides() }

// DType is the type of the elements; 0 for a closed array.
func (a *Array[T]) DType() DType { return a.Any().DType() }

// Size is the number of elements.
func (a *Array[T]) Size() int { return a.Any().Size() }

// Device is where the array lies: the cpu for host memory.
func (a *Array[T]) Device() Device { return a.Any().Device() }

// String is the array as NumPy prints it, see [AnyArray.String].
func (a *Array[T]) String() string { return a.Any().String() }

// Fill sets every element to a scalar, see [AnyArray.Fill].
func (a *Array[T]) Fill(value Operand, s *Stream) error { return a.Any().Fill(value, s) }

// Assign copies source into the array, see [AnyArray.Assign].
func (a *Array[T]) Assign(source AnyOperand, casting Casting, s *Stream) error {
	return a.Any().Assign(source, casting, s)
}

// AsType is a new array of another type, see [AnyArray.AsType].
func (a *Array[T]) AsType(dtype DType, casting Casting, order Order, s *Stream) (*AnyArray, error) {
	return a.Any().AsType(dtype, casting, order, s)
}

// CopyTo copies into an array that is there, see [AnyArray.CopyTo].
func (a *Array[T]) CopyTo(destination AnyOperand, s *Stream) error {
	return a.Any().CopyTo(destination, s)
}

// CopyBytes copies the elements into host memory, see [AnyArray.CopyBytes].
func (a *Array[T]) CopyBytes(destination []byte, order Order, s *Stream) error {
	return a.Any().CopyBytes(destination, order, s)
}

// ToDLPack makes a tensor over the array's memory, see [AnyArray.ToDLPack].
func (a *Array[T]) ToDLPack(options *DLPackOptions) (unsafe.Pointer, error) {
	return a.Any().ToDLPack(options)
}
