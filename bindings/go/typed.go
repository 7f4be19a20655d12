// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"unsafe"
)

// Array is an array with elements of type T. It has all methods of [AnyArray]; the methods that
// return views and copies of the same dtype return an Array[T].
type Array[T Element] struct{ AnyArray }

// Alloc allocates an array on the device. The values are unspecified. Alloc fails with the errors
// of [AllocAny].
func Alloc[T Element](d Device, shape ...int) (*Array[T], error) {
	return typed[T](AllocAny(d, DTypeOf[T](), nil, shape...))
}

// AllocHost allocates pinned, mapped or managed host memory for use with the device. AllocHost
// fails with ErrUnsupported if the device has no such memory.
func AllocHost[T Element](d Device, memory HostMemory, shape ...int) (*Array[T], error) {
	return typed[T](AllocAny(d, DTypeOf[T](), &AllocOptions{Host: memory}, shape...))
}

// Full allocates an array on the device and fills it with a value.
func Full[T Element](d Device, value T, shape ...int) (*Array[T], error) {
	a, err := Alloc[T](d, shape...)
	if err != nil {
		return nil, err
	}
	if err := a.Fill(Scalar(value), nil); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// As returns the same array as an array of T. As makes neither a copy nor a new reference: closing
// one of the two arrays also closes the other. As fails with ErrDType if T is not the element type
// of the array.
func As[T Element](a *AnyArray) (*Array[T], error) {
	if found := a.DType(); !DTypeOf[T]().holds(found) {
		if _, err := a.Info(); err != nil {
			return nil, err
		}
		message := fmt.Sprintf("dtype of the array: expected %v, got %v", DTypeOf[T](), found)
		return nil, &Error{ErrDType, message, -1, -1, 0}
	}
	return cast[T](a), nil
}

// cast converts the pointer in place, which is valid because AnyArray is the only field of Array.
func cast[T Element](a *AnyArray) *Array[T] { return (*Array[T])(unsafe.Pointer(a)) }

// typed casts an array whose elements are known to be of type T.
func typed[T Element](a *AnyArray, err error) (*Array[T], error) {
	if err != nil {
		return nil, err
	}
	return cast[T](a), nil
}

// Data returns the elements as a slice of the array's memory, without a copy. The array must be in
// host memory, C-contiguous, aligned and in the byte order of the machine. Otherwise Data fails
// with ErrUnsupported; use Copy or CopyToHost then. Data waits for the queued work on the array's
// memory. Before using the slice again after later work, call Synchronize. Keep the array alive
// ([Array.KeepAlive]) and open while the slice is in use. The slice of a read-only array must not
// be written.
func (a *Array[T]) Data() ([]T, error) {
	pointer, info, err := a.Any().hostMemory(unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(pointer), info.Size), nil
}

func (a *AnyArray) hostMemory(align uintptr) (unsafe.Pointer, ArrayInfo, error) {
	info, err := a.Info()
	if err != nil {
		return nil, info, err
	}
	host := info.Device == Device{}
	if !host {
		device, err := info.Device.Info()
		if err != nil {
			return nil, info, err
		}
		host = device.HostMemory
	}
	if !host || !info.CContiguous || info.SwappedBytes || info.Address%align != 0 {
		message := "only aligned C-contiguous elements of host memory can be seen in place"
		return nil, info, &Error{ErrUnsupported, message, -1, -1, 0}
	}
	if err := a.Synchronize(nil); err != nil {
		return nil, info, err
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&info.Address)), info, nil
}

// CopyToHost copies the elements in C order into destination and waits for the copy. The copy runs
// after earlier work of the stream or, without a stream, after all pending work on the array.
// CopyToHost fails with ErrBufferTooSmall if the elements do not fit into destination.
func (a *Array[T]) CopyToHost(destination []T, s *Stream) error {
	bytes := uintptr(len(destination)) * unsafe.Sizeof(*new(T))
	start := (*byte)(unsafe.Pointer(unsafe.SliceData(destination)))
	return a.CopyBytes(unsafe.Slice(start, bytes), COrder, s)
}

// Values returns a copy of the elements in C order, from any device, after all pending work on the
// array. Values fails with ErrNoMemory if the elements need more memory than is free, which is
// possible for a broadcast array.
func (a *Array[T]) Values() ([]T, error) {
	info, err := a.Info()
	if err != nil {
		return nil, err
	}
	if err := checkMemory(info.NBytes); err != nil {
		return nil, err
	}
	made := make([]T, info.Size)
	return made, a.CopyToHost(made, nil)
}

// checkedBytes is the size from which checkMemory tests whether C's allocator can provide the
// memory. The test is necessary because Go ends the program when an allocation fails.
const checkedBytes = 1 << 30

// checkMemory returns an error if there is no memory for a copy.
func checkMemory(bytes int) error {
	if bytes >= 0 && bytes < checkedBytes {
		return nil
	}
	if bytes >= 0 && bytes < 1<<46 {
		if memory := C.gufgo_has_memory(C.size_t(bytes)); memory != 0 {
			return nil
		}
	}
	message := fmt.Sprintf("no memory for a copy of %d bytes", uint(bytes))
	return &Error{ErrNoMemory, message, -1, -1, 0}
}

// Slice returns the view a[ranges..., ...]; see [AnyArray.Slice].
func (a *Array[T]) Slice(ranges ...Range) (*Array[T], error) {
	return typed[T](a.Any().Slice(ranges...))
}

// Reshape returns a view of the same elements with a different shape; see [AnyArray.Reshape].
func (a *Array[T]) Reshape(shape ...int) (*Array[T], error) {
	return typed[T](a.Any().Reshape(shape...))
}

// ReshapeOrder is Reshape with an order of the elements; see [AnyArray.ReshapeOrder].
func (a *Array[T]) ReshapeOrder(order Order, shape ...int) (*Array[T], error) {
	return typed[T](a.Any().ReshapeOrder(order, shape...))
}

// Ravel returns a one-dimensional view; see [AnyArray.Ravel].
func (a *Array[T]) Ravel(order Order) (*Array[T], error) {
	return typed[T](a.Any().Ravel(order))
}

// Transpose returns a view with permuted axes; see [AnyArray.Transpose].
func (a *Array[T]) Transpose(axes ...int) (*Array[T], error) {
	return typed[T](a.Any().Transpose(axes...))
}

// BroadcastTo returns a read-only view of the given shape; see [AnyArray.BroadcastTo].
func (a *Array[T]) BroadcastTo(shape ...int) (*Array[T], error) {
	return typed[T](a.Any().BroadcastTo(shape...))
}

// Squeeze returns a view without axes of extent 1; see [AnyArray.Squeeze].
func (a *Array[T]) Squeeze(axes ...int) (*Array[T], error) {
	return typed[T](a.Any().Squeeze(axes...))
}

// ExpandDims returns a view with new axes of extent 1; see [AnyArray.ExpandDims].
func (a *Array[T]) ExpandDims(axes ...int) (*Array[T], error) {
	return typed[T](a.Any().ExpandDims(axes...))
}

// SlidingWindowView returns a view of sliding windows; see [AnyArray.SlidingWindowView].
func (a *Array[T]) SlidingWindowView(axes, windows []int) (*Array[T], error) {
	return typed[T](a.Any().SlidingWindowView(axes, windows))
}

// Clone returns another reference to the same memory; see [AnyArray.Clone].
func (a *Array[T]) Clone() (*Array[T], error) { return typed[T](a.Any().Clone()) }

// Copy returns a new array on the same device; see [AnyArray.Copy].
func (a *Array[T]) Copy(order Order, s *Stream) (*Array[T], error) {
	return typed[T](a.Any().Copy(order, s))
}

// ToDevice copies into a new array on the device; see [AnyArray.ToDevice].
func (a *Array[T]) ToDevice(d Device, s *Stream) (*Array[T], error) {
	return typed[T](a.Any().ToDevice(d, s))
}

// KeepAlive keeps the array's memory alive up to this point of the program, for slices of Data.
func (a *AnyArray) KeepAlive() { runtime.KeepAlive(a) }

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

// AsType returns a new array of a different dtype; see [AnyArray.AsType].
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
