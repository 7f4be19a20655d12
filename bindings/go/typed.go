// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Array is an array of elements of type T. It has all that [AnyArray] has; views and copies of it
// are typed too.
type Array[T Element] struct{ AnyArray }

// Alloc allocates an array on the device; its values are unspecified. Errors as of [AllocAny].
func Alloc[T Element](d Device, shape ...int) (*Array[T], error) {
	return typed[T](AllocAny(d, DTypeOf[T](), nil, shape...))
}

// AllocHost allocates host memory for use with the device: pinned, mapped or managed.
// ErrUnsupported where the device has no such memory.
func AllocHost[T Element](d Device, memory HostMemory, shape ...int) (*Array[T], error) {
	return typed[T](AllocAny(d, DTypeOf[T](), &AllocOptions{Host: memory}, shape...))
}

// Full allocates an array on the device and fills it.
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

// As is the same array with the type of its elements known: no copy, one Close for both. It fails
// with ErrDType where they are of another type.
func As[T Element](a *AnyArray) (*Array[T], error) {
	if found := a.DType(); !DTypeOf[T]().holds(found) {
		if _, err := a.Info(); err != nil {
			return nil, err
		}
		message := fmt.Sprintf("the elements are %v, not %v", found, DTypeOf[T]())
		return nil, &Error{ErrDType, message, -1, -1, 0}
	}
	return cast[T](a), nil
}

// cast changes the view of the one object: Array has nothing but its AnyArray.
func cast[T Element](a *AnyArray) *Array[T] { return (*Array[T])(unsafe.Pointer(a)) }

// typed gives an array that is known to be of T its type.
func typed[T Element](a *AnyArray, err error) (*Array[T], error) {
	if err != nil {
		return nil, err
	}
	return cast[T](a), nil
}

// Data is the elements in place, without a copy. The array has to lie in host memory, C-contiguous,
// aligned, in this machine's byte order: ErrUnsupported otherwise (Copy or CopyToHost). It waits
// for the work that was queued with the array's memory; behind later work Synchronize, before the
// slice is used again. The slice is of the array's memory: keep the array (runtime.KeepAlive) and
// do not close it while the slice is used. A read-only array's must not be written.
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

// CopyToHost copies the elements in C order into destination, behind the stream's earlier work, and
// waits for it; without a stream behind all work with the array.
// ErrBufferTooSmall where they do not fit.
func (a *Array[T]) CopyToHost(destination []T, s *Stream) error {
	bytes := uintptr(len(destination)) * unsafe.Sizeof(*new(T))
	start := (*byte)(unsafe.Pointer(unsafe.SliceData(destination)))
	return a.CopyBytes(unsafe.Slice(start, bytes), COrder, s)
}

// Values is a copy of the elements in C order, from wherever they lie, behind all work with the
// array. ErrNoMemory where they are more than the memory that is free: those of a broadcast array.
func (a *Array[T]) Values() ([]T, error) {
	info, err := a.Info()
	if err != nil {
		return nil, err
	}
	if err := room(info.NBytes); err != nil {
		return nil, err
	}
	made := make([]T, info.Size)
	return made, a.CopyToHost(made, nil)
}

// Go ends the program where it gets no memory: from so many bytes on C's allocator is asked first.
const asked = 1 << 30

// room reports, as an error, that there is no memory for a copy.
func room(bytes int) error {
	if bytes >= 0 && bytes < asked {
		return nil
	}
	if bytes >= 0 && bytes < 1<<46 {
		if memory := C.gufgo_room(C.size_t(bytes)); memory != 0 {
			return nil
		}
	}
	message := fmt.Sprintf("no memory for a copy of %d bytes", uint(bytes))
	return &Error{ErrNoMemory, message, -1, -1, 0}
}

// Slice is NumPy's a[ranges..., ...], see [AnyArray.Slice].
func (a *Array[T]) Slice(ranges ...Range) (*Array[T], error) {
	return typed[T](a.Any().Slice(ranges...))
}

// Reshape is a view of the same elements, see [AnyArray.Reshape].
func (a *Array[T]) Reshape(shape ...int) (*Array[T], error) {
	return typed[T](a.Any().Reshape(shape...))
}

// ReshapeOrder is Reshape by an order, see [AnyArray.ReshapeOrder].
func (a *Array[T]) ReshapeOrder(order Order, shape ...int) (*Array[T], error) {
	return typed[T](a.Any().ReshapeOrder(order, shape...))
}

// Ravel is a view of one dimension, see [AnyArray.Ravel].
func (a *Array[T]) Ravel(order Order) (*Array[T], error) {
	return typed[T](a.Any().Ravel(order))
}

// Transpose is a view with other axes first, see [AnyArray.Transpose].
func (a *Array[T]) Transpose(axes ...int) (*Array[T], error) {
	return typed[T](a.Any().Transpose(axes...))
}

// BroadcastTo is a read-only view of the shape, see [AnyArray.BroadcastTo].
func (a *Array[T]) BroadcastTo(shape ...int) (*Array[T], error) {
	return typed[T](a.Any().BroadcastTo(shape...))
}

// Squeeze is a view without axes of extent 1, see [AnyArray.Squeeze].
func (a *Array[T]) Squeeze(axes ...int) (*Array[T], error) {
	return typed[T](a.Any().Squeeze(axes...))
}

// ExpandDims is a view with axes of extent 1, see [AnyArray.ExpandDims].
func (a *Array[T]) ExpandDims(axes ...int) (*Array[T], error) {
	return typed[T](a.Any().ExpandDims(axes...))
}

// SlidingWindowView is NumPy's, see [AnyArray.SlidingWindowView].
func (a *Array[T]) SlidingWindowView(axes, windows []int) (*Array[T], error) {
	return typed[T](a.Any().SlidingWindowView(axes, windows))
}

// Clone is another reference to the same memory, see [AnyArray.Clone].
func (a *Array[T]) Clone() (*Array[T], error) { return typed[T](a.Any().Clone()) }

// Copy is a new array on the same device, see [AnyArray.Copy].
func (a *Array[T]) Copy(order Order, s *Stream) (*Array[T], error) {
	return typed[T](a.Any().Copy(order, s))
}

// ToDevice copies into a new array on the device, see [AnyArray.ToDevice].
func (a *Array[T]) ToDevice(d Device, s *Stream) (*Array[T], error) {
	return typed[T](a.Any().ToDevice(d, s))
}

// KeepAlive keeps the array's memory up to this point of the program, for slices of Data.
func (a *AnyArray) KeepAlive() { runtime.KeepAlive(a) }
