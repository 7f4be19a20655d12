// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// ForeignStream is a stream without a handle that another library works on.
type ForeignStream uint32

// The vendor's streams without a handle. A stream with one is a [Stream], by Device.AdoptStream.
const (
	LegacyStream    ForeignStream = cGUF_DLPACK_LEGACY_STREAM     // the default stream
	PerThreadStream ForeignStream = cGUF_DLPACK_PER_THREAD_STREAM // that of the calling thread
)

// DLPackOptions says of which kind a tensor is, and who waits for whom. One of Stream and Foreign
// may be set, and neither for host memory, which has no order.
type DLPackOptions struct {
	// Unversioned: a DLManagedTensor, of DLPack 0.x, and not a DLManagedTensorVersioned.
	Unversioned bool
	// Stream is, for FromDLPack, the one that fills the memory: what the device is given without a
	// stream later comes behind it. For ToDLPack it is the one that will read the memory: it waits
	// for what the device was given without a stream so far. Nobody waits on the host.
	Stream  *Stream
	Foreign ForeignStream
	Copied  bool // ToDLPack: says that nobody else sees the memory
}

func (o *DLPackOptions) orDefault() *DLPackOptions {
	if o == nil {
		return new(DLPackOptions)
	}
	return o
}

// FromDLPack makes an array of another library's tensor, without a copy. managed points to a
// DLManagedTensorVersioned or, by the options, to a DLManagedTensor, in memory that is not Go's.
//
// The tensor is taken in every case, also when this fails: its deleter runs once, when the last
// array or view is gone and what the device was given without a stream is done, on any thread that
// calls the library. Host memory of all kinds becomes an array of the cpu.
//
// Errors: ErrABI for another major version, ErrDType, ErrShape, ErrUnsupported for the kind of
// device, ErrDeviceMismatch, ErrArg, and what the device's driver fails with. See
// guf_array_from_dlpack in gufunc/dlpack.h.
func FromDLPack(managed unsafe.Pointer, options *DLPackOptions) (*AnyArray, error) {
	o := options.orDefault()
	defer runtime.KeepAlive(o)
	var made C.guf_array
	var err error
	if o.Unversioned {
		err = cArrayFromDlpackUnversioned((*C.guf_dlpack_unversioned)(managed), o.Stream.handle(),
			C.uint32_t(o.Foreign), &made)
	} else {
		err = cArrayFromDlpack((*C.guf_dlpack)(managed), o.Stream.handle(), C.uint32_t(o.Foreign),
			&made)
	}
	if err != nil {
		return nil, err
	}
	a := new(AnyArray)
	ownArray(a, made, 0)
	return a, nil
}

// ToDLPack makes a tensor over the array's memory, for another library: a pointer to a
// DLManagedTensorVersioned or, by the options, to a DLManagedTensor. It is the caller's until it is
// given away, or deleted by [DeleteDLPack] with the same options; the memory lives that long, and
// until what the stream has queued by then is done. The array may be closed.
//
// Errors: ErrDType for times, records and elements in the other byte order, ErrUnsupported for
// strides that are no multiples of the item's size, ErrReadOnly for a read-only array without a
// version, which could not tell, ErrDeviceMismatch and ErrArg for the stream.
func (a *AnyArray) ToDLPack(options *DLPackOptions) (unsafe.Pointer, error) {
	o := options.orDefault()
	defer runtime.KeepAlive(a)
	defer runtime.KeepAlive(o)
	flags := C.uint32_t(o.Foreign)
	if o.Copied {
		flags |= cGUF_DLPACK_COPIED
	}
	if o.Unversioned {
		var made *C.guf_dlpack_unversioned
		err := cArrayToDlpackUnversioned(a.handle(), o.Stream.handle(), flags, &made)
		return unsafe.Pointer(made), err
	}
	var made *C.guf_dlpack
	err := cArrayToDlpack(a.handle(), o.Stream.handle(), flags, &made)
	return unsafe.Pointer(made), err
}

// DeleteDLPack calls the deleter of a tensor that nobody has taken. nil does nothing.
func DeleteDLPack(managed unsafe.Pointer, options *DLPackOptions) {
	C.gufgo_delete_dlpack(managed, truth(options.orDefault().Unversioned))
}
