// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// HostPolicy selects which operands in host memory may be copied to the device and back.
type HostPolicy int32

// Host policies. HostDefault rejects a mix of host and device memory with ErrDeviceMismatch.
const (
	HostDefault     HostPolicy = cGUF_HOST_DEFAULT
	HostCopy        HostPolicy = cGUF_HOST_COPY
	HostCopyAndWarn HostPolicy = cGUF_HOST_COPY_AND_WARN // also writes a line to the log (ReadLog)
)

// FPFlags is a set of floating-point flags, as in NumPy's errstate.
type FPFlags uint32

// Floating-point flags.
const (
	Divide        FPFlags = cGUF_FP_DIVIDE         // 1/0, log(0)
	Overflow      FPFlags = cGUF_FP_OVERFLOW       // any other infinite result of finite operands
	Underflow     FPFlags = cGUF_FP_UNDERFLOW      // a result below the smallest normal number
	Invalid       FPFlags = cGUF_FP_INVALID        // 0/0, sqrt(-1)
	IntegerDivide FPFlags = cGUF_FP_INTEGER_DIVIDE // division of an integer by zero
	AllFPFlags    FPFlags = Divide | Overflow | Underflow | Invalid | IntegerDivide
)

// FPStatus accumulates the floating-point flags that calls report. The flags of a call on a stream
// are set when the call's work is complete; keep the FPStatus alive until then. The zero FPStatus
// accumulates nothing; use NewFPStatus.
type FPStatus struct{ word *C.uint32_t }

// NewFPStatus returns an empty set of flags.
func NewFPStatus() *FPStatus {
	e := &FPStatus{(*C.uint32_t)(C.calloc(1, C.sizeof_uint32_t))}
	runtime.AddCleanup(e, func(word *C.uint32_t) { C.free(unsafe.Pointer(word)) }, e.word)
	return e
}

// Found returns the flags that were reported since the FPStatus was created or cleared.
func (e *FPStatus) Found() FPFlags {
	defer runtime.KeepAlive(e)
	if e == nil || e.word == nil {
		return 0
	}
	return FPFlags(atomic.LoadUint32((*uint32)(e.word)))
}

// Clear removes all flags. No pending work may use the FPStatus.
func (e *FPStatus) Clear() {
	defer runtime.KeepAlive(e)
	if e == nil || e.word == nil {
		return
	}
	atomic.StoreUint32((*uint32)(e.word), 0)
}

func (e *FPStatus) pointer() *C.uint32_t {
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

// Axis returns a pointer to axis, for an option: CallOptions{Axis: gufunc.Axis(-1)}.
func Axis(axis int) *int { return &axis }

// CallOptions contains NumPy's keywords of a call. A zero field is not set.
type CallOptions struct {
	// Out is nil, or has one operand per output. The call allocates the output of a nil entry. An
	// output may be larger than the broadcast inputs, overlap them in any way, and have another
	// dtype if Casting allows it.
	Out       []Operand
	Where     Operand // a bool mask that broadcasts; outputs keep their values where the mask is false
	Casting   Casting
	Order     Order   // layout of allocated outputs
	DType     DType   // required output dtype of the loop
	Signature []DType // one per operand, 0 for any
	// Axes has one list per operand, inputs first, with as many axes as the operand has core
	// dimensions. The lists of outputs may be omitted if the signature has no core dimensions in
	// outputs. Errors: ErrArg for a wrong number of lists, ErrAxis for a list of the wrong length.
	Axes     [][]int
	Axis     *int  // one axis, for a signature with a single, shared core dimension
	KeepDims bool  // keep reduced core dimensions, with extent 1
	Dims     []Dim // sizes of core dimensions that only outputs have
	// Device is the device on which the call runs. The zero Device selects the operands' device.
	Device     Device
	Stream     *Stream // nil: complete on return (cpu), or on the device's default stream (GPU)
	HostPolicy HostPolicy
	Threads    int       // limit of threads on the cpu; 0: the library's choice
	FPStatus   *FPStatus // receives the flags of Report
	Report     FPFlags   // flags to detect, at the cost of a pass over the operands
	Fail       FPFlags   // flags that fail the call with ErrFloatingPoint
}

var noCallOptions CallOptions

func (o *CallOptions) orDefault() *CallOptions {
	if o == nil {
		return &noCallOptions
	}
	return o
}

// shared returns the options that calls and methods share.
func shared(stream *Stream, device Device, threads int, status *FPStatus,
	report, fail FPFlags) C.guf_call_options {
	return C.guf_call_options{stream: stream.handle(), device: device.c,
		threads: C.uint32_t(threads), fp_flags: status.pointer(),
		fp_report: C.uint32_t(report), fp_fail: C.uint32_t(fail)}
}

// prepare fills in the call arguments of the block and returns their outputs.
func (o *CallOptions) prepare(b *block, u *Ufunc, inputs []Operand) ([]C.guf_operand, error) {
	if o.Threads != int(uint32(o.Threads)) { // inline instead of fits, because this path must be fast
		return nil, fits(ErrArg, "Threads", o.Threads)
	}
	nout := u.results()
	if len(o.Out) > 0 { // without Out, all outputs are allocated
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
		where:   b.one(o.Where),
		options: shared(o.Stream, o.Device, o.Threads, o.FPStatus, o.Report, o.Fail),
		casting: C.int32_t(o.Casting), order: C.int32_t(o.Order), dtype: C.guf_dtype(o.DType),
		host_policy: C.int32_t(o.HostPolicy)}
	if o.Axes != nil {
		b.c.call.naxes, b.c.call.axes = C.int32_t(len(o.Axes)), b.coreAxes(o.Axes)
	}
	return outputs, o.prepareRest(b)
}

// prepareRest fills in the arguments that few calls use.
func (o *CallOptions) prepareRest(b *block) error {
	call := &b.c.call
	if o.KeepDims {
		call.flags |= cGUF_CALL_KEEPDIMS
	}
	if len(o.Signature) > 0 {
		call.nsignature = C.int32_t(len(o.Signature))
		types := allocateSlice[C.guf_dtype](b, len(o.Signature))
		for i, dtype := range o.Signature {
			types[i] = C.guf_dtype(dtype)
		}
		call.signature = &types[0]
	}
	if o.Axis != nil {
		call.axis = b.numbers([]int{*o.Axis})
	}
	if len(o.Dims) > 0 {
		dims := allocateSlice[C.guf_dim](b, len(o.Dims))
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

// arrays returns the outputs of a call: the arrays that the caller provided, and new objects that
// own the arrays that the library allocated.
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
