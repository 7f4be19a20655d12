// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import "runtime"

// Plan is a call prepared once for operands of certain types, shapes and strides, and launched many
// times, from any number of goroutines at once.
type Plan struct {
	ref handle[C.guf_plan]
	prepared
}

// NewPlan prepares a call. All outputs are in options.Out; scalars are kept by value, arrays are
// not, but how they lie and overlap is. Errors as of Call; ErrUnsupported for Report and Fail, and
// for operands in host memory that the device cannot read.
func (u *Ufunc) NewPlan(options *CallOptions, inputs ...Operand) (*Plan, error) {
	var p *Plan
	err := with(u, options, inputs, func(o *CallOptions, b *block) error {
		var made C.guf_plan
		if _, err := o.prepare(b, u, inputs); err != nil {
			return err
		}
		if err := cPlanCreate(u.handle(), &b.c.call, &made); err != nil {
			return err
		}
		p = ownPlan(made)
		return p.describe(u, o, inputs)
	})
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
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
// waits on the cpu without a stream only. Else keep the arrays until the work is done, and on a
// stream of a GPU synchronize that before they are read: they know nothing of it. Arrays of host
// memory that another device uses in place are the plan's own ones.
//
// ErrPlanMismatch where an operand is of another type, shape, byte order or device than the plan's,
// or has other strides, or overlaps another one otherwise; ErrReadOnly for an output, ErrArg for
// their number and for the workspace. Nothing has run then.
func (p *Plan) Launch(options *LaunchOptions, operands ...AnyOperand) error {
	defer runtime.KeepAlive(p)
	defer runtime.KeepAlive(options)
	defer runtime.KeepAlive(operands)
	if p == nil {
		return cPlanLaunch(nil, nil, 0, nil, 0)
	}
	b := lend()
	defer b.back()
	addresses := taken[C.uint64_t](b, len(operands)+1)
	clear(addresses)
	var err error
	for i, operand := range operands {
		if len(operands) > len(p.layouts) {
			break // the library refuses their number
		}
		addresses[i], err = p.layouts[i].address(i, anyOf(operand), &b.c.info)
		if err != nil {
			return err
		}
	}
	var stream C.guf_stream
	workspace := C.uint64_t(0)
	if options != nil {
		stream = options.Stream.handle()
		if workspace, err = p.workspace(options.Workspace, &b.c.info); err != nil {
			return err
		}
	}
	return cPlanLaunch(p.handle(), stream, C.int32_t(len(operands)), &addresses[0], workspace)
}

// Explain tells as text what the plan does and why.
func (p *Plan) Explain() (string, error) {
	defer runtime.KeepAlive(p)
	return told(func(text *C.char, length *C.uint64_t) error {
		return cPlanExplain(p.handle(), text, length)
	})
}

// String tells only what it is; Explain tells the rest.
func (p *Plan) String() string { return p.reference().kind("plan") }

// Clone is another reference to the same plan, to be closed on its own.
func (p *Plan) Clone() (*Plan, error) {
	return another(p, cPlanRetain, func(c C.guf_plan) *Plan {
		clone := ownPlan(c)
		clone.prepared = p.prepared
		return clone
	})
}

// Close gives the reference back; a second time it does nothing.
func (p *Plan) Close() error { return p.reference().close() }
