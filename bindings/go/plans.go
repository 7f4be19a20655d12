// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import "runtime"

// Plan is a call prepared once for operands of certain types, shapes and strides, and launched many
// times, from any number of goroutines at once.
type Plan struct{ ref handle[C.guf_plan] }

// NewPlan prepares a call. All outputs are in options.Out; scalars are kept by value, arrays are
// not, but how they overlap is. Errors as of Call; ErrUnsupported for Report and Fail, and for
// operands in host memory that the device cannot read.
func (u *Ufunc) NewPlan(options *CallOptions, inputs ...Operand) (*Plan, error) {
	var made C.guf_plan
	err := with(u, options, inputs, func(o *CallOptions, b *block) error {
		o.prepare(b, u.results(), inputs)
		return cPlanCreate(u.handle(), &b.c.call, &made)
	})
	if err != nil {
		return nil, err
	}
	return ownPlan(made), nil
}

func ownPlan(c C.guf_plan) *Plan { return owner[Plan](c, cPlanRelease) }

func (p *Plan) reference() *handle[C.guf_plan] {
	if p == nil {
		return nil
	}
	return &p.ref
}

func (p *Plan) handle() C.guf_plan { return p.reference().value() }

// Workspace is the scratch memory that one launch needs on the plan's device; 0 bytes: none.
func (p *Plan) Workspace() (bytes, alignment int, err error) {
	defer runtime.KeepAlive(p)
	var size, align C.uint64_t
	err = cPlanWorkspace(p.handle(), &size, &align)
	return int(size), int(align), err
}

// LaunchOptions is what a launch of a plan may be given. What is zero is not given.
type LaunchOptions struct {
	Stream    *Stream
	Workspace *AnyArray // where the plan needs one; one for each launch under way
}

// Launch runs the plan on operands, in the order inputs, outputs, mask; nil stands for a scalar. It
// waits on the cpu without a stream only. Else keep the arrays until the work is done. Errors:
// ErrArg, ErrPlanMismatch where they overlap otherwise than when the plan was made.
func (p *Plan) Launch(options *LaunchOptions, operands ...AnyOperand) error {
	b := lend()
	addresses := taken[C.uint64_t](b, len(operands)+1)
	var err error
	for i, operand := range operands {
		addresses[i] = 0
		if operand != nil && err == nil {
			addresses[i], err = operand.Any().address()
		}
	}
	var stream C.guf_stream
	workspace := C.uint64_t(0)
	if options != nil {
		stream = options.Stream.handle()
		if options.Workspace != nil && err == nil {
			workspace, err = options.Workspace.address()
		}
	}
	if err == nil {
		err = cPlanLaunch(p.handle(), stream, C.int32_t(len(operands)), &addresses[0], workspace)
	}
	b.back()
	runtime.KeepAlive(p)
	runtime.KeepAlive(options)
	runtime.KeepAlive(operands)
	return err
}

// address is where element (0, ..., 0) lies.
func (a *AnyArray) address() (C.uint64_t, error) {
	var info C.guf_array_info
	info.struct_size = C.sizeof_guf_array_info
	err := cArrayGetInfo(a.handle(), &info)
	return info.address, err
}

// Explain tells as text what the plan does and why.
func (p *Plan) Explain() (string, error) {
	defer runtime.KeepAlive(p)
	return told(func(text *C.char, length *C.uint64_t) error {
		return cPlanExplain(p.handle(), text, length)
	})
}

// Clone is another reference to the same plan, to be closed on its own.
func (p *Plan) Clone() (*Plan, error) {
	return another(p, cPlanRetain, ownPlan)
}

// Close gives the reference back; a second time it does nothing.
func (p *Plan) Close() error { return p.reference().close() }
