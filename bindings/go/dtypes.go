// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"fmt"
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
// name with the same layout again returns the same dtype; with another layout it fails with
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
