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
	wanted := &g.Expect
	if status != wanted.Status {
		return fmt.Errorf("%s %q, wanted %s", status, message, wanted.Status)
	}
	if failed != nil {
		if message != wanted.Message {
			return fmt.Errorf("message %q, wanted %q", message, wanted.Message)
		}
		if known.Argument != wanted.Argument || known.Axis != wanted.Axis {
			return fmt.Errorf("argument %d, axis %d, wanted %d, %d", known.Argument, known.Axis,
				wanted.Argument, wanted.Axis)
		}
		if wanted.Written {
			return nil
		}
		return g.othersKept(nil)
	}
	flags := wanted.FPFlags
	if flags != nil && (g.fpStatus == nil || uint32(g.fpStatus.Found()) != *flags) {
		return fmt.Errorf("floating-point flags other than %d", *flags)
	}
	count := len(results)
	if wanted.Inouts != nil {
		count = len(wanted.Inouts)
	} else if g.Method == "at" {
		count = 1
	}
	if len(wanted.Results) != count {
		return fmt.Errorf("%d results, wanted %d", count, len(wanted.Results))
	}
	return g.judgeResults(results)
}

func (g *given) judgeResults(results []*gufunc.AnyArray) error {
	var written []*operand
	for i := range g.Expect.Results {
		wanted := &g.Expect.Results[i]
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
			err = g.allocatedRight(wanted, results[i])
		} else {
			err = g.givenRight(wanted, o)
			written = append(written, o)
		}
		if err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return g.othersKept(written)
}

func same(wanted *result, dtype gufunc.DType, shape []int) error {
	if dtype.String() != wanted.DType {
		return fmt.Errorf("dtype %v, wanted %s", dtype, wanted.DType)
	}
	if !slices.Equal(shape, wanted.Shape) {
		return fmt.Errorf("shape %v, wanted %v", shape, wanted.Shape)
	}
	return nil
}

func (g *given) allocatedRight(wanted *result, made *gufunc.AnyArray) error {
	info, err := made.Info()
	if err != nil {
		return err
	}
	if err := same(wanted, info.DType, info.Shape); err != nil {
		return err
	}
	if wanted.Strides != nil && info.Size > 0 {
		var strides []int
		for axis, extent := range info.Shape {
			if extent > 1 {
				strides = append(strides, info.Strides[axis])
			}
		}
		if !slices.Equal(strides, wanted.Strides) {
			return fmt.Errorf("strides %v, wanted %v", strides, wanted.Strides)
		}
	}
	found := make([]byte, info.NBytes)
	if err := made.CopyBytes(found, gufunc.COrder, nil); err != nil {
		return err
	}
	return g.elementsRight(wanted, info.DType, found)
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

func (g *given) givenRight(wanted *result, o *operand) error {
	dtype, err := gufunc.ParseDType(o.DType)
	if err != nil {
		return err
	}
	if err := same(wanted, dtype, o.Shape); err != nil {
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
	return g.elementsRight(wanted, dtype, found)
}

// othersKept returns an error if bytes changed that do not belong to a written operand.
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
