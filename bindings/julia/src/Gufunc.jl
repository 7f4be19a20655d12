# SPDX-License-Identifier: Apache-2.0
"""
NumPy's universal functions for Julia arrays in host memory and on devices, from libgufunc.

    using Gufunc
    using Gufunc.Standard: add, add!
    add.([1.0, 2.0], [3.0, 4.0])        # elementwise; dimensions are aligned as in Julia
    add!(R, A, B)                       # writes into R

The submodule `LibGufunc` contains all C functions and structures.
"""
module Gufunc

include("ffi.jl")
using .LibGufunc

export Datetime64, Device, Event, GufArray, GufModule, GufuncError, Graph, Kernel, Plan,
       Scalar, Stream, Tensor, Timedelta64, UFunc, at!, call!, call_chunked!, capture,
       device, inplace, launch!, load, outer, outer!, poll, reduce!, reduceat, reduceat!,
       synchronize, to_device, unsafe_free!, weak, with_stream

include("failures.jl")
include("loading.jl")
include("dtypes.jl")
include("devices.jl")
include("pending.jl")
include("streams.jl")
include("tensors.jl")
include("gufarrays.jl")
include("dlpack.jl")
include("standard_names.jl")
include("ufuncs.jl")
include("operands.jl")
include("requests.jl")
include("calls.jl")
include("plans.jl")
include("methods.jl")
include("host_loops.jl")
include("modules.jl")
include("handles.jl")
include("broadcasting.jl")

__init__() = open_library()

end
