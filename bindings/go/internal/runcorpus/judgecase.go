// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.org/gufunc"
)

// judge compares the outcome of the case with the expected outcome.
func (g *given) judge(results []*gufunc.AnyArray, failed error) error {
	status, message := "GUF_OK", ""
	var known *gufunc.Error
	if failed != nil {
		if !errors.As(failed, &known) {
			return failed
		}
		status, message = known.Status.String(), known.Message
	}
	expected := &g.Expect
	if status != expected.Status {
		return fmt.Errorf("expected %s, got %s %q", expected.Status, status, message)
	}
	if failed != nil {
		if message != expected.Message {
			return fmt.Errorf("message: expected %q, got %q", expected.Message, message)
		}
		if known.Argument != expected.Argument || known.Axis != expected.Axis {
			return fmt.Errorf("argument, axis: expected %d, %d, got %d, %d", expected.Argument,
				expected.Axis, known.Argument, known.Axis)
		}
		if expected.Written {
			return nil
		}
		return g.othersKept(nil)
	}
	flags := expected.FPFlags
	if flags != nil && (g.fpStatus == nil || uint32(g.fpStatus.Found()) != *flags) {
		return fmt.Errorf("floating-point flags other than %d", *flags)
	}
	count := len(results)
	if expected.Inouts != nil {
		count = len(expected.Inouts)
	} else if g.Method == "at" {
		count = 1
	}
	if len(expected.Results) != count {
		return fmt.Errorf("expected %d results, got %d", len(expected.Results), count)
	}
	return g.judgeResults(results)
}

func (g *given) judgeResults(results []*gufunc.AnyArray) error {
	var written []*operand
	for i := range g.Expect.Results {
		expected := &g.Expect.Results[i]
		var o *operand
		switch {
		case g.Expect.Inouts != nil:
			o = &g.Inputs[g.Expect.Inouts[i]]
		case g.Method == "at":
			o = &g.Inputs[0]
		case i < len(g.Outputs):
			o = g.Outputs[i]
		}
		var err error
		if o == nil {
			err = g.allocatedRight(expected, results[i])
		} else {
			err = g.givenRight(expected, o)
			written = append(written, o)
		}
		if err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return g.othersKept(written)
}

func same(expected *result, dtype gufunc.DType, shape []int) error {
	if dtype.String() != expected.DType {
		return fmt.Errorf("dtype: expected %s, got %v", expected.DType, dtype)
	}
	if !slices.Equal(shape, expected.Shape) {
		return fmt.Errorf("shape: expected %v, got %v", expected.Shape, shape)
	}
	return nil
}

func (g *given) allocatedRight(expected *result, made *gufunc.AnyArray) error {
	info, err := made.Info()
	if err != nil {
		return err
	}
	if err := same(expected, info.DType, info.Shape); err != nil {
		return err
	}
	if expected.Strides != nil && info.Size > 0 {
		var strides []int
		for axis, extent := range info.Shape {
			if extent > 1 {
				strides = append(strides, info.Strides[axis])
			}
		}
		if !slices.Equal(strides, expected.Strides) {
			return fmt.Errorf("strides: expected %v, got %v", expected.Strides, strides)
		}
	}
	found := make([]byte, info.NBytes)
	if err := made.CopyBytes(found, gufunc.COrder, nil); err != nil {
		return err
	}
	return g.elementsRight(expected, info.DType, found)
}

// walk visits the elements of an operand in C order, with the byte offset of each in its buffer.
func walk(o *operand, visit func(at int)) {
	if slices.Contains(o.Shape, 0) {
		return
	}
	index := make([]int, len(o.Shape))
	for at := o.Offset; ; {
		visit(at)
		axis := len(o.Shape) - 1
		for ; axis >= 0; axis-- {
			at += o.Strides[axis]
			if index[axis]++; index[axis] < o.Shape[axis] {
				break
			}
			at -= o.Strides[axis] * o.Shape[axis]
			index[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}

func (g *given) givenRight(expected *result, o *operand) error {
	dtype, err := gufunc.ParseDType(o.DType)
	if err != nil {
		return err
	}
	if err := same(expected, dtype, o.Shape); err != nil {
		return err
	}
	info, err := dtype.Info()
	if err != nil {
		return err
	}
	part := info.ItemSize
	if info.Kind == 'c' {
		part /= 2
	}
	var found []byte
	walk(o, func(at int) {
		element := slices.Clone(g.memory[o.Buffer][at : at+info.ItemSize])
		for begin := 0; o.Swapped && begin < len(element); begin += part {
			slices.Reverse(element[begin : begin+part])
		}
		found = append(found, element...)
	})
	return g.elementsRight(expected, dtype, found)
}

// othersKept returns an error if the call changed bytes that do not belong to a written operand.
func (g *given) othersKept(written []*operand) error {
	for number, memory := range g.memory {
		touched := make([]bool, len(memory))
		for _, o := range written {
			dtype, err := gufunc.ParseDType(o.DType)
			if err != nil {
				return err
			}
			if size := dtype.ItemSize(); o.Buffer == number {
				walk(o, func(at int) {
					for k := at; k < at+size; k++ {
						touched[k] = true
					}
				})
			}
		}
		before := g.bytesAt(g.Buffers[number].At, len(memory))
		for k := range memory {
			if !touched[k] && memory[k] != before[k] {
				return fmt.Errorf("byte %d of buffer %d changed", k, number)
			}
		}
	}
	return nil
}

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
