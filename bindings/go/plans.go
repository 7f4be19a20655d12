// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import "runtime"

// Plan is a call that was prepared once for operands of certain dtypes, shapes and strides. It can
// be launched many times, from any number of goroutines at the same time.
type Plan struct {
	ref handle[C.guf_plan]
	prepared
}

// NewPlan prepares a call. options.Out must contain all outputs. The plan stores scalars by value.
// The plan does not keep arrays alive, but it records their layouts and how they overlap. NewPlan
// fails with the errors of Call, and with ErrUnsupported for Report and Fail and for operands in
// host memory that the device cannot read.
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

// Workspace returns the size and alignment of the scratch memory that one launch needs on the
// plan's device. 0 bytes means that no workspace is needed.
func (p *Plan) Workspace() (bytes, alignment int, err error) {
	defer runtime.KeepAlive(p)
	var size, align C.uint64_t
	err = cPlanWorkspace(p.handle(), &size, &align)
	return int(size), int(align), err
}

// LaunchOptions contains the options of a launch. A zero field is not set.
type LaunchOptions struct {
	Stream    *Stream
	Workspace *AnyArray // required if the plan needs one; concurrent launches need separate ones
}

// Launch runs the plan on operands in the order inputs, outputs, mask. Pass nil for each scalar. On
// the cpu without a stream, Launch returns when the result is complete. Otherwise the work is
// queued, and the caller must keep the arrays alive until the work is complete. Arrays do not track
// launches on a stream of a GPU, so synchronize the stream before you read the arrays. If a GPU
// uses an array in host memory in place, a launch accepts only the array with which the plan was
// made.
//
// Errors: ErrPlanMismatch if the dtype, shape, strides, byte order or device of an operand differ
// from the plan's, or if operands overlap differently; ErrReadOnly for a read-only output; ErrArg
// for a wrong number of operands and for an unsuitable workspace. If Launch returns one of these
// errors, nothing runs.
func (p *Plan) Launch(options *LaunchOptions, operands ...AnyOperand) error {
	defer runtime.KeepAlive(p)
	defer runtime.KeepAlive(options)
	defer runtime.KeepAlive(operands)
	if p == nil {
		return cPlanLaunch(nil, nil, 0, nil, 0)
	}
	b := acquireBlock()
	defer b.release()
	addresses := allocateSlice[C.uint64_t](b, len(operands)+1)
	clear(addresses)
	var err error
	for i, operand := range operands {
		if len(operands) > len(p.layouts) {
			break // the library rejects the number of operands
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

// Explain describes as text what the plan does and why.
func (p *Plan) Explain() (string, error) {
	defer runtime.KeepAlive(p)
	return textOf(func(text *C.char, length *C.uint64_t) error {
		return cPlanExplain(p.handle(), text, length)
	})
}

// String returns only the kind of the object. Explain describes the plan.
func (p *Plan) String() string { return p.reference().kind("plan") }

// Clone returns another reference to the same plan. The caller closes it separately.
func (p *Plan) Clone() (*Plan, error) {
	return another(p, cPlanRetain, func(c C.guf_plan) *Plan {
		clone := ownPlan(c)
		clone.prepared = p.prepared
		return clone
	})
}

// Close releases the reference. Further calls do nothing.
func (p *Plan) Close() error { return p.reference().close() }
