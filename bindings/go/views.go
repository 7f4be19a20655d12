// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"math"
	"runtime"
)

// Range is one axis of a slice: NumPy's start:stop:step. Negative bounds count from the end, and
// both are clipped.
type Range struct{ Start, Stop, Step int }

// Omitted is a bound of a [Range] that is left out.
const Omitted = math.MinInt64

// All is the range ":".
func All() Range { return Range{Omitted, Omitted, 1} }

// From is the range "start:".
func From(start int) Range { return Range{start, Omitted, 1} }

// Until is the range ":stop".
func Until(stop int) Range { return Range{Omitted, stop, 1} }

// Between is the range "start:stop".
func Between(start, stop int) Range { return Range{start, stop, 1} }

// By is the range with another step, which may be negative.
func (r Range) By(step int) Range { return Range{r.Start, r.Stop, step} }

// Slice is NumPy's a[ranges..., ...]: a view, of one range per axis; later axes are kept whole.
// Errors: ErrIndex for more ranges than axes, ErrValue for a step of 0.
func (a *AnyArray) Slice(ranges ...Range) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	numbers := make([]int, 3*len(ranges))
	starts, stops := numbers[:len(ranges)], numbers[len(ranges):2*len(ranges)]
	steps := numbers[2*len(ranges):]
	for i, r := range ranges {
		starts[i], stops[i], steps[i] = r.Start, r.Stop, r.Step
	}
	var made C.guf_array
	return viewOf(&made, cArraySlice(a.handle(), C.int32_t(len(ranges)), int64s(starts),
		int64s(stops), int64s(steps), &made))
}

func viewOf(made *C.guf_array, err error) (*AnyArray, error) {
	if err != nil {
		return nil, err
	}
	return ownAnyArray(*made), nil
}

// Reshape is a view of the same elements in C order; one extent may be -1. Where NumPy would copy
// it fails with ErrUnsupported (Copy first), and with ErrShape where sizes differ.
func (a *AnyArray) Reshape(shape ...int) (*AnyArray, error) {
	return a.ReshapeOrder(COrder, shape...)
}

// ReshapeOrder is Reshape that reads and writes elements in COrder, FOrder or AnyOrder.
func (a *AnyArray) ReshapeOrder(order Order, shape ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayReshape(a.handle(), C.int32_t(len(shape)), int64s(shape),
		C.int32_t(order), &made))
}

// Ravel is a view of one dimension, by order; errors as of Reshape.
func (a *AnyArray) Ravel(order Order) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayRavel(a.handle(), C.int32_t(order), &made))
}

// Transpose is a view whose axis i is axis axes[i]; no axes reverse them. ErrAxis, ErrValue.
func (a *AnyArray) Transpose(axes ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayTranspose(a.handle(), C.int32_t(len(axes)), some(axes), &made))
}

// BroadcastTo is a read-only view of the shape, in which axes of extent 1 are repeated. ErrShape.
func (a *AnyArray) BroadcastTo(shape ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayBroadcastTo(a.handle(), C.int32_t(len(shape)), int64s(shape),
		&made))
}

// Squeeze is a view without axes of extent 1: those named, or all of them. ErrAxis, ErrShape.
func (a *AnyArray) Squeeze(axes ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArraySqueeze(a.handle(), C.int32_t(len(axes)), some(axes), &made))
}

// ExpandDims is a view with axes of extent 1 at these places of the result. ErrAxis, ErrShape.
func (a *AnyArray) ExpandDims(axes ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayExpandDims(a.handle(), C.int32_t(len(axes)), int64s(axes), &made))
}

// SlidingWindowView is NumPy's: each named axis shrinks to extent - window + 1, and a last axis of
// the window's extent appears for it. The view is read-only. ErrAxis, ErrShape.
func (a *AnyArray) SlidingWindowView(axes, windows []int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	if len(axes) != len(windows) {
		return nil, &Error{ErrShape, "as many windows as axes are wanted", -1, -1, 0}
	}
	var made C.guf_array
	return viewOf(&made, cArraySlidingWindow(a.handle(), C.int32_t(len(axes)), int64s(axes),
		int64s(windows), &made))
}

// some lends axes to C; none is NULL there: "all", "reversed".
func some(axes []int) *C.int64_t {
	if len(axes) == 0 {
		return nil
	}
	return int64s(axes)
}
