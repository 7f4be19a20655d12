// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// Memory is memory that the program owns, as an array sees it.
type Memory struct {
	DType    DType
	Shape    []int
	Strides  []int  // in bytes; nil: C-contiguous
	Device   Device // where it lies; the zero Device: host memory
	ReadOnly bool   // refused as an output
	Swapped  bool   // elements in the other byte order
}

// released is what ends with wrapped memory.
type released struct {
	pinner runtime.Pinner
	then   func()
}

func (r *released) run() {
	r.pinner.Unpin()
	if r.then != nil {
		r.then()
	}
}

// Of makes an array of a slice, without a copy: what calls write is in data. No shape means one
// dimension. data is kept, by the library too, until no array and no queued work uses it; closing
// the array does not end that earlier. Append to data, and the array keeps seeing the old memory.
// ErrShape where the shape has not exactly len(data) elements.
func Of[T Element](data []T, shape ...int) (*Array[T], error) {
	return typed[T](wrapSlice(data, &Memory{DType: DTypeOf[T](), Shape: shape}))
}

// ReadOnly is [Of] for data that no call may write.
func ReadOnly[T Element](data []T, shape ...int) (*Array[T], error) {
	m := &Memory{DType: DTypeOf[T](), Shape: shape, ReadOnly: true}
	return typed[T](wrapSlice(data, m))
}

// Scalars and records of Go alike: wrapSlice looks at sizes only.
func wrapSlice[T any](data []T, m *Memory) (*AnyArray, error) {
	if m.Shape == nil {
		m.Shape = []int{len(data)}
	}
	size := 1
	for _, extent := range m.Shape {
		size *= extent
	}
	if size != len(data) {
		return nil, &Error{ErrShape, "the shape has not as many elements as the slice", -1, -1, 0}
	}
	r := new(released)
	address := uintptr(0)
	if len(data) > 0 {
		r.pinner.Pin(&data[0])
		address = uintptr(unsafe.Pointer(&data[0]))
	}
	return wrap(address, m, r)
}

// OfBytes makes an array that lies in data from offset on, of any type, strides and byte order. No
// element may lie outside of data: ErrShape. As [Of] otherwise.
func OfBytes(data []byte, offset int, m Memory) (*AnyArray, error) {
	if !m.within(len(data), offset) {
		return nil, &Error{ErrShape, "elements lie outside of the memory", -1, -1, 0}
	}
	r := new(released)
	address := uintptr(0)
	if len(data) > 0 {
		r.pinner.Pin(&data[0])
		address = uintptr(unsafe.Pointer(&data[0])) + uintptr(offset)
	}
	return wrap(address, &m, r)
}

// within reports whether all elements lie in so many bytes. No sum here can overflow: each is made
// only where it lies within them.
func (m *Memory) within(bytes, offset int) bool {
	for _, extent := range m.Shape {
		if extent <= 0 { // no elements, or what the library refuses
			return true
		}
	}
	size := m.DType.ItemSize()
	if offset < 0 || size > bytes || offset > bytes-size {
		return false
	}
	first, last, packed := offset, offset+size, size
	for i := len(m.Shape) - 1; i >= 0; i-- {
		steps, stride := m.Shape[i]-1, packed
		if m.Strides != nil && i < len(m.Strides) {
			stride = m.Strides[i]
		}
		switch {
		case stride > 0 && steps > (bytes-last)/stride,
			stride < 0 && uint(steps) > uint(first)/-uint(stride):
			return false
		case stride > 0:
			last += steps * stride
		case stride < 0:
			first += steps * stride
		}
		packed *= m.Shape[i]
	}
	return true
}

// OfAddress makes an array of memory that Go does not manage: C's, or a device's. It has to stay
// until release runs, which it does once, on any thread, when no array and no queued work uses the
// memory any more. release may be nil, and must not call this package.
func OfAddress(address uintptr, m Memory, release func()) (*AnyArray, error) {
	return wrap(address, &m, &released{then: release})
}

func wrap(address uintptr, m *Memory, r *released) (*AnyArray, error) {
	if m.Strides != nil && len(m.Strides) != len(m.Shape) {
		r.pinner.Unpin()
		return nil, &Error{ErrShape, "as many strides as extents are wanted", -1, -1, 0}
	}
	tensor := C.guf_tensor{struct_size: C.sizeof_guf_tensor, dtype: C.guf_dtype(m.DType),
		ndim: C.int32_t(len(m.Shape)), address: C.uint64_t(address), device: m.Device.c}
	if m.ReadOnly {
		tensor.flags |= cGUF_TENSOR_READ_ONLY
	}
	if m.Swapped {
		tensor.flags |= cGUF_TENSOR_SWAPPED
	}
	user := cgo.NewHandle(r)
	var made C.guf_array
	err := failure(C.gufgo_wrap(tensor, int64s(m.Shape), int64s(m.Strides), C.uintptr_t(user),
		&made))
	if err != nil {
		user.Delete()
		r.pinner.Unpin()
		return nil, err
	}
	return ownAnyArray(made), nil
}
