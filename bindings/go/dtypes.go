// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// DType is the type of an array's elements. Equal values are equal types.
type DType uint32

// The types that need no more than their name. Times with a unit come from [DType.WithUnit] or
// [ParseDType], records from [RegisterRecord].
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
	DateTime64   DType = cGUF_DATETIME64  // of any unit, where a loop's types are meant
	TimeDelta64  DType = cGUF_TIMEDELTA64 // of any unit, where a loop's types are meant
)

// NaT is the datetime64 or timedelta64 that is no time.
const NaT = -1 << 63

// Unit is what a step of a datetime64 or timedelta64 is.
type Unit int32

// Units, from none (the unit of the other operand) to attoseconds.
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

// Casting says which casts a call may make. The zero value is SameKind, as in NumPy.
type Casting int32

// NumPy's rules, from none to all.
const (
	DefaultCasting Casting = cGUF_CASTING_DEFAULT
	NoCasting      Casting = cGUF_CASTING_NO
	Equiv          Casting = cGUF_CASTING_EQUIV // byte order only
	Safe           Casting = cGUF_CASTING_SAFE  // casts that keep every value
	SameKind       Casting = cGUF_CASTING_SAME_KIND
	Unsafe         Casting = cGUF_CASTING_UNSAFE
)

// DTypeInfo describes a [DType].
type DTypeInfo struct {
	DType     DType
	ItemSize  int    // bytes
	Alignment int    // bytes
	Kind      byte   // 'b' bool, 'i' 'u' integers, 'f', 'E' bfloat16, 'c', 'm' 'M' times, 'V' record
	Letter    byte   // one character, as type strings of kernels spell it
	Name      string // "float32", "datetime64[25s]"
	ShortName string // "f4"; "bf16"; "M8" whatever the unit; "V12"
}

// ParseDType reads NumPy's spellings of a type: "float32", "f4", "f", "bf16", "datetime64[ns]",
// "M8[25s]", and names of records. It fails with ErrDType.
func ParseDType(spelling string) (DType, error) {
	var made C.guf_dtype
	err := lent(spelling, func(text *C.char) error { return cDtypeParse(text, &made) })
	return DType(made), err
}

// String is the type's name, "float32".
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

// Info tells the type's size, kind and names. It fails with ErrDType for a value that is no type.
func (d DType) Info() (DTypeInfo, error) {
	var info C.guf_dtype_info
	info.struct_size = C.sizeof_guf_dtype_info
	if err := cDtypeGetInfo(C.guf_dtype(d), &info); err != nil {
		return DTypeInfo{}, err
	}
	return DTypeInfo{DType(info.dtype), int(info.itemsize), int(info.alignment), byte(info.kind),
		byte(info.letter), C.GoString(&info.name[0]), C.GoString(&info.short_name[0])}, nil
}

// ItemSize is the size of an element in bytes; 0 for a value that is no type.
func (d DType) ItemSize() int {
	info, err := d.Info()
	if err != nil {
		return 0
	}
	return info.ItemSize
}

// CanCast is NumPy's can_cast(from, to, casting).
func CanCast(from, to DType, casting Casting) (bool, error) {
	var possible C.int32_t
	err := cDtypeCanCast(C.guf_dtype(from), C.guf_dtype(to), C.int32_t(casting), &possible)
	return possible != 0, err
}

// PromoteTypes is NumPy's promote_types: the smallest type that both cast to safely. It fails with
// ErrDType where there is none.
func PromoteTypes(a, b DType) (DType, error) {
	var made C.guf_dtype
	err := cDtypePromote(C.guf_dtype(a), C.guf_dtype(b), &made)
	return DType(made), err
}

// WithUnit makes of DateTime64 or TimeDelta64 one whose steps are multiple units:
// DateTime64.WithUnit(Second, 25) is datetime64[25s].
func (d DType) WithUnit(unit Unit, multiple int) (DType, error) {
	if err := fits(ErrArg, "multiple", multiple); err != nil {
		return 0, err
	}
	var made C.guf_dtype
	err := cDtypeMakeTime(C.guf_dtype(d), C.int32_t(unit), C.uint32_t(multiple), &made)
	return DType(made), err
}

// Unit is unit and multiple of a datetime64 or timedelta64; of others ErrDType.
func (d DType) Unit() (unit Unit, multiple int, err error) {
	var number C.int32_t
	var times C.uint32_t
	err = cDtypeGetUnit(C.guf_dtype(d), &number, &times)
	return Unit(number), int(times), err
}

// RegisterRecord makes a structure known to the process: elements that only loops of the program
// look into. itemSize is a multiple of alignment. The same name with the same layout gives the same
// type, with another one ErrExists.
func RegisterRecord(name string, itemSize, alignment int) (DType, error) {
	if err := fits(ErrArg, "itemSize or alignment", itemSize, alignment); err != nil {
		return 0, err
	}
	var made C.guf_dtype
	err := lent(name, func(text *C.char) error {
		return cDtypeRegister(text, C.uint32_t(itemSize), C.uint32_t(alignment), &made)
	})
	return DType(made), err
}

// lent gives a function of C's a text.
func lent(text string, use func(text *C.char) error) error {
	if err := whole(text); err != nil {
		return err
	}
	copied := C.CString(text)
	defer C.free(unsafe.Pointer(copied))
	return use(copied)
}

// whole refuses texts of which C would see the beginning only.
func whole(texts ...string) error {
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 {
			return &Error{ErrArg, fmt.Sprintf("a zero byte in the text %q", text), -1, -1, 0}
		}
	}
	return nil
}
