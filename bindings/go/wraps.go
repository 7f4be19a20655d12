// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/cgo"
	"sync"
	"unsafe"
)

// Memory describes memory of the program that an array wraps.
type Memory struct {
	DType    DType
	Shape    []int
	Strides  []int  // in bytes; nil: C-contiguous
	Device   Device // device of the memory; the zero Device: host memory
	ReadOnly bool   // the array cannot be an output
	Swapped  bool   // the byte order is not the machine's
}

// released contains what must be done when wrapped memory is no longer used.
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

// Of makes an array from a slice, without a copy: calls write into data. Without a shape the array
// has one dimension. data is kept alive until no array and no queued work uses it, even if the
// array is closed earlier. If append reallocates data, the array continues to use the old memory.
// Of fails with ErrShape if the shape does not have exactly len(data) elements.
func Of[T Element](data []T, shape ...int) (*Array[T], error) {
	return typed[T](wrapSlice(data, &Memory{DType: DTypeOf[T](), Shape: shape}))
}

// ReadOnly is like [Of], for data that no call may write.
func ReadOnly[T Element](data []T, shape ...int) (*Array[T], error) {
	m := &Memory{DType: DTypeOf[T](), Shape: shape, ReadOnly: true}
	return typed[T](wrapSlice(data, m))
}

// wrapSlice implements [Of] and [OfStructs]: T may be a scalar or a struct.
func wrapSlice[T any](data []T, m *Memory) (*AnyArray, error) {
	if m.Shape == nil {
		m.Shape = []int{len(data)}
	}
	size := 1
	for _, extent := range m.Shape {
		size *= extent
	}
	if size != len(data) {
		message := fmt.Sprintf("Shape: expected %d elements, got %d", len(data), size)
		return nil, &Error{ErrShape, message, -1, -1, 0}
	}
	r := new(released)
	address := uintptr(0)
	if len(data) > 0 {
		r.pinner.Pin(&data[0])
		address = uintptr(unsafe.Pointer(&data[0]))
	}
	return wrap(address, m, r)
}

// OfBytes makes an array from data, starting at offset, with any dtype, strides and byte order.
// OfBytes fails with ErrShape if an element would be outside of data. In all other respects it is
// like [Of].
func OfBytes(data []byte, offset int, m Memory) (*AnyArray, error) {
	if !m.within(len(data), offset) {
		return nil, &Error{ErrShape, "elements are outside of the memory", -1, -1, 0}
	}
	r := new(released)
	address := uintptr(0)
	if len(data) > 0 {
		r.pinner.Pin(&data[0])
		address = uintptr(unsafe.Pointer(&data[0])) + uintptr(offset)
	}
	return wrap(address, &m, r)
}

// within reports whether all elements are inside a buffer of this many bytes. The sums do not
// overflow, because each sum is compared with bytes before it is computed.
func (m *Memory) within(bytes, offset int) bool {
	for _, extent := range m.Shape {
		if extent <= 0 { // no elements, or an extent that the library rejects
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

// OfAddress makes an array from memory that Go does not manage, such as memory of C or of a device.
// The memory must stay valid until release runs. release runs once, on any thread, when no array
// and no queued work uses the memory. release may be nil and must not call this package.
func OfAddress(address uintptr, m Memory, release func()) (*AnyArray, error) {
	return wrap(address, &m, &released{then: release})
}

func wrap(address uintptr, m *Memory, r *released) (*AnyArray, error) {
	if m.Strides != nil && len(m.Strides) != len(m.Shape) {
		r.pinner.Unpin()
		return nil, otherCount("Strides", len(m.Strides), len(m.Shape))
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

// Structs returns the elements of an array of a structured dtype as a slice of T, without a copy. T
// is a Go struct of the same size without pointers. The array must meet the conditions of
// [Array.Data]. Structs fails with ErrDType if the sizes differ, if T contains pointers, or if the
// dtype is neither structured nor the dtype of T.
func Structs[T any](a *AnyArray) ([]T, error) {
	pointer, info, err := a.hostMemory(unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	element := (*T)(nil)
	if described, err := info.DType.Info(); err != nil {
		return nil, err
	} else if described.Kind != 'V' && !dtypeOf(element).holds(info.DType) {
		message := fmt.Sprintf("%v is not a structured dtype", info.DType)
		return nil, &Error{ErrDType, message, -1, -1, 0}
	}
	if err := structOf(reflect.TypeOf(element).Elem(), info.DType); err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(pointer), info.Size), nil
}

// OfStructs makes an array from a slice of structs, without a copy. dtype is a structured dtype
// ([RegisterDType]) of the same size, and T must not contain pointers; otherwise OfStructs fails
// with ErrDType. In all other respects OfStructs is like [Of].
func OfStructs[T any](dtype DType, data []T, shape ...int) (*AnyArray, error) {
	if err := structOf(reflect.TypeOf((*T)(nil)).Elem(), dtype); err != nil {
		return nil, err
	}
	return wrapSlice(data, &Memory{DType: dtype, Shape: shape})
}

// structOf returns an error if a Go type cannot represent the elements of dtype.
func structOf(element reflect.Type, dtype DType) error {
	if size := dtype.ItemSize(); int(element.Size()) != size {
		message := fmt.Sprintf("%v has elements of %d bytes, %v has %d", dtype, size, element,
			element.Size())
		return &Error{ErrDType, message, -1, -1, 0}
	}
	if pointers(element) {
		message := fmt.Sprintf("%v holds pointers", element)
		return &Error{ErrDType, message, -1, -1, 0}
	}
	return nil
}

// pointerTypes caches the results of the function pointers by reflect.Type, because each run of a
// loop on a structured dtype calls this function.
var pointerTypes sync.Map

// pointers reports whether a value of the type contains Go pointers. The garbage collector does not
// see pointers in the library's memory.
func pointers(t reflect.Type) bool {
	if known, found := pointerTypes.Load(t); found {
		return known.(bool)
	}
	found := false
	switch t.Kind() {
	case reflect.Array:
		found = t.Len() > 0 && pointers(t.Elem())
	case reflect.Struct:
		for i := 0; i < t.NumField() && !found; i++ {
			found = pointers(t.Field(i).Type)
		}
	default:
		found = t.Kind() > reflect.Complex128 // kinds after the numeric kinds contain pointers
	}
	pointerTypes.Store(t, found)
	return found
}
