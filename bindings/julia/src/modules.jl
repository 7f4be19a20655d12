# SPDX-License-Identifier: Apache-2.0
# Modules: files of compiled ufuncs and kernels, written by gufcc.

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
