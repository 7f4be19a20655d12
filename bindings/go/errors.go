// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Status is the kind of a failure. It is an error, so that [errors.Is] can compare with it:
//
//	if errors.Is(err, gufunc.ErrShape) { ... }
type Status int32

// Failures of the library. The comments in the C header gufunc/status.h describe them in detail.
const (
	ErrArg            Status = cGUF_E_ARG              // an argument that the function does not accept
	ErrHandle         Status = cGUF_E_HANDLE           // a closed object
	ErrStruct         Status = cGUF_E_STRUCT           // the library is older than this package
	ErrBufferTooSmall Status = cGUF_E_BUFFER_TOO_SMALL // a slice is shorter than the data for it
	ErrExists         Status = cGUF_E_EXISTS           // the name or loop is already registered
	ErrNotFound       Status = cGUF_E_NOT_FOUND        // no such ufunc, device, module or kernel
	ErrPlanMismatch   Status = cGUF_E_PLAN_MISMATCH    // operands do not match the plan
	ErrDeviceMismatch Status = cGUF_E_DEVICE_MISMATCH  // operands are on devices that cannot be mixed
	ErrDType          Status = cGUF_E_DTYPE            // an unknown or unsuitable dtype
	ErrNoLoop         Status = cGUF_E_NO_LOOP          // no loop of the ufunc accepts these dtypes
	ErrCasting        Status = cGUF_E_CASTING          // the casting level forbids a required cast
	ErrShape          Status = cGUF_E_SHAPE            // shapes are incompatible
	ErrSignature      Status = cGUF_E_SIGNATURE        // a malformed signature or rule
	ErrReadOnly       Status = cGUF_E_READ_ONLY        // an output cannot be written
	ErrOverlap        Status = cGUF_E_OVERLAP          // outputs overlap
	ErrValue          Status = cGUF_E_VALUE            // a value outside its domain
	ErrIndex          Status = cGUF_E_INDEX            // an index outside the array
	ErrAxis           Status = cGUF_E_AXIS             // an axis outside the array, or repeated
	ErrOverflow       Status = cGUF_E_OVERFLOW         // a weak integer does not fit
	ErrFloatingPoint  Status = cGUF_E_FLOATING_POINT   // a floating-point flag
	ErrUnsupported    Status = cGUF_E_UNSUPPORTED      // valid, but not supported by this device
	ErrNoImage        Status = cGUF_E_NO_IMAGE         // no compiled kernel for this device
	ErrCapture        Status = cGUF_E_CAPTURE          // not possible while a stream is being captured
	ErrNoBackend      Status = cGUF_E_NO_BACKEND       // no plugin with that name
	ErrNoDriver       Status = cGUF_E_NO_DRIVER        // the vendor's driver is missing
	ErrDriverOld      Status = cGUF_E_DRIVER_OLD       // the vendor's driver is too old
	ErrNoDevice       Status = cGUF_E_NO_DEVICE        // the driver does not report that device
	ErrABI            Status = cGUF_E_ABI              // a plugin or module has a different ABI
	ErrUntrusted      Status = cGUF_E_UNTRUSTED        // a file whose owner is not trusted
	ErrNoMemory       Status = cGUF_E_NO_MEMORY        // a host allocation failed
	ErrDeviceMemory   Status = cGUF_E_DEVICE_MEMORY    // a device allocation failed
	ErrIO             Status = cGUF_E_IO               // a file cannot be opened or read
	ErrBadFile        Status = cGUF_E_BAD_FILE         // a damaged file
	ErrLaunch         Status = cGUF_E_LAUNCH           // the backend could not launch the work
	ErrLoop           Status = cGUF_E_LOOP             // a loop of the program failed
	ErrCancelled      Status = cGUF_E_CANCELLED        // cancelled by the caller
	ErrForked         Status = cGUF_E_FORKED           // an object of the parent process
	ErrShutdown       Status = cGUF_E_SHUTDOWN         // the library was shut down
	ErrDeviceLost     Status = cGUF_E_DEVICE_LOST      // the device failed permanently
	ErrInternal       Status = cGUF_E_INTERNAL         // a broken invariant: please report a bug
)

const (
	statusOK       Status = cGUF_OK
	statusNotReady Status = cGUF_NOT_READY
	statusTimeout  Status = cGUF_TIMEOUT
)

// String returns the name of the status in C, such as "GUF_E_SHAPE".
func (s Status) String() string {
	if name := cStatusName(C.guf_status(s)); name != nil {
		return C.GoString(name)
	}
	return fmt.Sprintf("status %d", int32(s)) // without a loaded library there are no names
}

// Error returns the meaning of the status in one line.
func (s Status) Error() string { return C.GoString(cStatusText(C.guf_status(s))) }

// Class returns the status divided by 100. The class of a status never changes (2: dtypes, 3:
// values, and so on).
func (s Status) Class() int { return int(s) / 100 }

// Error is a failure of the library. Every function of this package that fails in the library
// returns an *Error. [errors.As] extracts it, and [errors.Is] compares it with a [Status].
type Error struct {
	Status     Status
	Message    string // one sentence; NumPy's text where NumPy has one
	Argument   int    // index of the operand or parameter at fault, or -1
	Axis       int    // the axis at fault, or -1
	NativeCode int    // error code of the operating system or vendor, or 0
}

// Error returns the status name and the message.
func (e *Error) Error() string {
	if e.Message == "" {
		return "gufunc: " + e.Status.String() + ": " + e.Status.Error()
	}
	return "gufunc: " + e.Status.String() + ": " + e.Message
}

// Is reports whether target is the [Status] of the failure.
func (e *Error) Is(target error) bool {
	status, ok := target.(Status)
	return ok && status == e.Status
}

// failure converts an error record of the library into a Go error and frees the record. failure
// returns nil for success.
func failure(record *C.guf_error) error {
	if record == nil {
		return nil
	}
	made := &Error{
		Status:     Status(record.status),
		Message:    C.GoString(&record.message[0]),
		Argument:   int(record.argument),
		Axis:       int(record.axis),
		NativeCode: int(record.native_code),
	}
	C.free(unsafe.Pointer(record))
	if made.Status < 100 {
		return made.Status // statuses below 100 are results of queries; only this package uses them
	}
	return made
}
