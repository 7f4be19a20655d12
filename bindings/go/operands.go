// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"fmt"
	"math"
	"math/big"
	"unsafe"
)

// Operand is an operand of a call: an [Array], an [AnyArray] or a scalar. nil, or a nil array,
// means no operand. To pass a slice, wrap it in an array without a copy ([Of]).
type Operand interface {
	fill(operand *C.guf_operand)
}

// AnyOperand is an operand that is an array.
type AnyOperand interface {
	Operand
	Any() *AnyArray
}

// anyOf returns the array of an operand, or nil if there is none.
func anyOf(operand AnyOperand) *AnyArray {
	if operand == nil {
		return nil
	}
	return operand.Any()
}

func (a *AnyArray) fill(operand *C.guf_operand) {
	operand.kind = cGUF_OPERAND_ARRAY
	operand.array = a.ref.value()
}

// scalar is one element of a dtype, or a number that adopts the dtype of the other operands.
type scalar struct {
	kind  C.int32_t
	dtype DType
	value [2]uint64
}

func (s *scalar) fill(operand *C.guf_operand) {
	operand.kind = s.kind
	operand.dtype = C.guf_dtype(s.dtype)
	operand.value[0], operand.value[1] = C.uint64_t(s.value[0]), C.uint64_t(s.value[1])
}

// Scalar returns a scalar operand of exactly the type T.
func Scalar[T Element](value T) Operand {
	made := &scalar{kind: cGUF_OPERAND_SCALAR, dtype: DTypeOf[T]()}
	*(*T)(unsafe.Pointer(&made.value)) = value
	return made
}

// ScalarOf returns a scalar operand of a dtype known at run time, such as a datetime with a unit,
// from the bytes of the element in memory. An element may have at most 16 bytes. ScalarOf fails
// with ErrDType if the number of bytes is not the item size.
func ScalarOf(dtype DType, bytes []byte) (Operand, error) {
	if size := dtype.ItemSize(); len(bytes) != size || size == 0 || size > 16 {
		message := fmt.Sprintf("%d bytes for a scalar of %v, whose elements have %d; 16 are possible",
			len(bytes), dtype, size)
		return nil, &Error{ErrDType, message, -1, -1, 0}
	}
	made := &scalar{kind: cGUF_OPERAND_SCALAR, dtype: dtype}
	copy((*[16]byte)(unsafe.Pointer(&made.value))[:], bytes)
	return made, nil
}

// Int returns an integer that adopts the dtype of the other operands, like an int of Python. The
// call fails with ErrOverflow if the integer does not fit into that dtype.
func Int(value int64) Operand {
	return &scalar{kind: cGUF_OPERAND_WEAK_INT, value: [2]uint64{uint64(value)}}
}

// BigInt is like [Int], for integers of any size. BigInt(nil) returns nil, which means no operand.
func BigInt(value *big.Int) Operand {
	if value == nil {
		return nil
	}
	if value.IsInt64() {
		return Int(value.Int64())
	}
	made := &scalar{kind: cGUF_OPERAND_WEAK_INT_HUGE}
	magnitude := new(big.Int).Abs(value)
	made.value[0] = math.MaxUint64
	if magnitude.IsUint64() {
		made.value[0] = magnitude.Uint64()
	} else {
		made.value[1] |= 2
	}
	if value.Sign() < 0 {
		made.value[1] |= 1
	}
	return made
}

// Float returns a number that adopts the dtype of the other operands if they are floating-point or
// complex, like a float of Python.
func Float(value float64) Operand {
	return &scalar{kind: cGUF_OPERAND_WEAK_FLOAT, value: [2]uint64{math.Float64bits(value)}}
}

// Complex returns a complex number that adopts the dtype of the other operands, like a complex of
// Python.
func Complex(value complex128) Operand {
	return &scalar{kind: cGUF_OPERAND_WEAK_COMPLEX,
		value: [2]uint64{math.Float64bits(real(value)), math.Float64bits(imag(value))}}
}

// None returns an operand that means "no value". As ReduceOptions.Initial, it means a reduction
// without an initial value, like NumPy's initial=None, whereas nil selects the default.
func None() Operand { return nothing{} }

type nothing struct{}

func (nothing) fill(*C.guf_operand) {}
