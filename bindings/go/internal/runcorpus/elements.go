// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"example.org/gufunc"
)

// form describes a floating-point format, which is that of an element or of a part of a complex
// element.
type form struct {
	size                int
	magnitude, infinity uint64 // bit masks of the magnitude and of infinity
	eps                 float64
}

var (
	float16  = &form{2, 0x7fff, 0x7c00, 0x1p-10}
	bfloat16 = &form{2, 0x7fff, 0x7f80, 0x1p-7}
	float32s = &form{4, 0x7fffffff, 0x7f800000, 0x1p-23}
	float64s = &form{8, math.MaxInt64, 0x7ff0000000000000, 0x1p-52}
)

func formOf(info gufunc.DTypeInfo) *form {
	part := info.ItemSize
	switch info.Kind {
	case 'E':
		return bfloat16
	case 'c':
		part /= 2
	case 'f':
	default:
		return nil
	}
	return map[int]*form{2: float16, 4: float32s, 8: float64s}[part]
}

func (f *form) bits(element []byte) uint64 {
	var wide [8]byte
	copy(wide[:f.size], element)
	return binary.LittleEndian.Uint64(wide[:])
}

func (f *form) nan(bits uint64) bool { return bits&f.magnitude > f.infinity }

// rank returns the position of a number in the sorted sequence of all numbers of its format. 0 and
// -0 have the same rank.
func (f *form) rank(bits uint64) int64 {
	if bits == bits&f.magnitude {
		return int64(bits)
	}
	return -int64(bits & f.magnitude)
}

func (f *form) value(bits uint64) float64 {
	if f.size == 8 {
		return math.Float64frombits(bits)
	}
	return float64(math.Float32frombits(uint32(bits)))
}

func (f *form) right(found, expected uint64, ulp int64) bool {
	if f.nan(found) && f.nan(expected) {
		return true
	}
	if ulp == 0 {
		return found == expected
	}
	if f.nan(found) || f.nan(expected) {
		return false
	}
	a, b := f.rank(found), f.rank(expected)
	return uint64(max(a, b))-uint64(min(a, b)) <= uint64(ulp)
}

// complexRight compares real and imaginary parts. The tolerance is in ulps of the larger part of
// the expected number.
func (f *form) complexRight(found, expected []byte, ulp int64) bool {
	largest, limit := 0.0, 0.0
	for k := range 2 {
		// A NaN part is never greater, so it does not determine the tolerance.
		if part := math.Abs(f.value(f.bits(expected[k*f.size:]))); part > largest {
			largest = part
		}
	}
	if largest > 0 && !math.IsInf(largest, 0) {
		_, exponent := math.Frexp(largest)
		limit = float64(ulp) * f.eps * math.Ldexp(1, exponent-1)
	}
	for k := range 2 {
		a, b := f.bits(found[k*f.size:]), f.bits(expected[k*f.size:])
		if f.right(a, b, 0) || ulp > 0 && f.value(a) == f.value(b) {
			continue
		}
		if ulp == 0 || !(math.Abs(f.value(a)-f.value(b)) <= limit) {
			return false
		}
	}
	return true
}

// elementsRight returns an error that describes the first wrong element in C order.
func (g *given) elementsRight(expected *result, dtype gufunc.DType, found []byte) error {
	info, err := dtype.Info()
	if err != nil {
		return err
	}
	size := info.ItemSize
	all := g.bytesAt(expected.At, len(found))
	count := len(found) / size
	var defined []byte
	if expected.Defined != nil {
		defined = g.bytesAt(*expected.Defined, count)
	}
	if all == nil || len(found) != expected.NBytes || expected.Defined != nil && defined == nil {
		return fmt.Errorf("expected %d bytes, got %d", expected.NBytes, len(found))
	}
	f := formOf(info)
	for k := range count {
		if defined != nil && defined[k] == 0 {
			continue
		}
		a, b := found[k*size:(k+1)*size], all[k*size:(k+1)*size]
		var right bool
		switch {
		case f == nil:
			right = bytes.Equal(a, b)
		case info.Kind == 'c':
			right = f.complexRight(a, b, expected.ULP)
		default:
			right = f.right(f.bits(a), f.bits(b), expected.ULP)
		}
		if !right {
			return fmt.Errorf("element %d: expected %x, got %x (%s, %d ULP)", k, b, a, info.Name,
				expected.ULP)
		}
	}
	return nil
}
