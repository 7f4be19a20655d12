// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"math"
	"runtime"
)

// Range selects elements of one axis: NumPy's start:stop:step. Negative bounds count from the end,
// and both bounds are clipped to the extent of the axis.
type Range struct{ Start, Stop, Step int }

// Omitted is the value of Start or Stop for an omitted bound of a [Range].
const Omitted = math.MinInt64

// All returns the range ":".
func All() Range { return Range{Omitted, Omitted, 1} }

// From returns the range "start:".
func From(start int) Range { return Range{start, Omitted, 1} }

// Until returns the range ":stop".
func Until(stop int) Range { return Range{Omitted, stop, 1} }

// Between returns the range "start:stop".
func Between(start, stop int) Range { return Range{start, stop, 1} }

// By returns the range with another step, which may be negative.
func (r Range) By(step int) Range { return Range{r.Start, r.Stop, step} }

// Slice returns the view a[ranges..., ...] as in NumPy, with one range per axis. Axes without a
// range are kept whole. Errors: ErrIndex for more ranges than axes, ErrValue for a step of 0.
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

// Reshape returns a view of the same elements in C order. One extent may be -1. Errors:
// ErrUnsupported where NumPy would make a copy (use Copy first), ErrShape if the sizes differ.
func (a *AnyArray) Reshape(shape ...int) (*AnyArray, error) {
	return a.ReshapeOrder(COrder, shape...)
}

// ReshapeOrder is like Reshape, and reads and writes the elements in COrder, FOrder or AnyOrder.
func (a *AnyArray) ReshapeOrder(order Order, shape ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayReshape(a.handle(), C.int32_t(len(shape)), int64s(shape),
		C.int32_t(order), &made))
}

// Ravel returns a one-dimensional view in the given order. Ravel fails with the errors of Reshape.
func (a *AnyArray) Ravel(order Order) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayRavel(a.handle(), C.int32_t(order), &made))
}

// Transpose returns a view whose axis i is axis axes[i] of the array. Without arguments, Transpose
// reverses the order of the axes. Errors: ErrAxis, ErrValue.
func (a *AnyArray) Transpose(axes ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayTranspose(a.handle(), C.int32_t(len(axes)), some(axes), &made))
}

// BroadcastTo returns a read-only view of the given shape, in which axes of extent 1 are repeated.
// BroadcastTo fails with ErrShape if the shapes are incompatible.
func (a *AnyArray) BroadcastTo(shape ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayBroadcastTo(a.handle(), C.int32_t(len(shape)), int64s(shape),
		&made))
}

// Squeeze returns a view without the given axes, which must have extent 1. If no axes are given, it
// removes all axes of extent 1. Errors: ErrAxis, ErrShape.
func (a *AnyArray) Squeeze(axes ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArraySqueeze(a.handle(), C.int32_t(len(axes)), some(axes), &made))
}

// ExpandDims returns a view with new axes of extent 1. axes contains their positions in the result.
// Errors: ErrAxis, ErrShape.
func (a *AnyArray) ExpandDims(axes ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayExpandDims(a.handle(), C.int32_t(len(axes)), int64s(axes), &made))
}

// SlidingWindowView returns a read-only view of sliding windows, like NumPy's. Each given axis
// shrinks to extent - window + 1, and a new last axis has the extent of the window. Errors:
// ErrAxis, ErrShape.
func (a *AnyArray) SlidingWindowView(axes, windows []int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	if len(axes) != len(windows) {
		return nil, otherCount("windows", len(windows), len(axes))
	}
	var made C.guf_array
	return viewOf(&made, cArraySlidingWindow(a.handle(), C.int32_t(len(axes)), int64s(axes),
		int64s(windows), &made))
}

// some passes axes to C. For an empty list it returns NULL, which the functions of the library
// interpret as "all axes" or as "reverse the axes".
func some(axes []int) *C.int64_t {
	if len(axes) == 0 {
		return nil
	}
	return int64s(axes)
}
