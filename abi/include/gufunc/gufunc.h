/* SPDX-License-Identifier: Apache-2.0
 * libgufunc: NumPy's universal functions on every device, through one C ABI. Programs include only
 * this header. The headers below are listed in the order in which to read them.
 *
 * Quick start: fill in one guf_tensor per array (dtype, shape, address) and call
 * guf_apply(NULL, "add", 3, tensors, &error). For more, find a ufunc once with guf_ufunc_find and
 * call it with guf_call: guf_call_args has NumPy's keywords (where, axes, casting, dtype), the
 * device and the stream.
 *
 * Conventions:
 *   - Functions return a guf_status: GUF_OK, a status below 100 that is not a failure, or an error
 *     of 100 or more. An error is described in the caller's guf_error, which may be NULL.
 *   - Zero a struct, set its struct_size, then set the fields that are needed. Programs and
 *     libraries of different versions understand each other's structs.
 *   - Functions that create or find an object give the caller one reference, which the object's
 *     release function releases. Tensors and other structs are borrowed for the call.
 *   - Strides are in bytes, dimensions in NumPy's order, addresses are uint64_t.
 *   - Marks such as [mt] and [no-block] below a function's description state how threads may use
 *     the function and whether the function waits. gufunc/context.h lists the marks.
 *
 * Tracing: if the environment variable GUFUNC_TRACE contains a path, the library writes a trace of
 * all calls, launches and copies to this file (docs/tracing.md). */
#ifndef GUFUNC_GUFUNC_H
#define GUFUNC_GUFUNC_H

/* Foundations: status codes and errors, the library as a whole, limits, element types. */
#include "status.h"

#include "context.h"

#include "limits.h"

#include "dtype.h"

/* Arrays, tensors and operands: the arguments of calls. */
#include "array.h"

/* Ufuncs, and calls and plans of them. */
#include "ufunc.h"

#include "call.h"

/* The methods reduce, accumulate, reduceat, outer and at. */
#include "methods.h"

/* What a call or a method would do. */
#include "resolve.h"

/* Devices and their memory, arrays of other libraries, calls that exceed a device's memory. */
#include "device.h"

#include "device_memory.h"

#include "dlpack.h"

#include "chunks.h"

/* Streams, events and graphs. */
#include "stream.h"

#include "graph.h"

/* Modules, their raw kernels, and the table in which a module describes its kernels. */
#include "modules.h"

#include "kernels.h"

#include "module_table.h"

#endif /* GUFUNC_GUFUNC_H */
