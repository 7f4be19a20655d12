// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
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
