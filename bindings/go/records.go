// SPDX-License-Identifier: Apache-2.0

package gufunc

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// Records is the elements of an array of records in place, as a Go structure of their size without
// pointers. Conditions as of [Array.Data]; ErrDType where the sizes differ, T holds pointers, or
// the elements are neither records nor of T.
func Records[T any](a *AnyArray) ([]T, error) {
	pointer, info, err := a.hostMemory(unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	element := (*T)(nil)
	if described, err := info.DType.Info(); err != nil {
		return nil, err
	} else if described.Kind != 'V' && !dtypeOf(element).holds(info.DType) {
		message := fmt.Sprintf("%v is no type of records", info.DType)
		return nil, &Error{ErrDType, message, -1, -1, 0}
	}
	if err := recordOf(reflect.TypeOf(element).Elem(), info.DType); err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(pointer), info.Size), nil
}

// OfRecords makes an array of a slice of structures, whose type RegisterRecord made: of their size,
// without pointers. ErrDType where the sizes differ or T holds pointers. As [Of] otherwise.
func OfRecords[T any](dtype DType, data []T, shape ...int) (*AnyArray, error) {
	if err := recordOf(reflect.TypeOf((*T)(nil)).Elem(), dtype); err != nil {
		return nil, err
	}
	return wrapSlice(data, &Memory{DType: dtype, Shape: shape})
}

// recordOf refuses Go types that cannot be the elements of dtype.
func recordOf(element reflect.Type, dtype DType) error {
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

// What pointers found, by reflect.Type: each run of a loop over records asks.
var pointerTypes sync.Map

// pointers reports whether a value of the type holds pointers of Go, which the collector does not
// see in the library's memory.
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
		found = t.Kind() > reflect.Complex128 // all kinds behind the numbers do
	}
	pointerTypes.Store(t, found)
	return found
}
