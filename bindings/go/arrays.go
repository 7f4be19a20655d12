// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"context"
	"math"
	"runtime"
	"unsafe"
)

// Go passes shapes and axes to C without conversion, so int must have the size of int64.
var _ [unsafe.Sizeof(int64(0))]byte = [unsafe.Sizeof(int(0))]byte{}

// Order is the layout of elements in memory.
type Order int32

// Orders, as in NumPy.
const (
	KeepOrder Order = cGUF_ORDER_KEEP // keep the layout of the source ('K')
	COrder    Order = cGUF_ORDER_C    // last axis fastest
	FOrder    Order = cGUF_ORDER_F    // first axis fastest
	AnyOrder  Order = cGUF_ORDER_ANY  // F if the source is F- but not C-contiguous, else C ('A')
)

// HostMemory is a kind of host memory that a device copies or reads directly.
type HostMemory int32

// Kinds of host memory. On the cpu every kind is ordinary memory.
const (
	Pinned  HostMemory = cGUF_HOST_PINNED  // page-locked: copies need no staging
	Mapped  HostMemory = cGUF_HOST_MAPPED  // page-locked, used by the device in place
	Managed HostMemory = cGUF_HOST_MANAGED // migrates to the processor that accesses it
)

// AnyArray is an array whose dtype is known only at run time: a reference-counted view of host or
// device memory. [Array] is an array whose element type is known at compile time.
//
// Arrays may be used from any goroutine, as long as no goroutine writes an array that another one
// uses. Close frees the memory early; otherwise the garbage collector frees it.
type AnyArray struct {
	ref  handle[C.guf_array]
	held int64 // bytes that the library allocated for this object; 0 for a view or wrapped memory
}

// ArrayInfo describes an array. Strides are bytes and may be negative.
type ArrayInfo struct {
	DType          DType
	Shape, Strides []int
	Size, NBytes   int
	Device         Device  // the zero Device for memory that was wrapped without a device
	Address        uintptr // address of element (0, ..., 0)
	ReadOnly       bool
	CContiguous    bool
	FContiguous    bool
	Aligned        bool
	SwappedBytes   bool // the byte order is not the machine's
	OwnsData       bool // the array is not a view
}

// AllocOptions selects the layout and the kind of memory of a new array.
type AllocOptions struct {
	Strides []int      // in bytes, may be negative or leave gaps; nil: Order determines them
	Order   Order      // COrder or FOrder
	Host    HostMemory // if not 0, the array is in host memory that the device can use
}

// AllocAny allocates an array whose dtype is known at run time. The values are unspecified. Errors:
// ErrShape, ErrDType, ErrNoMemory, ErrDeviceMemory. When memory runs out, AllocAny runs the garbage
// collector to free arrays that the program dropped without closing, and tries once more.
func AllocAny(d Device, dtype DType, options *AllocOptions, shape ...int) (*AnyArray, error) {
	var chosen AllocOptions
	if options != nil {
		chosen = *options
	}
	if chosen.Order == KeepOrder {
		chosen.Order = COrder
	}
	if chosen.Strides != nil && len(chosen.Strides) != len(shape) {
		return nil, otherCount("Strides", len(chosen.Strides), len(shape))
	}
	made := new(AnyArray)
	err := allocInto(made, d, dtype, &chosen, shape)
	if err != nil {
		return nil, err
	}
	return made, nil
}

func allocInto(a *AnyArray, d Device, dtype DType, o *AllocOptions, shape []int) error {
	var made C.guf_array
	err := retry(func() error {
		ndim, first, strides := C.int32_t(len(shape)), int64s(shape), int64s(o.Strides)
		if o.Host != 0 {
			return cArrayAllocHost(d.c, C.int32_t(o.Host), C.guf_dtype(dtype), ndim, first, strides,
				C.int32_t(o.Order), &made)
		}
		return cArrayAlloc(d.c, C.guf_dtype(dtype), ndim, first, strides, C.int32_t(o.Order), &made)
	})
	if err != nil {
		return err
	}
	bytes := int64(dtype.ItemSize())
	for _, extent := range shape {
		bytes *= int64(extent)
	}
	ownArray(a, made, bytes)
	return nil
}

func ownAnyArray(c C.guf_array) *AnyArray { return owner[AnyArray](c, cArrayRelease) }

// ownArray makes a the owner of a reference and counts bytes as memory that a holds.
func ownArray(a *AnyArray, made C.guf_array, bytes int64) {
	a.held = bytes
	if bytes == 0 {
		own(a, &a.ref, made, cArrayRelease)
		return
	}
	hold(bytes)
	own(a, &a.ref, made, func(c C.guf_array) error {
		hold(-bytes)
		return cArrayRelease(c)
	})
}

// madeArray wraps an array that the library allocated, or returns the error of the call.
func madeArray(made C.guf_array, err error) (*AnyArray, error) {
	if err != nil {
		return nil, err
	}
	var info C.guf_array_info
	info.struct_size = C.sizeof_guf_array_info
	bytes := int64(0)
	if cArrayGetInfo(made, &info) == nil && info.flags&cGUF_ARRAY_OWNS_DATA != 0 {
		bytes = int64(info.nbytes)
	}
	a := new(AnyArray)
	ownArray(a, made, bytes)
	return a, nil
}

func (a *AnyArray) reference() *handle[C.guf_array] {
	if a == nil {
		return nil
	}
	return &a.ref
}

func (a *AnyArray) handle() C.guf_array { return a.reference().value() }

// Any returns the array itself as an AnyArray.
func (a *AnyArray) Any() *AnyArray { return a }

// Clone returns another reference to the same memory. The caller closes it separately.
func (a *AnyArray) Clone() (*AnyArray, error) {
	return another(a, cArrayRetain, ownAnyArray)
}

// Close releases the reference. The memory is freed when no array or view refers to it and no
// pending work uses it. Further calls of Close do nothing. Any other use of a closed array fails
// with ErrHandle.
func (a *AnyArray) Close() error { return a.reference().close() }

// Synchronize waits for all work on the array's memory that was submitted to the library, on any
// stream, including the device's default stream. Afterwards the program may use a slice of
// [Array.Data]. If ctx ends first, Synchronize returns ctx's error. Synchronize does not report
// failures of the work: the stream or device reports them.
func (a *AnyArray) Synchronize(ctx context.Context) error {
	defer runtime.KeepAlive(a)
	return wait(ctx, func(limit C.uint64_t) error { return cArraySynchronize(a.handle(), limit) })
}

// Info returns a description of the array.
func (a *AnyArray) Info() (ArrayInfo, error) {
	defer runtime.KeepAlive(a)
	var info C.guf_array_info
	info.struct_size = C.sizeof_guf_array_info
	if err := cArrayGetInfo(a.handle(), &info); err != nil {
		return ArrayInfo{}, err
	}
	both := make([]int, 2*int(info.ndim))
	shape, strides := both[:info.ndim:info.ndim], both[info.ndim:]
	for i := range shape {
		shape[i], strides[i] = int(info.shape[i]), int(info.strides[i])
	}
	has := func(flag C.uint32_t) bool { return info.flags&flag != 0 }
	return ArrayInfo{DType(info.dtype), shape, strides, int(info.size), int(info.nbytes),
		Device{info.device}, uintptr(info.address), has(cGUF_ARRAY_READ_ONLY),
		has(cGUF_ARRAY_C_CONTIGUOUS), has(cGUF_ARRAY_F_CONTIGUOUS), has(cGUF_ARRAY_ALIGNED),
		has(cGUF_ARRAY_SWAPPED), has(cGUF_ARRAY_OWNS_DATA)}, nil
}

// Shape returns the extents of the array, or nil if the array is closed.
func (a *AnyArray) Shape() []int {
	info, _ := a.Info()
	return info.Shape
}

// Strides returns the strides in bytes, or nil if the array is closed.
func (a *AnyArray) Strides() []int {
	info, _ := a.Info()
	return info.Strides
}

// DType returns the dtype, or 0 if the array is closed.
func (a *AnyArray) DType() DType {
	info, _ := a.Info()
	return info.DType
}

// Size returns the number of elements.
func (a *AnyArray) Size() int {
	info, _ := a.Info()
	return info.Size
}

// Device returns the device whose memory the array uses. It is the cpu for host memory.
func (a *AnyArray) Device() Device {
	info, _ := a.Info()
	return info.Device
}

// String formats the array as NumPy does, followed by shape, dtype and device. String waits for
// pending work on the array.
func (a *AnyArray) String() string {
	if a == nil {
		return "no array"
	}
	defer runtime.KeepAlive(a)
	text, err := textOf(func(text *C.char, length *C.uint64_t) error {
		return cArrayPrint(a.handle(), text, length)
	})
	if err != nil {
		return err.Error()
	}
	return text
}

// textOf calls a C function that writes a text, with a buffer of the length that the function
// requests.
func textOf(write func(text *C.char, length *C.uint64_t) error) (string, error) {
	length := C.uint64_t(1024)
	for {
		text := make([]C.char, length)
		err := write(&text[0], &length)
		if failed, ok := err.(*Error); ok && failed.Status == ErrBufferTooSmall &&
			int(length) > len(text) {
			continue
		}
		if err != nil {
			return "", err
		}
		return C.GoString(&text[0]), nil
	}
}

// int64s passes a slice to C without a copy. int64s returns NULL for an empty slice.
func int64s(numbers []int) *C.int64_t {
	return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(numbers)))
}

// Range selects elements of one axis: NumPy's start:stop:step. Negative bounds count from the end,
// and both bounds are clipped to the extent of the axis.
type Range struct{ Start, Stop, Step int }

// Omitted is the value of Start or Stop for an omitted bound of a [Range].
const Omitted = math.MinInt64

// All returns the range ":".
func All() Range { return Range{Omitted, Omitted, 1} }

// From returns the range "start:".
func From(start int) Range { return Range{start, Omitted, 1} }

// Until returns the range ":stop".
func Until(stop int) Range { return Range{Omitted, stop, 1} }

// Between returns the range "start:stop".
func Between(start, stop int) Range { return Range{start, stop, 1} }

// By returns the range with a different step, which may be negative.
func (r Range) By(step int) Range { return Range{r.Start, r.Stop, step} }

// Slice returns the view a[ranges..., ...] as in NumPy, with one range per axis. Axes without a
// range are kept whole. Errors: ErrIndex for more ranges than axes, ErrValue for a step of 0.
func (a *AnyArray) Slice(ranges ...Range) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	numbers := make([]int, 3*len(ranges))
	starts, stops := numbers[:len(ranges)], numbers[len(ranges):2*len(ranges)]
	steps := numbers[2*len(ranges):]
	for i, r := range ranges {
		starts[i], stops[i], steps[i] = r.Start, r.Stop, r.Step
	}
	var made C.guf_array
	return viewOf(&made, cArraySlice(a.handle(), C.int32_t(len(ranges)), int64s(starts),
		int64s(stops), int64s(steps), &made))
}

func viewOf(made *C.guf_array, err error) (*AnyArray, error) {
	if err != nil {
		return nil, err
	}
	return ownAnyArray(*made), nil
}

// Reshape returns a view of the same elements in C order. One extent may be -1. Errors:
// ErrUnsupported where NumPy would make a copy (use Copy first), ErrShape if the sizes differ.
func (a *AnyArray) Reshape(shape ...int) (*AnyArray, error) {
	return a.ReshapeOrder(COrder, shape...)
}

// ReshapeOrder is like Reshape, and reads and writes the elements in COrder, FOrder or AnyOrder.
func (a *AnyArray) ReshapeOrder(order Order, shape ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayReshape(a.handle(), C.int32_t(len(shape)), int64s(shape),
		C.int32_t(order), &made))
}

// Ravel returns a one-dimensional view in the given order. Ravel fails with the errors of Reshape.
func (a *AnyArray) Ravel(order Order) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayRavel(a.handle(), C.int32_t(order), &made))
}

// Transpose returns a view whose axis i is axis axes[i] of the array. Without arguments, Transpose
// reverses the order of the axes. Errors: ErrAxis, ErrValue.
func (a *AnyArray) Transpose(axes ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayTranspose(a.handle(), C.int32_t(len(axes)), some(axes), &made))
}

// BroadcastTo returns a read-only view of the given shape, in which axes of extent 1 are repeated.
// BroadcastTo fails with ErrShape if the shapes are incompatible.
func (a *AnyArray) BroadcastTo(shape ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayBroadcastTo(a.handle(), C.int32_t(len(shape)), int64s(shape),
		&made))
}

// Squeeze returns a view without the given axes, which must have extent 1. If no axes are given, it
// removes all axes of extent 1. Errors: ErrAxis, ErrShape.
func (a *AnyArray) Squeeze(axes ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArraySqueeze(a.handle(), C.int32_t(len(axes)), some(axes), &made))
}

// ExpandDims returns a view with new axes of extent 1. axes contains their positions in the result.
// Errors: ErrAxis, ErrShape.
func (a *AnyArray) ExpandDims(axes ...int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	var made C.guf_array
	return viewOf(&made, cArrayExpandDims(a.handle(), C.int32_t(len(axes)), int64s(axes), &made))
}

// SlidingWindowView returns a read-only view of sliding windows, like NumPy's. Each given axis
// shrinks to extent - window + 1, and a new last axis has the extent of the window. Errors:
// ErrAxis, ErrShape.
func (a *AnyArray) SlidingWindowView(axes, windows []int) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	if len(axes) != len(windows) {
		return nil, otherCount("windows", len(windows), len(axes))
	}
	var made C.guf_array
	return viewOf(&made, cArraySlidingWindow(a.handle(), C.int32_t(len(axes)), int64s(axes),
		int64s(windows), &made))
}

// some passes axes to C. For an empty list it returns NULL, which the functions of the library
// interpret as "all axes" or as "reverse the axes".
func some(axes []int) *C.int64_t {
	if len(axes) == 0 {
		return nil
	}
	return int64s(axes)
}

// Fill sets every element to a scalar, which is cast to the array's dtype. If s is not nil, Fill
// queues the operation on the stream s. Errors: ErrReadOnly, ErrOverflow for a weak integer that
// does not fit, ErrArg if value is not a scalar.
func (a *AnyArray) Fill(value Operand, s *Stream) error {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(value)
	b := acquireBlock()
	defer b.release()
	operands := b.operands(1)
	b.set(&operands[0], value)
	return cArrayFill(a.handle(), &operands[0], s.handle())
}

// Copy returns a new array of the same dtype on the same device, with the given layout.
func (a *AnyArray) Copy(order Order, s *Stream) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var made C.guf_array
	err := retry(func() error {
		return cArrayCopy(a.handle(), C.int32_t(order), s.handle(), &made)
	})
	return madeArray(made, err)
}

// Assign copies source into the array, with broadcasting and casting. If the memory of source
// overlaps the array, the result is as if source had been copied first. Errors: ErrCasting,
// ErrShape, ErrReadOnly, ErrOverlap.
func (a *AnyArray) Assign(source AnyOperand, casting Casting, s *Stream) error {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(source)
	return retry(func() error {
		return cArrayAssign(a.handle(), anyOf(source).handle(), C.int32_t(casting), s.handle())
	})
}

// AsType returns a new array of a different dtype. Errors: ErrCasting if casting forbids the
// conversion, ErrDType.
func (a *AnyArray) AsType(dtype DType, casting Casting, order Order, s *Stream) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var made C.guf_array
	err := retry(func() error {
		return cArrayAstype(a.handle(), C.guf_dtype(dtype), C.int32_t(casting), C.int32_t(order),
			s.handle(), &made)
	})
	return madeArray(made, err)
}

// ToDevice copies into a new array on the device. With a stream, or between two GPUs, the copy is
// queued. Without a stream, the copy is complete on return if the source or the destination is host
// memory.
func (a *AnyArray) ToDevice(d Device, s *Stream) (*AnyArray, error) {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var made C.guf_array
	err := retry(func() error { return cArrayToDevice(a.handle(), d.c, s.handle(), &made) })
	return madeArray(made, err)
}

// CopyTo copies into an existing array of equal dtype and shape on any device. The copy is queued
// under the same conditions as in ToDevice. Errors: ErrDType, ErrShape, ErrReadOnly.
func (a *AnyArray) CopyTo(destination AnyOperand, s *Stream) error {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(destination)
	to := anyOf(destination)
	existing := to.handle()
	if existing == nil {
		return &Error{ErrHandle, "no array to copy into", -1, -1, 0}
	}
	return cArrayToDevice(a.handle(), to.Device().c, s.handle(), &existing)
}

// CopyBytes copies the elements into host memory in COrder or FOrder and waits for the copy. The
// copy runs after earlier work of the stream or, without a stream, after all pending work on the
// array. CopyBytes fails with ErrBufferTooSmall if the elements do not fit into destination.
func (a *AnyArray) CopyBytes(destination []byte, order Order, s *Stream) error {
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(s)
	var pinner runtime.Pinner
	defer pinner.Unpin()
	start := unsafe.SliceData(destination)
	if len(destination) > 0 {
		pinner.Pin(start)
	}
	err := cArrayCopyToHost(a.handle(), unsafe.Pointer(start), C.uint64_t(len(destination)),
		C.int32_t(order), s.handle())
	if err == nil && s != nil {
		err = cStreamSynchronize(s.handle(), math.MaxUint64)
	}
	return err
}
