// SPDX-License-Identifier: Apache-2.0

package gufunc

import (
	"context"
	"runtime"
	"unsafe"
)

// This file defines the methods of *Array that must accept a nil pointer. The methods of *AnyArray
// accept nil, but through embedding they would panic for a nil *Array.

// Any returns the array itself as an AnyArray.
func (a *Array[T]) Any() *AnyArray {
	if a == nil {
		return nil
	}
	return &a.AnyArray
}

// Close releases the reference; see [AnyArray.Close].
func (a *Array[T]) Close() error { return a.Any().Close() }

// KeepAlive keeps the array's memory alive up to this point of the program, for slices of Data.
func (a *Array[T]) KeepAlive() { runtime.KeepAlive(a) }

// Synchronize waits for the work on the array's memory; see [AnyArray.Synchronize].
func (a *Array[T]) Synchronize(ctx context.Context) error { return a.Any().Synchronize(ctx) }

// Info returns a description of the array.
func (a *Array[T]) Info() (ArrayInfo, error) { return a.Any().Info() }

// Shape returns the extents of the array, or nil if the array is closed.
func (a *Array[T]) Shape() []int { return a.Any().Shape() }

// Strides returns the strides in bytes, or nil if the array is closed.
func (a *Array[T]) Strides() []int { return a.Any().Strides() }

// DType returns the dtype, or 0 if the array is closed.
func (a *Array[T]) DType() DType { return a.Any().DType() }

// Size returns the number of elements.
func (a *Array[T]) Size() int { return a.Any().Size() }

// Device returns the device whose memory the array uses. It is the cpu for host memory.
func (a *Array[T]) Device() Device { return a.Any().Device() }

// String formats the array as NumPy does; see [AnyArray.String].
func (a *Array[T]) String() string { return a.Any().String() }

// Fill sets every element to a scalar; see [AnyArray.Fill].
func (a *Array[T]) Fill(value Operand, s *Stream) error { return a.Any().Fill(value, s) }

// Assign copies source into the array; see [AnyArray.Assign].
func (a *Array[T]) Assign(source AnyOperand, casting Casting, s *Stream) error {
	return a.Any().Assign(source, casting, s)
}

// AsType returns a new array of another dtype; see [AnyArray.AsType].
func (a *Array[T]) AsType(dtype DType, casting Casting, order Order, s *Stream) (*AnyArray, error) {
	return a.Any().AsType(dtype, casting, order, s)
}

// CopyTo copies into an existing array; see [AnyArray.CopyTo].
func (a *Array[T]) CopyTo(destination AnyOperand, s *Stream) error {
	return a.Any().CopyTo(destination, s)
}

// CopyBytes copies the elements into host memory; see [AnyArray.CopyBytes].
func (a *Array[T]) CopyBytes(destination []byte, order Order, s *Stream) error {
	return a.Any().CopyBytes(destination, order, s)
}

// ToDLPack exports the array's memory as a tensor; see [AnyArray.ToDLPack].
func (a *Array[T]) ToDLPack(options *DLPackOptions) (unsafe.Pointer, error) {
	return a.Any().ToDLPack(options)
}
