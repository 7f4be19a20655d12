// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"context"
	"runtime"
	"unsafe"
)

// Shapes and axes are lent to C as they are.
var _ [unsafe.Sizeof(int64(0))]byte = [unsafe.Sizeof(int(0))]byte{}

// Order is a layout of elements.
type Order int32

// NumPy's orders.
const (
	KeepOrder Order = cGUF_ORDER_KEEP // as the source lies ('K')
	COrder    Order = cGUF_ORDER_C    // last axis fastest
	FOrder    Order = cGUF_ORDER_F    // first axis fastest
	AnyOrder  Order = cGUF_ORDER_ANY  // F when the source is F- and not C-contiguous ('A')
)

// HostMemory is a kind of host memory that a device copies or reads directly.
type HostMemory int32

// Kinds of host memory. On the cpu all are ordinary memory.
const (
	Pinned  HostMemory = cGUF_HOST_PINNED  // page-locked: copies need no staging
	Mapped  HostMemory = cGUF_HOST_MAPPED  // page-locked, used by the device in place
	Managed HostMemory = cGUF_HOST_MANAGED // moves to whoever touches it
)

// AnyArray is an array whose type of elements is known when the program runs: a counted view of
// host or device memory. [Array] is the same with the type known to the compiler.
//
// Arrays may be used from any goroutine, as long as none writes one that another uses. Close gives
// the memory back early; without it the collector does.
type AnyArray struct {
	ref  handle[C.guf_array]
	held int64 // bytes, where this object made the memory
}

// ArrayInfo describes an array. Strides are bytes and may be negative.
type ArrayInfo struct {
	DType          DType
	Shape, Strides []int
	Size, NBytes   int
	Device         Device  // the zero Device: memory that was wrapped without one
	Address        uintptr // of element (0, ..., 0)
	ReadOnly       bool
	CContiguous    bool
	FContiguous    bool
	Aligned        bool
	SwappedBytes   bool // elements in the other byte order
	OwnsData       bool // not a view
}

// AllocOptions says how an array is laid out and what its memory is.
type AllocOptions struct {
	Strides []int      // nil: by Order. In bytes; may be negative or leave gaps
	Order   Order      // COrder or FOrder
	Host    HostMemory // not 0: host memory for use with the device, an array of the host
}

// AllocAny allocates an array of a type known at run time; its values are unspecified. Errors:
// ErrShape, ErrDType, ErrNoMemory, ErrDeviceMemory. When memory is out, arrays that the program
// dropped without closing them are collected and it is tried once more.
func AllocAny(d Device, dtype DType, options *AllocOptions, shape ...int) (*AnyArray, error) {
	var chosen AllocOptions
	if options != nil {
		chosen = *options
	}
	if chosen.Order == KeepOrder {
		chosen.Order = COrder
	}
	if chosen.Strides != nil && len(chosen.Strides) != len(shape) {
		return nil, &Error{ErrShape, "as many strides as extents are wanted", -1, -1, 0}
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
	err := twice(func() error {
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

// ownArray makes a the owner of a reference, and of so many bytes.
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

// madeArray is an array that the library made.
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

// Any is the array itself, whatever the type of its elements.
func (a *AnyArray) Any() *AnyArray { return a }

// Clone is another reference to the same memory, to be closed on its own.
func (a *AnyArray) Clone() (*AnyArray, error) {
	return another(a, cArrayRetain, ownAnyArray)
}

// Close gives the reference back; the memory goes with the last array or view of it and with the
// work that uses it. A second time it does nothing. Used afterwards, the array gives ErrHandle.
func (a *AnyArray) Close() error { return a.reference().close() }

// Synchronize waits for all that the library was given to do with the array's memory, on streams
// and without one: then the program may go on with a slice of [Array.Data]. It returns ctx's error
// when that ends first. A failure of the work stays with its stream or device.
func (a *AnyArray) Synchronize(ctx context.Context) error {
	defer runtime.KeepAlive(a)
	return wait(ctx, func(limit C.uint64_t) error { return cArraySynchronize(a.handle(), limit) })
}

// Info describes the array.
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

// Shape is the array's extents; nil for a closed array.
func (a *AnyArray) Shape() []int {
	info, _ := a.Info()
	return info.Shape
}

// Strides is the array's strides in bytes; nil for a closed array.
func (a *AnyArray) Strides() []int {
	info, _ := a.Info()
	return info.Strides
}

// DType is the type of the elements; 0 for a closed array.
func (a *AnyArray) DType() DType {
	info, _ := a.Info()
	return info.DType
}

// Size is the number of elements.
func (a *AnyArray) Size() int {
	info, _ := a.Info()
	return info.Size
}

// Device is where the array lies: the cpu for host memory.
func (a *AnyArray) Device() Device {
	info, _ := a.Info()
	return info.Device
}

// String is the array as NumPy prints it, then shape, dtype and device. It waits for the work with
// the array.
func (a *AnyArray) String() string {
	if a == nil {
		return "no array"
	}
	defer runtime.KeepAlive(a)
	text, err := told(func(text *C.char, length *C.uint64_t) error {
		return cArrayPrint(a.handle(), text, length)
	})
	if err != nil {
		return err.Error()
	}
	return text
}

// told calls a function that writes a text, with as much memory as it asks for.
func told(write func(text *C.char, length *C.uint64_t) error) (string, error) {
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

// int64s lends numbers to C; nil for none.
func int64s(numbers []int) *C.int64_t {
	return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(numbers)))
}
