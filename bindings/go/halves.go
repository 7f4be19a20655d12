// SPDX-License-Identifier: Apache-2.0

package gufunc

import "math"

// Float16 is an IEEE 754 binary16 number, stored as its bits.
type Float16 uint16

// BFloat16 is the upper half of a float32, stored as its bits.
type BFloat16 uint16

// Time64 is an element of a datetime64 array: a number of units since 1970-01-01, or [NaT].
type Time64 int64

// Delta64 is an element of a timedelta64 array: a number of units, or [NaT].
type Delta64 int64

// NewFloat16 rounds to the nearest Float16, ties to even.
func NewFloat16(value float32) Float16 {
	bits := math.Float32bits(value)
	sign := Float16(bits >> 16 & 0x8000)
	magnitude := bits & 0x7fffffff
	switch {
	case magnitude > 0x7f800000:
		return sign | 0x7e00 | Float16(magnitude>>13&0x1ff)
	case magnitude >= 0x477ff000:
		return sign | 0x7c00
	case magnitude < 0x38800000: // below the smallest normal number: a multiple of 2^-24
		steps := math.RoundToEven(float64(math.Float32frombits(magnitude)) * (1 << 24))
		return sign | Float16(steps)
	}
	return sign | Float16((magnitude-0x38000000+0xfff+magnitude>>13&1)>>13)
}

// Float32 converts the number exactly.
func (f Float16) Float32() float32 {
	sign := uint32(f&0x8000) << 16
	exponent, fraction := uint32(f>>10&31), uint32(f&0x3ff)
	switch exponent {
	case 0:
		magnitude := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(magnitude) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// NewBFloat16 rounds to the nearest BFloat16, ties to even.
func NewBFloat16(value float32) BFloat16 {
	bits := math.Float32bits(value)
	if bits&0x7fffffff > 0x7f800000 {
		return BFloat16(bits>>16 | 0x40)
	}
	return BFloat16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 converts the number exactly.
func (f BFloat16) Float32() float32 { return math.Float32frombits(uint32(f) << 16) }

// Element is the set of element types of a typed [Array].
type Element interface {
	bool | int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint |
		Float16 | BFloat16 | float32 | float64 | complex64 | complex128 | Time64 | Delta64
}

// DTypeOf returns the dtype of a Go type. Time64 and Delta64 have the generic unit.
func DTypeOf[T Element]() DType { return dtypeOf((*T)(nil)) }

// dtypeOf is DTypeOf for a pointer to the Go type. dtypeOf returns 0 if the type is not an
// [Element].
func dtypeOf(pointer any) DType {
	switch pointer.(type) {
	case *bool:
		return Bool
	case *int8:
		return Int8
	case *int16:
		return Int16
	case *int32:
		return Int32
	case *int64, *int:
		return Int64
	case *uint8:
		return Uint8
	case *uint16:
		return Uint16
	case *uint32:
		return Uint32
	case *uint64, *uint:
		return Uint64
	case *Float16:
		return Float16Type
	case *BFloat16:
		return BFloat16Type
	case *float32:
		return Float32
	case *float64:
		return Float64
	case *complex64:
		return Complex64
	case *complex128:
		return Complex128
	case *Time64:
		return DateTime64
	case *Delta64:
		return TimeDelta64
	}
	return 0
}

// elementTypes has a nil pointer to one Go type for each dtype.
var elementTypes = []any{(*bool)(nil), (*int8)(nil), (*int16)(nil), (*int32)(nil), (*int64)(nil),
	(*uint8)(nil), (*uint16)(nil), (*uint32)(nil), (*uint64)(nil), (*Float16)(nil),
	(*BFloat16)(nil), (*float32)(nil), (*float64)(nil), (*complex64)(nil), (*complex128)(nil),
	(*Time64)(nil), (*Delta64)(nil)}

// holds reports whether a Go type whose dtype is d can represent elements of dtype. This is the
// case if the dtypes are equal, or if d is DateTime64 or TimeDelta64 and dtype is the same datetime
// type with any unit.
func (d DType) holds(dtype DType) bool {
	if d == DateTime64 || d == TimeDelta64 {
		return dtype&0xff == d&0xff
	}
	return dtype == d
}
