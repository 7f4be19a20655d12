// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Status is the kind of a failure. As an error it is what [errors.Is] compares with:
//
//	if errors.Is(err, gufunc.ErrShape) { ... }
type Status int32

// What a call of the library may fail with. The comments of the C header gufunc/status.h say when.
const (
	ErrArg            Status = cGUF_E_ARG              // a value that the function does not take
	ErrHandle         Status = cGUF_E_HANDLE           // an object that is closed
	ErrStruct         Status = cGUF_E_STRUCT           // the library is older than this package
	ErrBufferTooSmall Status = cGUF_E_BUFFER_TOO_SMALL // a slice is shorter than what is copied to it
	ErrExists         Status = cGUF_E_EXISTS           // the name or loop is registered already
	ErrNotFound       Status = cGUF_E_NOT_FOUND        // no such ufunc, device, module or kernel
	ErrPlanMismatch   Status = cGUF_E_PLAN_MISMATCH    // operands overlap otherwise than the plan's
	ErrDeviceMismatch Status = cGUF_E_DEVICE_MISMATCH  // operands lie on devices that do not mix
	ErrDType          Status = cGUF_E_DTYPE            // an unknown dtype, or one that does not fit
	ErrNoLoop         Status = cGUF_E_NO_LOOP          // no loop of the ufunc takes these types
	ErrCasting        Status = cGUF_E_CASTING          // the casting rule forbids a needed cast
	ErrShape          Status = cGUF_E_SHAPE            // shapes do not fit together
	ErrSignature      Status = cGUF_E_SIGNATURE        // a malformed signature or rule
	ErrReadOnly       Status = cGUF_E_READ_ONLY        // an output cannot be written
	ErrOverlap        Status = cGUF_E_OVERLAP          // an output overlaps itself
	ErrValue          Status = cGUF_E_VALUE            // a value outside its domain
	ErrIndex          Status = cGUF_E_INDEX            // an index outside the array
	ErrAxis           Status = cGUF_E_AXIS             // an axis outside the array, or repeated
	ErrOverflow       Status = cGUF_E_OVERFLOW         // a weak integer that does not fit
	ErrFloatingPoint  Status = cGUF_E_FLOATING_POINT   // a floating-point event
	ErrUnsupported    Status = cGUF_E_UNSUPPORTED      // valid, but not done by this device
	ErrNoImage        Status = cGUF_E_NO_IMAGE         // no compiled kernel for this device
	ErrCapture        Status = cGUF_E_CAPTURE          // not possible while a stream is captured
	ErrNoBackend      Status = cGUF_E_NO_BACKEND       // no plugin of that name
	ErrNoDriver       Status = cGUF_E_NO_DRIVER        // the vendor's driver is missing
	ErrDriverOld      Status = cGUF_E_DRIVER_OLD       // the vendor's driver is too old
	ErrNoDevice       Status = cGUF_E_NO_DEVICE        // the driver reports no such device
	ErrABI            Status = cGUF_E_ABI              // a plugin or module of another ABI
	ErrUntrusted      Status = cGUF_E_UNTRUSTED        // a file with an owner that is not accepted
	ErrNoMemory       Status = cGUF_E_NO_MEMORY        // a host allocation failed
	ErrDeviceMemory   Status = cGUF_E_DEVICE_MEMORY    // a device allocation failed
	ErrIO             Status = cGUF_E_IO               // a file cannot be opened or read
	ErrBadFile        Status = cGUF_E_BAD_FILE         // a damaged file
	ErrLaunch         Status = cGUF_E_LAUNCH           // the backend failed a launch
	ErrLoop           Status = cGUF_E_LOOP             // a loop of the program failed
	ErrCancelled      Status = cGUF_E_CANCELLED        // cancelled by the caller
	ErrForked         Status = cGUF_E_FORKED           // an object of the parent process
	ErrShutdown       Status = cGUF_E_SHUTDOWN         // the library was shut down
	ErrDeviceLost     Status = cGUF_E_DEVICE_LOST      // the device failed for good
	ErrInternal       Status = cGUF_E_INTERNAL         // a broken invariant: please report it
)

const (
	statusOK       Status = cGUF_OK
	statusNotReady Status = cGUF_NOT_READY
	statusTimeout  Status = cGUF_TIMEOUT
)

// String is the status' name in C, such as "GUF_E_SHAPE".
func (s Status) String() string {
	if name := cStatusName(C.guf_status(s)); name != nil {
		return C.GoString(name)
	}
	return fmt.Sprintf("status %d", int32(s)) // there is no library to ask
}

// Error is what the status means, in one line.
func (s Status) Error() string { return C.GoString(cStatusText(C.guf_status(s))) }

// Class is the status divided by 100: a code keeps its class for ever (2: types, 3: values ...).
func (s Status) Class() int { return int(s) / 100 }

// Error is a failure of the library. Every function of this package that fails in the library
// returns one; [errors.As] finds it and [errors.Is] compares it with a [Status].
type Error struct {
	Status     Status
	Message    string // one sentence; NumPy's text where NumPy has one
	Argument   int    // the operand or parameter at fault, from 0; or -1
	Axis       int    // the axis at fault; or -1
	NativeCode int    // the operating system's or vendor's code, or 0
}

// Error is the message, behind the status' name.
func (e *Error) Error() string {
	if e.Message == "" {
		return "gufunc: " + e.Status.String() + ": " + e.Status.Error()
	}
	return "gufunc: " + e.Status.String() + ": " + e.Message
}

// Is reports whether target is the failure's [Status].
func (e *Error) Is(target error) bool {
	status, ok := target.(Status)
	return ok && status == e.Status
}

// failure makes a Go error of what a call brought, and frees that; nil for a success.
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
		return made.Status // an answer, not a failure: nobody but this package sees it
	}
	return made
}
