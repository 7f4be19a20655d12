// SPDX-License-Identifier: Apache-2.0

package gufunc

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

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
