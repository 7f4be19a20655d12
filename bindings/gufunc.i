/* SPDX-License-Identifier: Apache-2.0
 * The interface file from which all bindings are generated: by `swig -python` for Python, and by
 * `swig -xml` and tools/abigen for Rust, Julia and Go. The annotations state facts that C types do
 * not express; other targets of SWIG ignore them. tools/abigen checks the annotations against the
 * headers, and writes the roles of functions into the generated files (tools/abigen/roles.py). */
%module gufunc

%{
#include <gufunc/gufunc.h>
%}

/* abi:type  the C type of the constants of an enum; int32_t if there is no annotation. */
%feature("abi:type", "guf_dtype") guf_dtype_code;
%feature("abi:type", "uint32_t") guf_fp_flag;
%feature("abi:type", "uint32_t") guf_tensor_flag;
%feature("abi:type", "uint32_t") guf_array_flag;
%feature("abi:type", "uint32_t") guf_release_flag;
%feature("abi:type", "uint32_t") guf_dlpack_tensor_flag;
%feature("abi:type", "uint32_t") guf_dlpack_flag;
%feature("abi:type", "uint32_t") guf_call_flag;
%feature("abi:type", "uint32_t") guf_loop_flag;
%feature("abi:type", "uint32_t") guf_core_dim_flag;
%feature("abi:type", "uint32_t") guf_function_flag;
%feature("abi:type", "uint32_t") guf_module_flag;
%feature("abi:type", "uint32_t") guf_module_kernel_flag;
%feature("abi:type", "uint32_t") guf_parameter_flag;

/* abi:counted  handles with a reference count, which <handle>_retain and <handle>_release change. A
 * function that returns a handle returns a reference. Devices are not counted: they are immortal. */
%feature("abi:counted", "1") guf_context;
%feature("abi:counted", "1") guf_array;
%feature("abi:counted", "1") guf_stream;
%feature("abi:counted", "1") guf_event;
%feature("abi:counted", "1") guf_graph;
%feature("abi:counted", "1") guf_ufunc;
%feature("abi:counted", "1") guf_module;
%feature("abi:counted", "1") guf_plan;
%feature("abi:counted", "1") guf_kernel;

/* abi:blocking  functions that may wait for a device, a file or another thread. Their comments lack
 * the mark [no-block]. Bindings let the other threads of the language run during the call.
 * GUF_BLOCKING_LONG  functions that do not wait but may run for a long time, because they launch a
 * graph or run callbacks of the program. */
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
GUF_BLOCKING(guf_apply)
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

/* abi:text  (text, capacity or *inout_length): the buffer to which the function writes a string. */
%feature("abi:text", "text,inout_length") guf_array_print;
%feature("abi:text", "text,inout_length") guf_explain;
%feature("abi:text", "text,inout_length") guf_plan_explain;
%feature("abi:text", "text,capacity") guf_log_read;
%feature("abi:text", "name,capacity") guf_ufunc_name_at;
%feature("abi:text", "name,capacity") guf_module_function_at;
%feature("abi:text", "name,capacity") guf_module_kernel_at;

/* abi:array  pointer[count]: parameters that are arrays with a count. A function writes the arrays
 * whose names begin with out_ and reads the other arrays. The count is a number or a parameter. */
%feature("abi:array", "tensors[ntensors]") guf_apply;
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

/* abi:raw_only  functions that bindings need not provide, with the reason. */
%feature("abi:raw_only", "accepts a module that is linked into a C or C++ program") guf_module_register;
%feature("abi:raw_only", "calling a ufunc is as short in the bindings") guf_apply;
%feature("abi:raw_only", "devices are immortal: counting them does nothing") guf_device_retain;
%feature("abi:raw_only", "devices are immortal: counting them does nothing") guf_device_release;
%feature("abi:raw_only", "a copied object is one object in most languages") guf_array_retain;
%feature("abi:raw_only", "a copied object is one object in most languages") guf_context_retain;
%feature("abi:raw_only", "a copied object is one object in most languages") guf_event_retain;
%feature("abi:raw_only", "a copied object is one object in most languages") guf_graph_retain;
%feature("abi:raw_only", "a copied object is one object in most languages") guf_kernel_retain;
%feature("abi:raw_only", "a copied object is one object in most languages") guf_module_retain;
%feature("abi:raw_only", "a copied object is one object in most languages") guf_plan_retain;
%feature("abi:raw_only", "a copied object is one object in most languages") guf_stream_retain;
%feature("abi:raw_only", "a copied object is one object in most languages") guf_ufunc_retain;
%feature("abi:raw_only", "the version's text is enough") guf_version;
%feature("abi:raw_only", "the name of the status and the message of the error contain the same information") guf_status_text;

%include <stdint.i>

/* Macros that expand to macros of other headers, which SWIG does not read. */
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
%include "gufunc/modules.h"
%include "gufunc/call.h"
%include "gufunc/methods.h"
%include "gufunc/resolve.h"
%include "gufunc/chunks.h"
%include "gufunc/graph.h"
%include "gufunc/kernels.h"
