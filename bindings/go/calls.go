// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import "runtime"

// Call applies the ufunc to its inputs and returns its outputs: those of options.Out, and new
// arrays for the others, to be closed by the caller. nil options: all defaults.
//
// It is complete on return when an operand lies in host memory and, on the cpu, without a stream;
// else the work is queued, and the library keeps the arrays. Errors are NumPy's: ErrShape,
// ErrNoLoop, ErrCasting, ErrOverflow, ErrAxis, ErrReadOnly and so on, with the operand at fault.
func (u *Ufunc) Call(options *CallOptions, inputs ...Operand) ([]*AnyArray, error) {
	o := options.orDefault()
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(o)
	defer runtime.KeepAlive(inputs)
	b := lend()
	defer b.back()
	outputs, err := o.prepare(b, u, inputs)
	if err != nil {
		return nil, err
	}
	err = twice(func() error { return cCall(u.handle(), &b.c.call) })
	if err != nil {
		return nil, err
	}
	return arrays(outputs, o.Out)
}

func (u *Ufunc) results() int {
	if u == nil {
		return 0
	}
	return u.nout
}

// CallInto applies a ufunc of one output, without keywords, into out: the quickest call, which
// allocates nothing in Go.
func (u *Ufunc) CallInto(out Operand, inputs ...Operand) error {
	b := lend()
	operands := b.operands(len(inputs) + 1)
	for i, input := range inputs {
		b.set(&operands[i], input)
	}
	b.set(&operands[len(inputs)], out)
	err := failure(C.gufgo_call(u.handle(), &operands[0], C.int32_t(len(inputs)), 1))
	if again(err) { // in line: nothing is allocated
		err = failure(C.gufgo_call(u.handle(), &operands[0], C.int32_t(len(inputs)), 1))
	}
	if err == nil && isNil(out) { // allocated, and nobody's
		err = cArrayRelease(operands[len(inputs)].array)
	}
	b.back()
	runtime.KeepAlive(inputs)
	runtime.KeepAlive(out)
	runtime.KeepAlive(u)
	return err
}

// Call applies a ufunc of one output and returns that, an array of T. ErrDType where it is of
// another type; what was allocated is then closed.
func Call[T Element](u *Ufunc, options *CallOptions, inputs ...Operand) (*Array[T], error) {
	if u.results() != 1 {
		return nil, &Error{ErrArg, "the ufunc has not exactly one output", -1, -1, 0}
	}
	made, err := u.Call(options, inputs...)
	if err != nil {
		return nil, err
	}
	return only[T](made[0], options == nil || len(options.Out) == 0 || isNil(options.Out[0]))
}

func only[T Element](made *AnyArray, ours bool) (*Array[T], error) {
	found, err := As[T](made)
	if err != nil && ours {
		made.Close()
	}
	return found, err
}

// Resolution is what a call would do.
type Resolution struct {
	Loop         int     // for Ufunc.LoopTypes
	LoopDTypes   []DType // what the loop computes in
	DTypes       []DType // of the operands; outputs to allocate included
	OutputShapes [][]int
}

// Resolve tells which loop a call would take and what its outputs would be, without doing it. It
// fails as the call would.
func (u *Ufunc) Resolve(options *CallOptions, inputs ...Operand) (*Resolution, error) {
	return u.resolveCall(func(c C.guf_ufunc, args *C.guf_call_args, r *C.guf_resolution) error {
		return cResolve(c, args, r)
	}, u.results(), options, inputs)
}

// ResolveOuter is Resolve for [Ufunc.Outer].
func (u *Ufunc) ResolveOuter(options *CallOptions, inputs ...Operand) (*Resolution, error) {
	return u.resolveCall(func(c C.guf_ufunc, args *C.guf_call_args, r *C.guf_resolution) error {
		return cResolveOuter(c, args, r)
	}, u.results(), options, inputs)
}

func (u *Ufunc) resolveCall(
	resolve func(C.guf_ufunc, *C.guf_call_args, *C.guf_resolution) error,
	nout int, options *CallOptions, inputs []Operand) (*Resolution, error) {
	o := options.orDefault()
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(o)
	defer runtime.KeepAlive(inputs)
	b := lend()
	defer b.back()
	if _, err := o.prepare(b, u, inputs); err != nil {
		return nil, err
	}
	return resolution(nout, func(r *C.guf_resolution) error {
		return resolve(u.handle(), &b.c.call, r)
	})
}

func resolution(nout int, resolve func(*C.guf_resolution) error) (*Resolution, error) {
	r := &C.guf_resolution{struct_size: C.sizeof_guf_resolution}
	if err := resolve(r); err != nil {
		return nil, err
	}
	made := &Resolution{Loop: int(r.loop)}
	for i := 0; i < int(r.noperands); i++ {
		made.LoopDTypes = append(made.LoopDTypes, DType(r.loop_dtypes[i]))
		made.DTypes = append(made.DTypes, DType(r.dtypes[i]))
	}
	for i := 0; i < nout; i++ {
		shape := make([]int, r.output_ndims[i])
		for axis := range shape {
			shape[axis] = int(r.output_shapes[i][axis])
		}
		made.OutputShapes = append(made.OutputShapes, shape)
	}
	return made, nil
}

// Explain tells as text what a call would do and why: the loop, those refused, casts, shapes,
// copies, and where it runs. It fails as the call would.
func (u *Ufunc) Explain(options *CallOptions, inputs ...Operand) (string, error) {
	return u.explainCall(func(c C.guf_ufunc, a *C.guf_call_args, t *C.char, n *C.uint64_t) error {
		return cExplain(c, a, t, n)
	}, options, inputs)
}

// ExplainOuter is Explain for [Ufunc.Outer].
func (u *Ufunc) ExplainOuter(options *CallOptions, inputs ...Operand) (string, error) {
	return u.explainCall(func(c C.guf_ufunc, a *C.guf_call_args, t *C.char, n *C.uint64_t) error {
		return cExplainOuter(c, a, t, n)
	}, options, inputs)
}

func (u *Ufunc) explainCall(
	explain func(C.guf_ufunc, *C.guf_call_args, *C.char, *C.uint64_t) error,
	options *CallOptions, inputs []Operand) (string, error) {
	o := options.orDefault()
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(o)
	defer runtime.KeepAlive(inputs)
	b := lend()
	defer b.back()
	if _, err := o.prepare(b, u, inputs); err != nil {
		return "", err
	}
	return told(func(text *C.char, length *C.uint64_t) error {
		return explain(u.handle(), &b.c.call, text, length)
	})
}
