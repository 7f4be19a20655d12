// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"runtime"
)

// ReduceOptions contains the keywords of a reduction. A zero field is not set.
type ReduceOptions struct {
	Out      AnyOperand   // nil: allocated
	Outs     []AnyOperand // for ReduceState: one per result; nil entries are allocated
	Axes     []int        // nil: axis 0; empty but not nil: no axis is reduced
	AllAxes  bool         // NumPy's axis=None
	Initial  Operand      // initial value of every result; None() for no initial value
	Where    Operand      // a mask (bool) that selects the elements to reduce
	DType    DType        // dtype of the loop
	Order    Order        // layout of an allocated output
	KeepDims bool
	Device   Device
	Stream   *Stream
	Threads  int
	FPStatus *FPStatus
	Report   FPFlags
	Fail     FPFlags

	// The parameters of a reduction with a user-defined accumulator, such as ddof of var: scalars.
	// Parameters that are left out are 0.
	Parameters []Operand
}

// AccumulateOptions contains the keywords of Accumulate and Reduceat. A zero field is not set.
type AccumulateOptions struct {
	Out      AnyOperand // nil: allocated
	Axis     int
	DType    DType
	Order    Order
	Device   Device
	Stream   *Stream
	Threads  int
	FPStatus *FPStatus
	Report   FPFlags
	Fail     FPFlags
}

// AtOptions contains the keywords of At. A zero field is not set.
type AtOptions struct {
	Device   Device
	Stream   *Stream
	Threads  int
	FPStatus *FPStatus
	Report   FPFlags
	Fail     FPFlags
}

// prepare fills in the reduction arguments of the block. results is the number of results of a
// user-defined accumulator, or 0 for a plain reduction.
func (o *ReduceOptions) prepare(b *block, input Operand, results int) []C.guf_operand {
	outputs := b.operands(max(results, 1))
	operand := b.operands(1)
	b.set(&operand[0], input)
	b.c.reduce = C.guf_reduce_args{struct_size: C.sizeof_guf_reduce_args, input: &operand[0],
		where: b.one(o.Where), initial: b.one(o.Initial),
		options: shared(o.Stream, o.Device, o.Threads, o.FPStatus, o.Report, o.Fail),
		order:   C.int32_t(o.Order), dtype: C.guf_dtype(o.DType)}
	args := &b.c.reduce
	if results == 0 {
		b.set(&outputs[0], o.Out)
		args.output = &outputs[0]
	} else {
		for i, out := range o.Outs[:min(results, len(o.Outs))] {
			b.set(&outputs[i], out)
		}
		args.outputs, args.noutputs = &outputs[0], C.int32_t(results)
	}
	if len(o.Parameters) > 0 {
		parameters := b.operands(len(o.Parameters))
		for i, parameter := range o.Parameters {
			b.set(&parameters[i], parameter)
		}
		args.parameters, args.nparameters = &parameters[0], C.int32_t(len(parameters))
	}
	if o.KeepDims {
		args.flags |= cGUF_CALL_KEEPDIMS
	}
	if o.AllAxes {
		args.naxis = cGUF_ALL_AXES
	} else if o.Axes != nil {
		args.naxis, args.axis = C.int32_t(len(o.Axes)), b.numbers(o.Axes)
	}
	return outputs
}

func (o *AccumulateOptions) prepare(b *block, input, indices Operand) []C.guf_operand {
	operands := b.operands(2)
	b.set(&operands[0], input)
	b.set(&operands[1], o.Out)
	b.c.accumulate = C.guf_accumulate_args{struct_size: C.sizeof_guf_accumulate_args,
		input: &operands[0], indices: b.one(indices), output: &operands[1],
		options: shared(o.Stream, o.Device, o.Threads, o.FPStatus, o.Report, o.Fail),
		axis:    C.int64_t(o.Axis), dtype: C.guf_dtype(o.DType), order: C.int32_t(o.Order)}
	return operands[1:]
}

func (o *AtOptions) prepare(b *block, array AnyOperand, indices []Operand, operand Operand) {
	operands := b.operands(len(indices) + 1)
	for i, index := range indices {
		b.set(&operands[i], index)
	}
	b.set(&operands[len(indices)], array)
	b.c.at = C.guf_at_args{struct_size: C.sizeof_guf_at_args, array: &operands[len(indices)],
		indices: &operands[0], nindices: C.int32_t(len(indices)), operand: b.one(operand),
		options: shared(o.Stream, o.Device, o.Threads, o.FPStatus, o.Report, o.Fail)}
}

// with calls run with a block for the arguments, and keeps the objects that the call uses alive.
func with[O any](u *Ufunc, options *O, inputs []Operand, run func(o *O, b *block) error) error {
	if options == nil {
		options = new(O)
	}
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(options)
	defer runtime.KeepAlive(inputs)
	b := acquireBlock()
	defer b.release()
	threads := 0
	switch o := any(options).(type) {
	case *ReduceOptions:
		threads = o.Threads
	case *AccumulateOptions:
		threads = o.Threads
	case *AtOptions:
		threads = o.Threads
	}
	if err := fits(ErrArg, "Threads", threads); err != nil {
		return err
	}
	return run(options, b)
}

// method is like the function with, for calls that return arrays. method retries the call once when
// memory runs out.
func method[O any](u *Ufunc, options *O, inputs []Operand,
	prepare func(o *O, b *block) (outputs []C.guf_operand, given []AnyOperand),
	call func(b *block) error) (made []*AnyArray, err error) {
	err = with(u, options, inputs, func(o *O, b *block) error {
		outputs, given := prepare(o, b)
		if err := retry(func() error { return call(b) }); err != nil {
			return err
		}
		list := make([]Operand, len(outputs))
		for i, array := range given {
			if array != nil {
				list[i] = array
			}
		}
		made, err = arrays(outputs, list)
		return err
	})
	return made, err
}

func first(made []*AnyArray, err error) (*AnyArray, error) {
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

// Reduce reduces elements along axes, like NumPy's ufunc.reduce, and returns options.Out or a new
// array. Errors: ErrAxis; ErrValue if there are no elements and no identity, or if several axes are
// given and the order of the elements matters; ErrShape; and the errors of Call.
func (u *Ufunc) Reduce(options *ReduceOptions, input Operand) (*AnyArray, error) {
	return first(method(u, options, []Operand{input},
		func(o *ReduceOptions, b *block) ([]C.guf_operand, []AnyOperand) {
			return o.prepare(b, input, 0), []AnyOperand{o.Out}
		}, func(b *block) error { return cReduce(u.handle(), &b.c.reduce) }))
}

// ReduceState is Reduce for a reduction with a user-defined accumulator ([Ufunc.SetReduction]),
// which has one or more results. options.Outs provides the arrays for the results.
func (u *Ufunc) ReduceState(options *ReduceOptions, input Operand) ([]*AnyArray, error) {
	info, err := u.Info()
	if err != nil {
		return nil, err
	}
	results := max(info.Results, 1)
	if options != nil && options.Outs != nil {
		results = len(options.Outs)
	}
	return method(u, options, []Operand{input},
		func(o *ReduceOptions, b *block) ([]C.guf_operand, []AnyOperand) {
			return o.prepare(b, input, results), o.Outs
		}, func(b *block) error { return cReduce(u.handle(), &b.c.reduce) })
}

// Accumulate returns all partial results along an axis, like NumPy's ufunc.accumulate.
func (u *Ufunc) Accumulate(options *AccumulateOptions, input Operand) (*AnyArray, error) {
	return first(method(u, options, []Operand{input},
		func(o *AccumulateOptions, b *block) ([]C.guf_operand, []AnyOperand) {
			return o.prepare(b, input, nil), []AnyOperand{o.Out}
		}, func(b *block) error { return cAccumulate(u.handle(), &b.c.accumulate) }))
}

// Reduceat reduces the slices of an axis that begin at indices, like NumPy's ufunc.reduceat.
// indices must have one dimension and be in host memory. Reduceat fails with ErrIndex for an index
// out of range.
func (u *Ufunc) Reduceat(options *AccumulateOptions, input, indices Operand) (*AnyArray, error) {
	return first(method(u, options, []Operand{input, indices},
		func(o *AccumulateOptions, b *block) ([]C.guf_operand, []AnyOperand) {
			return o.prepare(b, input, indices), []AnyOperand{o.Out}
		}, func(b *block) error { return cReduceat(u.handle(), &b.c.accumulate) }))
}

// Outer applies a binary ufunc to all pairs of elements of its two inputs, like NumPy's
// ufunc.outer. The result has the axes of the first input, then the axes of the second. Outer
// accepts the options of Call, except Axes, Axis and Dims.
func (u *Ufunc) Outer(options *CallOptions, inputs ...Operand) ([]*AnyArray, error) {
	var made []*AnyArray
	err := with(u, options, inputs, func(o *CallOptions, b *block) error {
		outputs, err := o.prepare(b, u, inputs)
		if err != nil {
			return err
		}
		err = retry(func() error { return cOuter(u.handle(), &b.c.call) })
		if err != nil {
			return err
		}
		made, err = arrays(outputs, o.Out)
		return err
	})
	return made, err
}

// At computes array[indices] = op(array[indices], operand) without buffering, like NumPy's
// ufunc.at: if an index occurs several times, op is applied once for each occurrence. operand is
// nil for a unary ufunc. The indices are in host memory and index the first axes. Errors: ErrIndex,
// ErrShape, ErrReadOnly. The array is unchanged after these errors.
func (u *Ufunc) At(options *AtOptions, array AnyOperand, indices []Operand, operand Operand) error {
	defer runtime.KeepAlive(array)
	defer runtime.KeepAlive(indices)
	return with(u, options, []Operand{operand}, func(o *AtOptions, b *block) error {
		o.prepare(b, array, indices, operand)
		return retry(func() error { return cAt(u.handle(), &b.c.at) })
	})
}

// This file contains Resolve and Explain for methods. The operands of the loop are, for Reduce,
// Accumulate and Reduceat, the result, the input, and the result again. For At they are the array,
// the operand of a binary ufunc, and the array again.

// ResolveReduce is like Resolve, for [Ufunc.Reduce].
func (u *Ufunc) ResolveReduce(options *ReduceOptions, input Operand) (*Resolution, error) {
	return resolveMethod(u, options, []Operand{input}, func(o *ReduceOptions, b *block) {
		o.prepare(b, input, 0)
	}, cGUF_OPERATION_REDUCE)
}

// ResolveAccumulate is like Resolve, for [Ufunc.Accumulate].
func (u *Ufunc) ResolveAccumulate(options *AccumulateOptions, input Operand) (*Resolution, error) {
	return resolveMethod(u, options, []Operand{input}, func(o *AccumulateOptions, b *block) {
		o.prepare(b, input, nil)
	}, cGUF_OPERATION_ACCUMULATE)
}

// ResolveReduceat is like Resolve, for [Ufunc.Reduceat].
func (u *Ufunc) ResolveReduceat(options *AccumulateOptions,
	input, indices Operand) (*Resolution, error) {
	return resolveMethod(u, options, []Operand{input, indices},
		func(o *AccumulateOptions, b *block) {
			o.prepare(b, input, indices)
		}, cGUF_OPERATION_REDUCEAT)
}

// ResolveAt is like Resolve, for [Ufunc.At].
func (u *Ufunc) ResolveAt(options *AtOptions, array AnyOperand, indices []Operand,
	operand Operand) (*Resolution, error) {
	defer runtime.KeepAlive(array)
	defer runtime.KeepAlive(indices)
	return resolveMethod(u, options, []Operand{operand}, func(o *AtOptions, b *block) {
		o.prepare(b, array, indices, operand)
	}, cGUF_OPERATION_AT)
}

func resolveMethod[O any](u *Ufunc, options *O, inputs []Operand, prepare func(o *O, b *block),
	operation int32) (made *Resolution, err error) {
	err = with(u, options, inputs, func(o *O, b *block) error {
		prepare(o, b)
		made, err = u.resolution(b, operation, 1)
		return err
	})
	return made, err
}

// ExplainReduce is like Explain, for [Ufunc.Reduce].
func (u *Ufunc) ExplainReduce(options *ReduceOptions, input Operand) (string, error) {
	return explainMethod(u, options, []Operand{input}, func(o *ReduceOptions, b *block) {
		o.prepare(b, input, 0)
	}, cGUF_OPERATION_REDUCE)
}

// ExplainAccumulate is like Explain, for [Ufunc.Accumulate].
func (u *Ufunc) ExplainAccumulate(options *AccumulateOptions, input Operand) (string, error) {
	return explainMethod(u, options, []Operand{input}, func(o *AccumulateOptions, b *block) {
		o.prepare(b, input, nil)
	}, cGUF_OPERATION_ACCUMULATE)
}

// ExplainReduceat is like Explain, for [Ufunc.Reduceat].
func (u *Ufunc) ExplainReduceat(options *AccumulateOptions,
	input, indices Operand) (string, error) {
	return explainMethod(u, options, []Operand{input, indices},
		func(o *AccumulateOptions, b *block) {
			o.prepare(b, input, indices)
		}, cGUF_OPERATION_REDUCEAT)
}

// ExplainAt is like Explain, for [Ufunc.At].
func (u *Ufunc) ExplainAt(options *AtOptions, array AnyOperand, indices []Operand,
	operand Operand) (string, error) {
	defer runtime.KeepAlive(array)
	defer runtime.KeepAlive(indices)
	return explainMethod(u, options, []Operand{operand}, func(o *AtOptions, b *block) {
		o.prepare(b, array, indices, operand)
	}, cGUF_OPERATION_AT)
}

func explainMethod[O any](u *Ufunc, options *O, inputs []Operand, prepare func(o *O, b *block),
	operation int32) (made string, err error) {
	err = with(u, options, inputs, func(o *O, b *block) error {
		prepare(o, b)
		made, err = u.explanation(b, operation)
		return err
	})
	return made, err
}
