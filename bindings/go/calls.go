// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/cgo"
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
// ErrDType if the output has a different dtype. If the call allocated this output, the failing Call
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

// ChunkOptions controls how a chunked call is divided. A zero field leaves the choice to the
// library.
type ChunkOptions struct {
	ChunkBytes uint64 // bytes of the largest operand in a chunk; 0: at most 8 MiB
	Depth      int    // chunks in progress at the same time, 1 to 16; 0: 3
	FirstItem  int    // number of outer items to skip, to resume a stopped call
	// Progress is called on the calling goroutine after a chunk is written. The call has items
	// outer items, and the results of the first done of them are now in the outputs. If Progress
	// returns false, the call stops with ErrCancelled. Progress may call this package, but not with
	// operands of this call.
	Progress func(done, items int) bool
}

type progress struct {
	ctx      context.Context
	report   func(done, items int) bool
	panicked any
}

// CallChunked applies the ufunc in chunks along the outermost loop dimension; an outer item is one
// index of this dimension. Use CallChunked for arrays in host memory, including mapped files, that
// are larger than the device's memory. options.Out must contain all outputs, and no stream is
// allowed. CallChunked returns the number of outer items whose results are in the outputs, also
// when it fails. Pass this number as FirstItem to resume the call.
//
// When ctx ends, the call stops after the current chunk. The error then wraps both ctx's error and
// ErrCancelled. Errors: ErrUnsupported for operands in device memory, ErrDeviceMemory if Depth
// chunks do not fit into device memory, and the errors of Call.
func (u *Ufunc) CallChunked(ctx context.Context, options *CallOptions, chunks *ChunkOptions,
	inputs ...Operand) (items int, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if chunks == nil {
		chunks = &ChunkOptions{}
	}
	watched := &progress{ctx: ctx, report: chunks.Progress}
	err = with(u, options, inputs, func(o *CallOptions, b *block) error {
		if _, err := o.prepare(b, u, inputs); err != nil {
			return err
		}
		b.c.items = 0
		if depth := chunks.Depth; depth != int(int32(depth)) {
			message := fmt.Sprintf("Depth: expected 0 to 16, got %d", depth)
			return &Error{ErrArg, message, -1, -1, 0}
		}
		b.c.chunk = C.guf_chunk_options{struct_size: C.sizeof_guf_chunk_options,
			chunk_bytes: C.uint64_t(chunks.ChunkBytes), depth: C.int32_t(chunks.Depth),
			first_item: C.int64_t(chunks.FirstItem)}
		user := C.uintptr_t(0)
		if ctx.Done() != nil || watched.report != nil {
			kept := cgo.NewHandle(watched)
			defer kept.Delete()
			user = C.uintptr_t(kept)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := failure(C.gufgo_call_chunked(u.handle(), b.c, user))
		items = int(b.c.items)
		return err
	})
	if watched.panicked != nil {
		panic(watched.panicked)
	}
	if ended := ctx.Err(); ended != nil && errors.Is(err, ErrCancelled) {
		err = errors.Join(ended, err)
	}
	return items, err
}
