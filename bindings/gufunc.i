/* SPDX-License-Identifier: Apache-2.0
 * The one interface file: what every binding is made of. `swig -python` reads it for Python,
 * `swig -xml` and tools/abigen for Rust, Julia and Go. Annotations say what C's types do not; other
 * targets of SWIG ignore them. tools/abigen holds them against the headers, and writes the roles
 * into the generated files (tools/abigen/roles.py). */
%module gufunc

%{
#include <gufunc/gufunc.h>
%}

/* abi:type  what the constants of an enum are given as; int32_t where nothing is said. */
%feature("abi:type", "guf_dtype") guf_dtype_code;
%feature("abi:type", "uint32_t") guf_fp_event;
%feature("abi:type", "uint32_t") guf_tensor_flag;
%feature("abi:type", "uint32_t") guf_array_flag;
%feature("abi:type", "uint32_t") guf_release_flag;
%feature("abi:type", "uint32_t") guf_dlpack_tensor_flag;
%feature("abi:type", "uint32_t") guf_dlpack_flag;
%feature("abi:type", "uint32_t") guf_call_flag;
%feature("abi:type", "uint32_t") guf_loop_flag;
%feature("abi:type", "uint32_t") guf_function_flag;
%feature("abi:type", "uint32_t") guf_module_flag;
%feature("abi:type", "uint32_t") guf_module_kernel_flag;
%feature("abi:type", "uint32_t") guf_parameter_flag;

/* abi:counted  handles that <handle>_retain and <handle>_release count: what gives one gives a
 * reference. A device is immortal. */
%feature("abi:counted", "1") guf_context;
%feature("abi:counted", "1") guf_array;
%feature("abi:counted", "1") guf_stream;
%feature("abi:counted", "1") guf_event;
%feature("abi:counted", "1") guf_graph;
%feature("abi:counted", "1") guf_ufunc;
%feature("abi:counted", "1") guf_module;
%feature("abi:counted", "1") guf_plan;
%feature("abi:counted", "1") guf_kernel;

/* abi:blocking  may wait for a device, a file or another thread's work: the functions whose comment
 * has no [no-block]. A language lets its other threads run meanwhile. GUF_BLOCKING_LONG  waits for
 * nothing, but runs for long: a graph's launches, callbacks of the program's. */
#ifdef SWIGPYTHON
%define GUF_BLOCKING(function)
%feature("nothread", "0") function;
%enddef
%define GUF_BLOCKING_LONG(function)
%feature("nothread", "0") function;
%enddef
#else
%define GUF_BLOCKING(function)
%feature("abi:blocking", "1") function;
%enddef
%define GUF_BLOCKING_LONG(function)
%feature("abi:blocking", "long") function;
%enddef
#endif
GUF_BLOCKING(guf_shutdown)
GUF_BLOCKING_LONG(guf_poll)
GUF_BLOCKING(guf_backend_count)
GUF_BLOCKING(guf_backend_get_info)
GUF_BLOCKING(guf_backend_load)
GUF_BLOCKING(guf_device_get)
GUF_BLOCKING(guf_device_adopt)
GUF_BLOCKING(guf_device_synchronize)
GUF_BLOCKING(guf_device_get_memory)
GUF_BLOCKING(guf_device_trim_memory)
GUF_BLOCKING(guf_device_enable_peer)
GUF_BLOCKING(guf_host_register)
GUF_BLOCKING(guf_host_unregister)
GUF_BLOCKING(guf_stream_create)
GUF_BLOCKING(guf_stream_synchronize)
GUF_BLOCKING(guf_stream_wait_event)
GUF_BLOCKING(guf_event_create)
GUF_BLOCKING(guf_event_wait)
GUF_BLOCKING(guf_stream_end_capture)
GUF_BLOCKING_LONG(guf_graph_launch)
GUF_BLOCKING(guf_array_alloc)
GUF_BLOCKING(guf_array_alloc_host)
GUF_BLOCKING(guf_array_fill)
GUF_BLOCKING(guf_array_copy)
GUF_BLOCKING(guf_array_assign)
GUF_BLOCKING(guf_array_astype)
GUF_BLOCKING(guf_array_to_device)
GUF_BLOCKING(guf_array_copy_to_host)
GUF_BLOCKING(guf_array_print)
GUF_BLOCKING(guf_array_synchronize)
GUF_BLOCKING(guf_module_load)
GUF_BLOCKING(guf_call)
GUF_BLOCKING(guf_call_chunked)
GUF_BLOCKING(guf_plan_create)
GUF_BLOCKING(guf_plan_launch)
GUF_BLOCKING(guf_reduce)
GUF_BLOCKING(guf_accumulate)
GUF_BLOCKING(guf_reduceat)
GUF_BLOCKING(guf_outer)
GUF_BLOCKING(guf_at)
GUF_BLOCKING(guf_kernel_get_device_info)
GUF_BLOCKING(guf_kernel_launch)

/* abi:text  (text, capacity or *inout_length): what the function writes a string into. */
%feature("abi:text", "text,inout_length") guf_array_print;
%feature("abi:text", "text,inout_length") guf_explain;
%feature("abi:text", "text,inout_length") guf_explain_reduce;
%feature("abi:text", "text,inout_length") guf_explain_accumulate;
%feature("abi:text", "text,inout_length") guf_explain_reduceat;
%feature("abi:text", "text,inout_length") guf_explain_outer;
%feature("abi:text", "text,inout_length") guf_explain_at;
%feature("abi:text", "text,inout_length") guf_plan_explain;
%feature("abi:text", "text,capacity") guf_log_read;
%feature("abi:text", "name,capacity") guf_ufunc_name_at;
%feature("abi:text", "name,capacity") guf_module_function_at;
%feature("abi:text", "name,capacity") guf_module_kernel_at;

/* abi:array  pointer[count]: parameters that are counted arrays, which a function reads, or writes
 * where they are called out_. The count is a number or a parameter. */
%feature("abi:array", "shape[ndim] strides[ndim]") guf_array_alloc;
%feature("abi:array", "shape[ndim] strides[ndim]") guf_array_alloc_host;
%feature("abi:array", "starts[naxes] stops[naxes] steps[naxes]") guf_array_slice;
%feature("abi:array", "shape[ndim]") guf_array_reshape;
%feature("abi:array", "axes[naxes]") guf_array_transpose;
%feature("abi:array", "shape[ndim]") guf_array_broadcast_to;
%feature("abi:array", "axes[naxes]") guf_array_squeeze;
%feature("abi:array", "axes[naxes]") guf_array_expand_dims;
%feature("abi:array", "axes[naxes] windows[naxes]") guf_array_sliding_window;
%feature("abi:array", "out_types[ntypes]") guf_ufunc_loop_types;
%feature("abi:array", "types[ntypes]") guf_ufunc_add_module_loop;
%feature("abi:array", "addresses[naddresses]") guf_plan_launch;
%feature("abi:array", "grid[3] block[3] args[nargs]") guf_kernel_launch;

/* abi:raw_only  no binding needs to provide it; the text is the reason. */
%feature("abi:raw_only", "accepts a module that is linked into a C or C++ program") guf_module_register;
%feature("abi:raw_only", "devices are never freed, so counting references has no effect") guf_device_retain;
%feature("abi:raw_only", "devices are never freed, so counting references has no effect") guf_device_release;
%feature("abi:raw_only", "in most languages a copy is a reference to the same object") guf_array_retain;
%feature("abi:raw_only", "in most languages a copy is a reference to the same object") guf_context_retain;
%feature("abi:raw_only", "in most languages a copy is a reference to the same object") guf_event_retain;
%feature("abi:raw_only", "in most languages a copy is a reference to the same object") guf_graph_retain;
%feature("abi:raw_only", "in most languages a copy is a reference to the same object") guf_kernel_retain;
%feature("abi:raw_only", "in most languages a copy is a reference to the same object") guf_module_retain;
%feature("abi:raw_only", "in most languages a copy is a reference to the same object") guf_plan_retain;
%feature("abi:raw_only", "in most languages a copy is a reference to the same object") guf_stream_retain;
%feature("abi:raw_only", "in most languages a copy is a reference to the same object") guf_ufunc_retain;
%feature("abi:raw_only", "the version string is sufficient") guf_version;
%feature("abi:raw_only", "the name of the status and the error message are sufficient") guf_status_text;

%include <stdint.i>

/* Macros over other headers' macros, which SWIG does not know. */
%constant int64_t GUF_NAT = INT64_MIN;

%include "gufunc/status.h"
%include "gufunc/context.h"
%include "gufunc/device.h"
%include "gufunc/stream.h"
%include "gufunc/dtype.h"
%include "gufunc/limits.h"
%include "gufunc/array.h"
%include "gufunc/device_memory.h"
%include "gufunc/dlpack.h"
%include "gufunc/module_table.h"
%include "gufunc/ufunc.h"
%include "gufunc/call.h"
%include "gufunc/methods.h"
%include "gufunc/chunks.h"
%include "gufunc/graph.h"
%include "gufunc/kernels.h"
