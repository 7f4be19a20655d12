// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"fmt"
	"runtime"
)

// Call applies the ufunc to its inputs and returns its outputs: the arrays of options.Out, and a
// new array for each output that options.Out does not provide. The caller closes the new arrays.
// nil options select all defaults.
//
// On the cpu the call is complete on return, unless it runs on a stream. On a GPU it is complete on
// return if an operand in host memory has to be copied to the device, or if there is no stream and
// an operand is in mapped or managed host memory. Otherwise the work is queued, and the library
// keeps the arrays alive until the work is done.
//
// The errors are NumPy's (ErrShape, ErrNoLoop, ErrCasting, ErrOverflow, ErrAxis, ErrReadOnly and
// others) and name the operand at fault.
func (u *Ufunc) Call(options *CallOptions, inputs ...Operand) ([]*AnyArray, error) {
	o := options.orDefault()
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(o)
	defer runtime.KeepAlive(inputs)
	b := acquireBlock()
	defer b.release()
	outputs, err := o.prepare(b, u, inputs)
	if err != nil {
		return nil, err
	}
	err = retry(func() error { return cCall(u.handle(), &b.c.call) })
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

// CallInto applies a ufunc of one output, without keywords, and writes into out. CallInto is the
// fastest way to call a ufunc, because it allocates nothing in Go.
func (u *Ufunc) CallInto(out Operand, inputs ...Operand) error {
	b := acquireBlock()
	operands := b.operands(len(inputs) + 1)
	for i, input := range inputs {
		b.set(&operands[i], input)
	}
	b.set(&operands[len(inputs)], out)
	err := failure(C.gufgo_call(u.handle(), &operands[0], C.int32_t(len(inputs)), 1))
	for attempt := 0; again(err, attempt); attempt++ { // not retry, whose closure would allocate
		err = failure(C.gufgo_call(u.handle(), &operands[0], C.int32_t(len(inputs)), 1))
	}
	if err == nil && isNil(out) { // the library allocated an output that the caller cannot reach
		err = cArrayRelease(operands[len(inputs)].array)
	}
	b.release()
	runtime.KeepAlive(inputs)
	runtime.KeepAlive(out)
	runtime.KeepAlive(u)
	return err
}

// Call applies a ufunc of one output and returns the output as an array of T. Call fails with
// ErrDType if the output has another dtype. If the call allocated this output, the failing Call
// closes it.
func Call[T Element](u *Ufunc, options *CallOptions, inputs ...Operand) (*Array[T], error) {
	if u.results() != 1 {
		message := fmt.Sprintf("outputs of the ufunc: expected 1, got %d", u.results())
		return nil, &Error{ErrArg, message, -1, -1, 0}
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

// Resolution describes what a call would do.
type Resolution struct {
	Loop         int     // index for Ufunc.LoopTypes
	LoopDTypes   []DType // dtypes in which the loop computes
	DTypes       []DType // dtypes of the operands, including outputs to allocate
	OutputShapes [][]int
}

// Resolve returns the loop that a call would use and the dtypes and shapes of its outputs, without
// running the call. Resolve fails with the errors of the call.
func (u *Ufunc) Resolve(options *CallOptions, inputs ...Operand) (*Resolution, error) {
	return u.resolveCall(cGUF_OPERATION_CALL, options, inputs)
}

// ResolveOuter is like Resolve, for [Ufunc.Outer].
func (u *Ufunc) ResolveOuter(options *CallOptions, inputs ...Operand) (*Resolution, error) {
	return u.resolveCall(cGUF_OPERATION_OUTER, options, inputs)
}

func (u *Ufunc) resolveCall(
	operation int32, options *CallOptions, inputs []Operand) (*Resolution, error) {
	o := options.orDefault()
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(o)
	defer runtime.KeepAlive(inputs)
	b := acquireBlock()
	defer b.release()
	if _, err := o.prepare(b, u, inputs); err != nil {
		return nil, err
	}
	return u.resolution(b, operation, u.results())
}

// request returns the request for an operation whose arguments are prepared in the block.
func (b *block) request(operation int32) *C.guf_request {
	b.c.request = C.guf_request{struct_size: C.sizeof_guf_request, operation: C.int32_t(operation),
		call: &b.c.call, reduce: &b.c.reduce, accumulate: &b.c.accumulate, at: &b.c.at}
	return &b.c.request
}

func (u *Ufunc) resolution(b *block, operation int32, nout int) (*Resolution, error) {
	r := &C.guf_resolution{struct_size: C.sizeof_guf_resolution}
	if err := cResolve(u.handle(), b.request(operation), r); err != nil {
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

// Explain describes as text what a call would do and why: the selected loop, the rejected loops,
// the casts, shapes and copies, and the device. Explain fails with the errors of the call.
func (u *Ufunc) Explain(options *CallOptions, inputs ...Operand) (string, error) {
	return u.explainCall(cGUF_OPERATION_CALL, options, inputs)
}

// ExplainOuter is like Explain, for [Ufunc.Outer].
func (u *Ufunc) ExplainOuter(options *CallOptions, inputs ...Operand) (string, error) {
	return u.explainCall(cGUF_OPERATION_OUTER, options, inputs)
}

func (u *Ufunc) explainCall(
	operation int32, options *CallOptions, inputs []Operand) (string, error) {
	o := options.orDefault()
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(o)
	defer runtime.KeepAlive(inputs)
	b := acquireBlock()
	defer b.release()
	if _, err := o.prepare(b, u, inputs); err != nil {
		return "", err
	}
	return u.explanation(b, operation)
}

func (u *Ufunc) explanation(b *block, operation int32) (string, error) {
	return textOf(func(text *C.char, length *C.uint64_t) error {
		return cExplain(u.handle(), b.request(operation), text, length)
	})
}
