// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// ForeignStream is a default stream of the vendor on which another library works. Default streams
// have no handle.
type ForeignStream uint32

// The vendor's default streams. For a stream with a handle, use Device.AdoptStream and [Stream].
const (
	LegacyStream    ForeignStream = cGUF_DLPACK_LEGACY_STREAM     // of all threads
	PerThreadStream ForeignStream = cGUF_DLPACK_PER_THREAD_STREAM // of the calling thread
)

// DLPackOptions selects the structure of a tensor and the stream with which the exchange is
// synchronized. At most one of Stream and Foreign may be set. For host memory neither may be set.
type DLPackOptions struct {
	// Unversioned selects a DLManagedTensor (DLPack 0.x) instead of a DLManagedTensorVersioned.
	Unversioned bool
	// For FromDLPack, Stream is the stream that produces the values. Work that is queued later on the
	// device's default stream runs after the work on Stream. For ToDLPack, Stream is the stream that
	// will read the memory. It waits for the work that is already queued on the device's default
	// stream. Neither function blocks the host.
	Stream  *Stream
	Foreign ForeignStream
	Copied  bool // ToDLPack: marks the tensor as a copy for the exclusive use of the consumer
}

func (o *DLPackOptions) orDefault() *DLPackOptions {
	if o == nil {
		return new(DLPackOptions)
	}
	return o
}

// FromDLPack makes an array from another library's tensor, without a copy. managed points to a
// DLManagedTensorVersioned or, with Unversioned, to a DLManagedTensor. The structure must not be in
// Go memory.
//
// FromDLPack takes ownership of the tensor even when it fails. The deleter runs once, on any thread
// that calls the library, when the last array or view is gone and the work on the device's default
// stream is complete. Host memory of every kind becomes an array of the cpu.
//
// Errors: ErrABI for another major version, ErrDType, ErrShape, ErrUnsupported for an unknown kind
// of device, ErrDeviceMismatch, ErrArg, and the errors of the device's driver. See
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

// ToDLPack exports the array's memory as a tensor for another library, and returns a pointer to a
// DLManagedTensorVersioned or, with Unversioned, to a DLManagedTensor. The caller owns the tensor
// until another library takes it or [DeleteDLPack] deletes it with the same options. The memory
// lives until the tensor is deleted and the work that is queued on the stream at that time is
// complete. The array may be closed earlier.
//
// Errors: ErrDType for datetime types, structured dtypes and elements whose byte order is not the
// machine's; ErrUnsupported if a stride is not a multiple of the item size; ErrReadOnly for a
// read-only array with Unversioned, because that structure has no flag for read-only memory;
// ErrDeviceMismatch and ErrArg for the stream.
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

// DeleteDLPack calls the deleter of a tensor that no library has consumed. It does nothing for nil.
func DeleteDLPack(managed unsafe.Pointer, options *DLPackOptions) {
	C.gufgo_delete_dlpack(managed, truth(options.orDefault().Unversioned))
}
