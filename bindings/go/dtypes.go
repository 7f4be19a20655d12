// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// DType is the type of an array's elements. Two DTypes are the same type if they are equal.
type DType uint32

// The predefined dtypes. [DType.WithUnit] and [ParseDType] make datetime types with a unit, and
// [RegisterDType] makes structured dtypes.
const (
	Bool         DType = cGUF_BOOL
	Int8         DType = cGUF_I8
	Int16        DType = cGUF_I16
	Int32        DType = cGUF_I32
	Int64        DType = cGUF_I64
	Uint8        DType = cGUF_U8
	Uint16       DType = cGUF_U16
	Uint32       DType = cGUF_U32
	Uint64       DType = cGUF_U64
	Float16Type  DType = cGUF_F16
	BFloat16Type DType = cGUF_BF16
	Float32      DType = cGUF_F32
	Float64      DType = cGUF_F64
	Complex64    DType = cGUF_C64
	Complex128   DType = cGUF_C128
	DateTime64   DType = cGUF_DATETIME64  // as a dtype of a loop, accepts every unit
	TimeDelta64  DType = cGUF_TIMEDELTA64 // as a dtype of a loop, accepts every unit
)

// NaT is the datetime64 or timedelta64 value "not a time".
const NaT = -1 << 63

// Unit is the unit of a datetime64 or timedelta64.
type Unit int32

// Units, from generic (the unit of the other operand) to attoseconds.
const (
	Generic     Unit = cGUF_UNIT_GENERIC
	Year        Unit = cGUF_UNIT_YEAR
	Month       Unit = cGUF_UNIT_MONTH
	Week        Unit = cGUF_UNIT_WEEK
	Day         Unit = cGUF_UNIT_DAY
	Hour        Unit = cGUF_UNIT_HOUR
	Minute      Unit = cGUF_UNIT_MINUTE
	Second      Unit = cGUF_UNIT_SECOND
	Millisecond Unit = cGUF_UNIT_MILLISECOND
	Microsecond Unit = cGUF_UNIT_MICROSECOND
	Nanosecond  Unit = cGUF_UNIT_NANOSECOND
	Picosecond  Unit = cGUF_UNIT_PICOSECOND
	Femtosecond Unit = cGUF_UNIT_FEMTOSECOND
	Attosecond  Unit = cGUF_UNIT_ATTOSECOND
)

// Casting is the casting level of a call: the set of conversions that it may make. The zero value
// means SameKind, as in NumPy.
type Casting int32

// NumPy's casting levels, from the most to the least restrictive.
const (
	DefaultCasting Casting = cGUF_CASTING_DEFAULT
	NoCasting      Casting = cGUF_CASTING_NO
	Equiv          Casting = cGUF_CASTING_EQUIV // changes of the byte order only
	Safe           Casting = cGUF_CASTING_SAFE  // casts that preserve every value
	SameKind       Casting = cGUF_CASTING_SAME_KIND
	Unsafe         Casting = cGUF_CASTING_UNSAFE
)

// DTypeInfo describes a [DType].
type DTypeInfo struct {
	DType     DType
	ItemSize  int    // bytes
	Alignment int    // bytes
	Kind      byte   // 'b' bool, 'i', 'u', 'f', 'E' bfloat16, 'c', 'm', 'M', 'V' structured
	Letter    byte   // the character of the dtype in type strings of kernels
	Name      string // "float32", "datetime64[25s]"
	ShortName string // "f4"; "bf16"; "M8" for every unit; "V12"
}

// ParseDType parses NumPy's spellings of a dtype ("float32", "f4", "f", "bf16", "datetime64[ns]",
// "M8[25s]") and names of structured dtypes. ParseDType fails with ErrDType.
func ParseDType(spelling string) (DType, error) {
	var made C.guf_dtype
	err := withText(spelling, func(text *C.char) error { return cDtypeParse(text, &made) })
	return DType(made), err
}

// String returns the name of the dtype, such as "float32".
func (d DType) String() string {
	if d == 0 {
		return "unspecified"
	}
	name := cDtypeName(C.guf_dtype(d))
	if name == nil {
		return "no dtype"
	}
	return C.GoString(name)
}

// Info returns the size, kind and names of the dtype. Info fails with ErrDType if d is not a valid
// dtype.
func (d DType) Info() (DTypeInfo, error) {
	var info C.guf_dtype_info
	info.struct_size = C.sizeof_guf_dtype_info
	if err := cDtypeGetInfo(C.guf_dtype(d), &info); err != nil {
		return DTypeInfo{}, err
	}
	return DTypeInfo{DType(info.dtype), int(info.itemsize), int(info.alignment), byte(info.kind),
		byte(info.letter), C.GoString(&info.name[0]), C.GoString(&info.short_name[0])}, nil
}

// ItemSize returns the size of an element in bytes, or 0 if d is not a valid dtype.
func (d DType) ItemSize() int {
	info, err := d.Info()
	if err != nil {
		return 0
	}
	return info.ItemSize
}

// CanCast reports whether a cast is allowed, like NumPy's can_cast(from, to, casting).
func CanCast(from, to DType, casting Casting) (bool, error) {
	var possible C.int32_t
	err := cDtypeCanCast(C.guf_dtype(from), C.guf_dtype(to), C.int32_t(casting), &possible)
	return possible != 0, err
}

// PromoteTypes returns the smallest dtype to which both a and b can be cast safely, like NumPy's
// promote_types. PromoteTypes fails with ErrDType if there is none.
func PromoteTypes(a, b DType) (DType, error) {
	var made C.guf_dtype
	err := cDtypePromote(C.guf_dtype(a), C.guf_dtype(b), &made)
	return DType(made), err
}

// WithUnit returns the datetime type d, which is DateTime64 or TimeDelta64, with the given unit and
// multiple: DateTime64.WithUnit(Second, 25) is datetime64[25s].
func (d DType) WithUnit(unit Unit, multiple int) (DType, error) {
	if err := fits(ErrArg, "multiple", multiple); err != nil {
		return 0, err
	}
	var made C.guf_dtype
	err := cDtypeMakeTime(C.guf_dtype(d), C.int32_t(unit), C.uint32_t(multiple), &made)
	return DType(made), err
}

// Unit returns the unit and the multiple of a datetime64 or timedelta64. Unit fails with ErrDType
// for other dtypes.
func (d DType) Unit() (unit Unit, multiple int, err error) {
	var number C.int32_t
	var times C.uint32_t
	err = cDtypeGetUnit(C.guf_dtype(d), &number, &times)
	return Unit(number), int(times), err
}

// RegisterDType registers a structured dtype in the process. Its elements are opaque: only loops
// of the program read their fields. itemSize must be a multiple of alignment. Registering the same
// name with the same layout again returns the same dtype; with a different layout it fails with
// ErrExists.
func RegisterDType(name string, itemSize, alignment int) (DType, error) {
	if err := fits(ErrArg, "itemSize or alignment", itemSize, alignment); err != nil {
		return 0, err
	}
	var made C.guf_dtype
	err := withText(name, func(text *C.char) error {
		return cDtypeRegister(text, C.uint32_t(itemSize), C.uint32_t(alignment), &made)
	})
	return DType(made), err
}

// withText calls a function with a C copy of a text, which is valid during the call.
func withText(text string, use func(text *C.char) error) error {
	if err := whole(text); err != nil {
		return err
	}
	copied := C.CString(text)
	defer C.free(unsafe.Pointer(copied))
	return use(copied)
}

// whole returns an error if a text contains a NUL byte, because C would read only the part before
// the NUL.
func whole(texts ...string) error {
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 {
			return &Error{ErrArg, fmt.Sprintf("a zero byte in the text %q", text), -1, -1, 0}
		}
	}
	return nil
}

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
