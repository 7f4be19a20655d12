// SPDX-License-Identifier: Apache-2.0
// Names and descriptions of the status codes.
#include <gufunc/status.h>

namespace {

struct Row {
  guf_status status;
  const char *name;
  const char *text;
};

constexpr Row kRows[] = {
    {GUF_OK, "GUF_OK", "success"},
    {GUF_NOT_READY, "GUF_NOT_READY", "query: the work is still running"},
    {GUF_TIMEOUT, "GUF_TIMEOUT", "timeout: the work is still running"},
    {GUF_E_ARG, "GUF_E_ARG", "an invalid pointer, count, enum value or flag"},
    {GUF_E_HANDLE, "GUF_E_HANDLE",
     "a handle that was freed, is of another kind, or is not of this library"},
    {GUF_E_STRUCT, "GUF_E_STRUCT",
     "struct_size is 0 or too small, or a member that this library lacks is set"},
    {GUF_E_BUFFER_TOO_SMALL, "GUF_E_BUFFER_TOO_SMALL",
     "the caller's buffer is too small; the required size is returned"},
    {GUF_E_EXISTS, "GUF_E_EXISTS", "the name or loop is registered already"},
    {GUF_E_NOT_FOUND, "GUF_E_NOT_FOUND", "no such name, device index, module or kernel"},
    {GUF_E_PLAN_MISMATCH, "GUF_E_PLAN_MISMATCH", "the addresses do not fit the plan (overlap)"},
    {GUF_E_DEVICE_MISMATCH, "GUF_E_DEVICE_MISMATCH",
     "operands are on devices that the call may not mix"},
    {GUF_E_DTYPE, "GUF_E_DTYPE", "an unknown or unsupported dtype"},
    {GUF_E_NO_LOOP, "GUF_E_NO_LOOP", "the ufunc has no loop for these types"},
    {GUF_E_CASTING, "GUF_E_CASTING", "the casting rule forbids a required cast"},
    {GUF_E_SHAPE, "GUF_E_SHAPE", "shapes do not fit together, or a size overflows"},
    {GUF_E_SIGNATURE, "GUF_E_SIGNATURE", "a malformed signature, type string or dimension rule"},
    {GUF_E_READ_ONLY, "GUF_E_READ_ONLY", "an output cannot be written"},
    {GUF_E_OVERLAP, "GUF_E_OVERLAP", "outputs overlap"},
    {GUF_E_VALUE, "GUF_E_VALUE", "a value outside its domain (negative integer power, rule)"},
    {GUF_E_INDEX, "GUF_E_INDEX", "IndexError: an index outside the array"},
    {GUF_E_AXIS, "GUF_E_AXIS", "AxisError: an axis outside the array, or repeated"},
    {GUF_E_OVERFLOW, "GUF_E_OVERFLOW", "OverflowError: a weak integer that does not fit"},
    {GUF_E_FLOATING_POINT, "GUF_E_FLOATING_POINT",
     "FloatingPointError: a floating-point flag of fp_fail was raised"},
    {GUF_E_UNSUPPORTED, "GUF_E_UNSUPPORTED", "valid, but not supported by this version or device"},
    {GUF_E_NO_IMAGE, "GUF_E_NO_IMAGE", "no compiled kernel for this loop on this device"},
    {GUF_E_CAPTURE, "GUF_E_CAPTURE", "the call would allocate or wait while a stream is captured"},
    {GUF_E_NO_BACKEND, "GUF_E_NO_BACKEND", "no plugin of that name was found"},
    {GUF_E_NO_DRIVER, "GUF_E_NO_DRIVER", "the vendor's driver library is missing or a stub"},
    {GUF_E_DRIVER_OLD, "GUF_E_DRIVER_OLD", "the vendor's driver is older than the plugin needs"},
    {GUF_E_NO_DEVICE, "GUF_E_NO_DEVICE", "the driver works and reports no usable device"},
    {GUF_E_ABI, "GUF_E_ABI", "plugin or module of another ABI, ISA or kernel layout"},
    {GUF_E_UNTRUSTED, "GUF_E_UNTRUSTED", "a file whose owner or mode the library does not accept"},
    {GUF_E_NO_MEMORY, "GUF_E_NO_MEMORY", "MemoryError: a host allocation failed"},
    {GUF_E_DEVICE_MEMORY, "GUF_E_DEVICE_MEMORY", "MemoryError: a device allocation failed"},
    {GUF_E_IO, "GUF_E_IO", "OSError: a file cannot be opened or read"},
    {GUF_E_BAD_FILE, "GUF_E_BAD_FILE",
     "OSError: a file that is damaged, truncated or not what it claims"},
    {GUF_E_LAUNCH, "GUF_E_LAUNCH", "the backend refused or failed a launch"},
    {GUF_E_LOOP, "GUF_E_LOOP", "a user loop returned an error"},
    {GUF_E_CANCELLED, "GUF_E_CANCELLED", "cancelled by the caller"},
    {GUF_E_FORKED, "GUF_E_FORKED", "a stream or device of the parent, used in a child"},
    {GUF_E_SHUTDOWN, "GUF_E_SHUTDOWN", "the library was shut down"},
    {GUF_E_DEVICE_LOST, "GUF_E_DEVICE_LOST", "the device failed for good in this process"},
    {GUF_E_INTERNAL, "GUF_E_INTERNAL", "a broken invariant of the library: please report it"},
};

const Row *find(guf_status status) {
  for (const Row &row : kRows) {
    if (row.status == status) return &row;
  }
  return nullptr;
}

}  // namespace

extern "C" {

const char *guf_status_name(guf_status status) {
  const Row *const row = find(status);
  return row == nullptr ? "GUF_E_UNKNOWN" : row->name;
}

const char *guf_status_text(guf_status status) {
  const Row *const row = find(status);
  return row == nullptr ? "a status that is unknown to this version of the library" : row->text;
}

}  // extern "C"
