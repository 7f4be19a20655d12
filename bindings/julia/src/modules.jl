# SPDX-License-Identifier: Apache-2.0
# Modules, which are files of compiled ufuncs and kernels, written by gufcc, and their raw kernels.

"A loaded module. Its ufuncs can be found while the module or one of its ufuncs is alive."
mutable struct GufModule
    handle::guf_module
    context::Union{Nothing,Context}
end

"""
    load(path; context=nothing, data_only=false) -> GufModule

Loads a module and registers its ufuncs as `"module:name"`. `m.discriminant` is the module's ufunc
`discriminant`; `function_names(m)` and `kernel_names(m)` list its ufuncs and kernels. With
`data_only` no code of the file runs, and the module has no loops for the cpu.
"""
function load(path::AbstractString; context=nothing, data_only::Bool=false)
    out = Ref{guf_module}(C_NULL)
    @check guf_module_load(handle(context), String(path),
                           data_only ? GUF_MODULE_DATA_ONLY : UInt32(0), out)
    return finalizer(unsafe_free!, GufModule(out[], context))
end

function Base.getproperty(m::GufModule, name::Symbol)
    name in (:handle, :context) && return getfield(m, name)
    f = UFunc(string(module_info(m).name, ":", name); context=m.context)
    find!(f)
    return f
end
Base.propertynames(m::GufModule) =
    Symbol[Symbol(last(split(name, ':'))) for name in function_names(m)]

"`(name, path, nfunctions, nkernels, nimages, flags)` of a module."
function module_info(m::GufModule)
    info = sized(guf_module_info)
    @check guf_module_get_info(m.handle, info)
    i = info[]
    return (name=text(i.name), path=text(i.path), nfunctions=Int(i.nfunctions),
            nkernels=Int(i.nkernels), nimages=Int(i.nimages), flags=i.flags)
end

"The full names of a module's ufuncs."
function_names(m::GufModule) = [name_at(LibGufunc.guf_module_function_at, m, i)
                                for i in 0:module_info(m).nfunctions-1]

"The names of a module's raw kernels."
kernel_names(m::GufModule) = [name_at(LibGufunc.guf_module_kernel_at, m, i)
                              for i in 0:module_info(m).nkernels-1]

Base.show(io::IO, m::GufModule) = print(io, "GufModule(\"", module_info(m).path, "\")")

"Adds the loop of a module's function for these types to a ufunc with the same signature."
function add_module_loop!(f::UFunc, m::GufModule, function_name::AbstractString, types)
    codes = UInt32[dtype(T) for T in types]
    @check guf_ufunc_add_module_loop(found(f), m.handle, String(function_name),
                                     Int32(length(codes)), codes)
    return f
end

# Raw kernels: functions of modules that a program launches on a grid of blocks.

"""
    Kernel(m::GufModule, name)

A raw kernel of a module.

    launch!(k, arguments…; grid, block, shared=0, stream=current)
    k[grid, block](arguments…), k[grid, block, stream, shared](arguments…)

Each of these forms launches the kernel with `grid` blocks of `block` threads. Each of `grid` and
`block` is a number or a tuple of up to three numbers, x first. There is one argument per parameter:
a number of exactly the parameter's type, a weak number that fits, or an array with exactly the
element type. The indices `(i, j)` of a view count from 0 and correspond to `[i+1, j+1]` of the
array. A pointer parameter accepts a column-major array. Nothing is copied. The kernel runs on the
device of the stream. Without a stream, it runs on the device of its arrays, or on the cpu if it has
no arrays. A launch on the cpu without a stream is complete on return.
"""
mutable struct Kernel
    handle::guf_kernel
    views::Vector{Bool} # which parameters are views
    function Kernel(m::GufModule, name::AbstractString)
        out = Ref{guf_kernel}(C_NULL)
        @check guf_kernel_find(m.handle, String(name), out)
        made = finalizer(unsafe_free!, new(out[], Bool[]))
        made.views = [p.kind === :view for p in parameters(made)]
        return made
    end
end

"`(name, doc, nparameters, max_threads, shared_bytes, flags)` of a kernel."
function kernel_info(k::Kernel)
    info = sized(guf_kernel_info)
    @check guf_kernel_get_info(k.handle, info)
    i = info[]
    return (name=text(i.name), doc=text(i.doc), nparameters=Int(i.nparameters),
            max_threads=Int(i.max_threads), shared_bytes=Int(i.shared_bytes), flags=i.flags)
end

"`(max_threads, max_shared_bytes, registers, local_bytes, subgroup_size)` of a kernel on a device."
function kernel_info(k::Kernel, d)
    info = sized(guf_kernel_device_info)
    @check guf_kernel_get_device_info(k.handle, device_handle(d), info)
    i = info[]
    return (max_threads=Int(i.max_threads), max_shared_bytes=Int(i.max_shared_bytes),
            registers=Int(i.registers), local_bytes=Int(i.local_bytes),
            subgroup_size=Int(i.subgroup_size))
end

const PARAMETERS = (number=GUF_PARAMETER_NUMBER, pointer=GUF_PARAMETER_POINTER,
                    view=GUF_PARAMETER_VIEW)

"`(kind, type, ndims, read_only)` of each parameter of a kernel."
parameters(k::Kernel) = [parameter(k, i) for i in 0:kernel_info(k).nparameters-1]

function parameter(k, index)
    out = Ref{guf_module_parameter}()
    @check guf_kernel_get_parameter(k.handle, UInt32(index), out)
    p = out[]
    return (kind=keys(PARAMETERS)[p.kind], type=element_type(p.dtype), ndims=Int(p.ndim),
            read_only=p.flags & GUF_PARAMETER_READ_ONLY != 0)
end

three(sizes, name) = three((sizes,), name)
function three(sizes::Tuple, name)
    1 <= length(sizes) <= 3 || throw(GufuncError(GUF_E_ARG,
        "$name: expected one to three numbers, got $(repr(sizes))"))
    return UInt32[i <= length(sizes) ? whole(UInt32, sizes[i], name) : 1 for i in 1:3]
end

function launch!(k::Kernel, arguments...; grid, block, shared=0, stream=UNNAMED)
    given, views = operands_of(arguments), k.views
    operands = Any[get(views, i, false) ? natural(x) : x for (i, x) in enumerate(given)]
    blocks, threads = three(grid, :grid), three(block, :block)
    bytes, on = whole(UInt32, shared, :shared), named(stream)
    GC.@preserve given framed(operands) do slots
        @check guf_kernel_launch(k.handle, stream_handle(on), blocks, threads, bytes,
                                 Int32(length(operands)), Ptr{guf_operand}(slots))
    end
    borrows(given) && keep_or_wait!(on, stream, given)
    return nothing
end

Base.getindex(k::Kernel, grid, block, stream=nothing, shared=0) =
    (arguments...) -> launch!(k, arguments...; grid=grid, block=block, shared=shared,
                              stream=stream === nothing ? UNNAMED : stream)
