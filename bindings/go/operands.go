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

// Operand is what calls take: an [Array], an [AnyArray] or a scalar. nil, and an array that is nil,
// is none. Arrays that wrap memory of the
// program ([Of]) are the way to give slices, without a copy.
type Operand interface {
	fill(operand *C.guf_operand)
}

// AnyOperand is an operand that is an array.
type AnyOperand interface {
	Operand
	Any() *AnyArray
}

// anyOf is the array that an operand is; nil where none is given.
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

// scalar is one element of a type, or a number that takes the type of the other operands.
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

// Scalar is one element, of exactly the type T.
func Scalar[T Element](value T) Operand {
	made := &scalar{kind: cGUF_OPERAND_SCALAR, dtype: DTypeOf[T]()}
	*(*T)(unsafe.Pointer(&made.value)) = value
	return made
}

// ScalarOf is one element of a type known at run time, of at most 16 bytes, by its bytes in memory:
// a time with a unit, for one. ErrDType where an element has not as many.
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

// Int is an integer that takes the type of the other operands, as an int of Python does. It fails
// the call with ErrOverflow where it does not fit that type.
func Int(value int64) Operand {
	return &scalar{kind: cGUF_OPERAND_WEAK_INT, value: [2]uint64{uint64(value)}}
}

// BigInt is [Int] of any size; of nil it is no operand.
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

// Float is a number that takes the type of the other operands where that is one of floating-point
// or complex numbers, as a float of Python does.
func Float(value float64) Operand {
	return &scalar{kind: cGUF_OPERAND_WEAK_FLOAT, value: [2]uint64{math.Float64bits(value)}}
}

// Complex is a complex number that takes the type of the other operands, as one of Python does.
func Complex(value complex128) Operand {
	return &scalar{kind: cGUF_OPERAND_WEAK_COMPLEX,
		value: [2]uint64{math.Float64bits(real(value)), math.Float64bits(imag(value))}}
}

// None is no value where one would be used otherwise: the initial value of a reduction that shall
// have none, NumPy's initial=None.
func None() Operand { return nothing{} }

type nothing struct{}

func (nothing) fill(*C.guf_operand) {}
