// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import "runtime"

// ReduceOptions is the keywords of a reduction. What is zero is not given.
type ReduceOptions struct {
	Out      AnyOperand   // nil: allocated
	Outs     []AnyOperand // of ReduceState: nil, or one per result; a nil one is allocated
	Axes     []int        // nil: axis 0; empty and not nil: none is folded
	AllAxes  bool         // NumPy's axis=None
	Initial  Operand      // the left operand of every result; None() for no value at all
	Where    Operand      // a mask (bool): elements that take part
	DType    DType        // of the loop
	Order    Order        // layout of an allocated output
	KeepDims bool
	Device   Device
	Stream   *Stream
	Threads  int
	Events   *Events
	Report   FPEvent
	Fail     FPEvent
}

// AccumulateOptions is the keywords of Accumulate and Reduceat. What is zero is not given.
type AccumulateOptions struct {
	Out     AnyOperand // nil: allocated
	Axis    int
	DType   DType
	Order   Order
	Device  Device
	Stream  *Stream
	Threads int
	Events  *Events
	Report  FPEvent
	Fail    FPEvent
}

// AtOptions is the keywords of At. What is zero is not given.
type AtOptions struct {
	Device  Device
	Stream  *Stream
	Threads int
	Events  *Events
	Report  FPEvent
	Fail    FPEvent
}

// prepare fills in the block's reduction; results is 0 for a plain one.
func (o *ReduceOptions) prepare(b *block, input Operand, results int) []C.guf_operand {
	outputs := b.operands(max(results, 1))
	operand := b.operands(1)
	b.set(&operand[0], input)
	b.c.reduce = C.guf_reduce_args{struct_size: C.sizeof_guf_reduce_args, input: &operand[0],
		where: b.one(o.Where), initial: b.one(o.Initial), stream: o.Stream.handle(),
		device: o.Device.c, order: C.int32_t(o.Order), dtype: C.guf_dtype(o.DType),
		threads: C.uint32_t(o.Threads), fp_events: o.Events.pointer(),
		fp_report: C.uint32_t(o.Report), fp_fail: C.uint32_t(o.Fail)}
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
		stream: o.Stream.handle(), device: o.Device.c, axis: C.int64_t(o.Axis),
		dtype: C.guf_dtype(o.DType), order: C.int32_t(o.Order), threads: C.uint32_t(o.Threads),
		fp_events: o.Events.pointer(), fp_report: C.uint32_t(o.Report),
		fp_fail: C.uint32_t(o.Fail)}
	return operands[1:]
}

func (o *AtOptions) prepare(b *block, array AnyOperand, indices []Operand, operand Operand) {
	places := b.operands(len(indices) + 1)
	for i, index := range indices {
		b.set(&places[i], index)
	}
	b.set(&places[len(indices)], array)
	b.c.at = C.guf_at_args{struct_size: C.sizeof_guf_at_args, array: &places[len(indices)],
		indices: &places[0], nindices: C.int32_t(len(indices)), operand: b.one(operand),
		stream: o.Stream.handle(), device: o.Device.c, threads: C.uint32_t(o.Threads),
		fp_events: o.Events.pointer(), fp_report: C.uint32_t(o.Report),
		fp_fail: C.uint32_t(o.Fail)}
}

// with runs a call with a block, and keeps what the call uses.
func with[O any](u *Ufunc, options *O, inputs []Operand, run func(o *O, b *block) error) error {
	if options == nil {
		options = new(O)
	}
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(options)
	defer runtime.KeepAlive(inputs)
	b := lend()
	defer b.back()
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

// method is with for what returns arrays; it tries again when memory is out.
func method[O any](u *Ufunc, options *O, inputs []Operand,
	prepare func(o *O, b *block) (outputs []C.guf_operand, given []AnyOperand),
	call func(b *block) error) (made []*AnyArray, err error) {
	err = with(u, options, inputs, func(o *O, b *block) error {
		outputs, given := prepare(o, b)
		if err := twice(func() error { return call(b) }); err != nil {
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

// Reduce folds elements along axes, as NumPy's ufunc.reduce: the result is options.Out or a new
// array. Errors: ErrAxis, ErrValue (no identity and no elements, several axes of an operation whose
// order counts), ErrShape, and those of Call.
func (u *Ufunc) Reduce(options *ReduceOptions, input Operand) (*AnyArray, error) {
	return first(method(u, options, []Operand{input},
		func(o *ReduceOptions, b *block) ([]C.guf_operand, []AnyOperand) {
			return o.prepare(b, input, 0), []AnyOperand{o.Out}
		}, func(b *block) error { return cReduce(u.handle(), &b.c.reduce) }))
}

// ReduceState is Reduce for a reduction with a state ([Ufunc.SetReduction]), which has one or more
// results; options.Outs are theirs.
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

// Accumulate is all partial results along an axis, as NumPy's ufunc.accumulate.
func (u *Ufunc) Accumulate(options *AccumulateOptions, input Operand) (*AnyArray, error) {
	return first(method(u, options, []Operand{input},
		func(o *AccumulateOptions, b *block) ([]C.guf_operand, []AnyOperand) {
			return o.prepare(b, input, nil), []AnyOperand{o.Out}
		}, func(b *block) error { return cAccumulate(u.handle(), &b.c.accumulate) }))
}

// Reduceat folds the stretches of an axis that indices begin, as NumPy's ufunc.reduceat. indices is
// of one dimension and lies in host memory. ErrIndex for one out of range.
func (u *Ufunc) Reduceat(options *AccumulateOptions, input, indices Operand) (*AnyArray, error) {
	return first(method(u, options, []Operand{input, indices},
		func(o *AccumulateOptions, b *block) ([]C.guf_operand, []AnyOperand) {
			return o.prepare(b, input, indices), []AnyOperand{o.Out}
		}, func(b *block) error { return cReduceat(u.handle(), &b.c.accumulate) }))
}

// Outer applies a binary ufunc to all pairs of its two inputs, as NumPy's ufunc.outer: the result
// has the first one's axes, then the second's. Options as of Call, without Axes, Axis and Dims.
func (u *Ufunc) Outer(options *CallOptions, inputs ...Operand) ([]*AnyArray, error) {
	var made []*AnyArray
	err := with(u, options, inputs, func(o *CallOptions, b *block) error {
		outputs, err := o.prepare(b, u, inputs)
		if err != nil {
			return err
		}
		err = twice(func() error { return cOuter(u.handle(), &b.c.call) })
		if err != nil {
			return err
		}
		made, err = arrays(outputs, o.Out)
		return err
	})
	return made, err
}

// At is array[indices] = op(array[indices], operand), unbuffered: every occurrence of an index
// counts, as in NumPy's ufunc.at. operand is nil for a unary ufunc. Indices lie in host memory and
// index the first axes. ErrIndex, ErrShape, ErrReadOnly; the array is untouched after these.
func (u *Ufunc) At(options *AtOptions, array AnyOperand, indices []Operand, operand Operand) error {
	defer runtime.KeepAlive(array)
	defer runtime.KeepAlive(indices)
	return with(u, options, []Operand{operand}, func(o *AtOptions, b *block) error {
		o.prepare(b, array, indices, operand)
		return twice(func() error { return cAt(u.handle(), &b.c.at) })
	})
}
