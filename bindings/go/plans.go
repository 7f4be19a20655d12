// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
)

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

// layout describes an operand of a plan at the time when the plan was made. Scalars have no layout.
type layout struct {
	dtype          C.guf_dtype
	swapped        bool
	written        bool
	shape, strides []int
	device         C.guf_device // nil: host memory
	only           *AnyArray    // not nil: the only accepted array, in host memory that a GPU uses
}

// prepared describes the operands of a plan. The library's plan keeps no operands, and a launch
// passes only addresses to the library. This package therefore compares the operands of each launch
// with this description.
type prepared struct {
	layouts []*layout    // layouts of the inputs, the outputs and the mask; nil for a scalar
	device  C.guf_device // device on which the plan runs; nil: the cpu
	bytes   C.uint64_t   // size of the workspace in bytes
}

var cpu = sync.OnceValue(func() C.guf_device {
	found, _ := FindDevice("cpu")
	return found.c
})

// hosted returns the device, or nil for the cpu, because the memory of the cpu is host memory.
func hosted(device C.guf_device) C.guf_device {
	if device == cpu() {
		return nil
	}
	return device
}

// describe records the layouts of the operands of a plan that was just created.
func (p *Plan) describe(u *Ufunc, o *CallOptions, inputs []Operand) error {
	about, err := u.Info()
	if err != nil {
		return err
	}
	outputs := len(inputs) + len(o.Out)
	operands := slices.Concat(inputs, o.Out)
	if !isNil(o.Where) {
		operands = append(operands, o.Where)
	}
	p.layouts = make([]*layout, len(operands))
	for i, operand := range operands {
		given, _ := operand.(AnyOperand)
		array := anyOf(given)
		if array == nil {
			continue
		}
		info, err := array.Info()
		if err != nil {
			return err
		}
		written := i < outputs && (i >= len(inputs) || about.Roles[i] != In)
		p.layouts[i] = &layout{C.guf_dtype(info.DType), info.SwappedBytes, written, info.Shape,
			info.Strides, hosted(info.Device.c), nil}
	}
	if p.device, err = o.place(p.layouts); err != nil {
		return err
	}
	for i, lay := range p.layouts {
		if lay != nil && lay.device != p.device {
			lay.only = operands[i].(AnyOperand).Any()
		}
	}
	var alignment C.uint64_t
	return cPlanWorkspace(p.handle(), &p.bytes, &alignment)
}

// place returns the device on which a plan of these operands runs, or nil for the cpu. The device
// "auto" runs a plan whose operands are in host memory on the cpu.
func (o *CallOptions) place(layouts []*layout) (C.guf_device, error) {
	for _, lay := range layouts {
		if lay != nil && lay.device != nil {
			return lay.device, nil
		}
	}
	if o.Stream != nil {
		device, err := o.Stream.Device()
		return hosted(device.c), err
	}
	if o.Device.c == nil {
		return nil, nil
	}
	info, err := o.Device.Info()
	if err != nil {
		return nil, err
	}
	if named, err := FindDevice(info.Spec); err != nil || named != o.Device {
		return nil, err
	}
	return hosted(o.Device.c), nil
}

// address returns the address of an operand of a launch, after checking that its layout equals the
// plan's.
func (l *layout) address(place int, array *AnyArray, info *C.guf_array_info) (C.uint64_t, error) {
	switch {
	case l == nil && array == nil:
		return 0, nil
	case l == nil:
		return 0, mismatch(place, "is an array; the plan was made with a scalar")
	case array == nil:
		return 0, mismatch(place, "is not an array; the plan was made with an array")
	}
	info.struct_size = C.sizeof_guf_array_info
	if err := cArrayGetInfo(array.handle(), info); err != nil {
		return 0, err
	}
	if difference := l.differs(array, info); difference != "" {
		return 0, mismatch(place, difference)
	}
	if l.written && info.flags&cGUF_ARRAY_READ_ONLY != 0 {
		message := fmt.Sprintf("output array is read-only; argument %d", place)
		return 0, &Error{ErrReadOnly, message, place, -1, 0}
	}
	return info.address, nil
}

func mismatch(place int, difference string) error {
	message := fmt.Sprintf("argument %d %s", place, difference)
	return &Error{ErrPlanMismatch, message, place, -1, 0}
}

// differs describes the first difference between an array and the layout, or returns "".
func (l *layout) differs(array *AnyArray, info *C.guf_array_info) string {
	if info.dtype != l.dtype {
		return fmt.Sprintf("is of %v; the plan was made for %v", DType(info.dtype), DType(l.dtype))
	}
	if swapped := info.flags&cGUF_ARRAY_SWAPPED != 0; swapped != l.swapped {
		return "is in another byte order than the plan was made for"
	}
	if !same(info.shape[:info.ndim], l.shape) {
		return fmt.Sprintf("has shape %v; the plan was made for %v", array.Shape(), l.shape)
	}
	for axis, extent := range l.shape {
		if extent > 1 && int(info.strides[axis]) != l.strides[axis] {
			return fmt.Sprintf("has strides %v; the plan was made for %v", array.Strides(),
				l.strides)
		}
	}
	if hosted(info.device) != l.device {
		return fmt.Sprintf("is on %v; the plan was made for %v", Device{info.device},
			Device{l.device})
	}
	if l.only != nil && l.only != array {
		return "is in host memory; the plan's device uses the plan's own array only"
	}
	return ""
}

func same(numbers []C.int64_t, expected []int) bool {
	if len(numbers) != len(expected) {
		return false
	}
	for i, number := range numbers {
		if int(number) != expected[i] {
			return false
		}
	}
	return true
}

// workspace returns the address of the workspace of a launch, after checking its size and layout.
func (p *prepared) workspace(given *AnyArray, info *C.guf_array_info) (C.uint64_t, error) {
	if given == nil || p.bytes == 0 {
		return 0, nil
	}
	info.struct_size = C.sizeof_guf_array_info
	if err := cArrayGetInfo(given.handle(), info); err != nil {
		return 0, err
	}
	const required, refused = cGUF_ARRAY_C_CONTIGUOUS, cGUF_ARRAY_READ_ONLY
	if info.nbytes < p.bytes || hosted(info.device) != p.device || info.flags&refused != 0 ||
		info.flags&required == 0 {
		message := fmt.Sprintf("the workspace is not an array of %d contiguous bytes on %v", p.bytes,
			Device{p.device})
		return 0, &Error{ErrArg, message, -1, -1, 0}
	}
	return info.address, nil
}
