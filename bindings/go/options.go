// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// HostPolicy says which operands in host memory may be copied to the device and back.
type HostPolicy int32

// Policies. A mix of host and device memory is refused (ErrDeviceMismatch) by the first.
const (
	HostDefault     HostPolicy = cGUF_HOST_DEFAULT
	HostCopy        HostPolicy = cGUF_HOST_COPY
	HostCopyAndWarn HostPolicy = cGUF_HOST_COPY_AND_WARN // with a line in the log (ReadLog)
)

// FPEvent is a set of floating-point events: NumPy's errstate.
type FPEvent uint32

// Floating-point events.
const (
	Divide        FPEvent = cGUF_FP_DIVIDE         // 1/0, log(0)
	Overflow      FPEvent = cGUF_FP_OVERFLOW       // an infinite result of finite operands
	Underflow     FPEvent = cGUF_FP_UNDERFLOW      // a result below the smallest normal number
	Invalid       FPEvent = cGUF_FP_INVALID        // 0/0, sqrt(-1)
	IntegerDivide FPEvent = cGUF_FP_INTEGER_DIVIDE // an integer divided by zero
	AllEvents     FPEvent = Divide | Overflow | Underflow | Invalid | IntegerDivide
)

// Events collects the floating-point events that calls find. Of a call on a stream they are there
// when its work is done; keep the Events until then. One that NewEvents did not make collects none.
type Events struct{ word *C.uint32_t }

// NewEvents makes an empty set.
func NewEvents() *Events {
	e := &Events{(*C.uint32_t)(C.calloc(1, C.sizeof_uint32_t))}
	runtime.AddCleanup(e, func(word *C.uint32_t) { C.free(unsafe.Pointer(word)) }, e.word)
	return e
}

// Found is what was found so far.
func (e *Events) Found() FPEvent {
	defer runtime.KeepAlive(e)
	if e == nil || e.word == nil {
		return 0
	}
	return FPEvent(atomic.LoadUint32((*uint32)(e.word)))
}

// Clear empties the set, of which no work may be under way.
func (e *Events) Clear() {
	defer runtime.KeepAlive(e)
	if e == nil || e.word == nil {
		return
	}
	atomic.StoreUint32((*uint32)(e.word), 0)
}

func (e *Events) pointer() *C.uint32_t {
	if e == nil {
		return nil
	}
	return e.word
}

// Dim is the size of a core dimension that only outputs have.
type Dim struct {
	Name string
	Size int
}

// Axis is an axis as an option: CallOptions{Axis: gufunc.Axis(-1)}.
func Axis(axis int) *int { return &axis }

// CallOptions is NumPy's keywords of a call. What is zero is not given.
type CallOptions struct {
	// Out is nil, or one operand per output; a nil one is allocated. An output may be larger than
	// the broadcast inputs, overlap them in any way, and be of another type that Casting allows.
	Out       []Operand
	Where     Operand // a mask (bool) that broadcasts: where false, outputs keep their values
	Casting   Casting
	Order     Order   // layout of allocated outputs
	DType     DType   // the type of the outputs that the loop must have
	Signature []DType // one per operand, 0 for any
	// Axes has, per operand, as many axes as that has core dimensions; with KeepDims outputs have the
	// first input's. Lists at the end may be left out when empty. ErrArg otherwise.
	Axes     [][]int
	Axis     *int  // one axis, for a signature whose only core dimension is shared
	KeepDims bool  // reduced core dimensions stay, with extent 1
	Dims     []Dim // sizes of core dimensions that only outputs have
	// Device is where the call runs; the zero Device: where the operands lie.
	Device     Device
	Stream     *Stream // nil: complete on return on the cpu, else in the device's own order
	HostPolicy HostPolicy
	Threads    int     // at most so many on the cpu; 0: the library's choice
	Events     *Events // where the events of Report are added
	Report     FPEvent // events to look for, which costs a pass over the operands
	Fail       FPEvent // events that fail the call with ErrFloatingPoint
}

var noCallOptions CallOptions

func (o *CallOptions) orDefault() *CallOptions {
	if o == nil {
		return &noCallOptions
	}
	return o
}

// prepare fills in the block's call and returns its outputs.
func (o *CallOptions) prepare(b *block, u *Ufunc, inputs []Operand) ([]C.guf_operand, error) {
	if o.Threads != int(uint32(o.Threads)) { // in line: the quick way
		return nil, fits(ErrArg, "Threads", o.Threads)
	}
	nout := u.results()
	if len(o.Out) > 0 { // none given: all are allocated
		nout = len(o.Out)
	}
	operands := b.operands(len(inputs) + nout + 1)
	outputs := operands[len(inputs) : len(inputs)+nout]
	for i, input := range inputs {
		b.set(&operands[i], input)
	}
	for i, output := range o.Out {
		b.set(&outputs[i], output)
	}
	b.c.call = C.guf_call_args{struct_size: C.sizeof_guf_call_args,
		ninputs: C.int32_t(len(inputs)), noutputs: C.int32_t(nout),
		inputs: &operands[0], outputs: &operands[len(inputs)],
		where: b.one(o.Where), stream: o.Stream.handle(), device: o.Device.c,
		casting: C.int32_t(o.Casting), order: C.int32_t(o.Order), dtype: C.guf_dtype(o.DType),
		host_policy: C.int32_t(o.HostPolicy), threads: C.uint32_t(o.Threads),
		fp_events: o.Events.pointer(), fp_report: C.uint32_t(o.Report),
		fp_fail: C.uint32_t(o.Fail)}
	if o.Axes != nil {
		if err := o.prepareAxes(b, u, inputs); err != nil {
			return nil, err
		}
	}
	return outputs, o.prepareRest(b)
}

// prepareRest fills in what few calls have.
func (o *CallOptions) prepareRest(b *block) error {
	call := &b.c.call
	if o.KeepDims {
		call.flags |= cGUF_CALL_KEEPDIMS
	}
	if len(o.Signature) > 0 {
		call.nsignature = C.int32_t(len(o.Signature))
		types := taken[C.guf_dtype](b, len(o.Signature))
		for i, dtype := range o.Signature {
			types[i] = C.guf_dtype(dtype)
		}
		call.signature = &types[0]
	}
	if o.Axis != nil {
		call.axis = b.numbers([]int{*o.Axis})
	}
	if len(o.Dims) > 0 {
		dims := taken[C.guf_dim](b, len(o.Dims))
		for i, dim := range o.Dims {
			if err := whole(dim.Name); err != nil {
				return err
			}
			dims[i] = C.guf_dim{name: b.text(dim.Name), size: C.int64_t(dim.Size)}
		}
		call.ndims, call.dims = C.int32_t(len(dims)), &dims[0]
	}
	return nil
}

// arrays makes the caller's list of what a call wrote: given arrays themselves, new ones owned.
func arrays(outputs []C.guf_operand, given []Operand) ([]*AnyArray, error) {
	made := make([]*AnyArray, len(outputs))
	var failed error
	for i := range outputs {
		if i < len(given) && !isNil(given[i]) {
			if array, ok := given[i].(AnyOperand); ok {
				made[i] = array.Any()
			}
			continue
		}
		var err error
		if made[i], err = madeArray(outputs[i].array, nil); err != nil {
			failed = err
		}
	}
	return made, failed
}
