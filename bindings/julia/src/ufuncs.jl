# SPDX-License-Identifier: Apache-2.0
# Ufuncs: their core dimensions, how they are found and described, and the standard library.

# Core dimensions. In Julia they are the first dimensions of an array, in the order of the
# signature, and the loop dimensions follow. The library has the dimensions in reverse order.
# Passing the axes -1, -2, … for each operand selects the core dimensions without moving memory.

struct CoreDimension
    number::Int # index among the distinct core dimensions, in order of first use in the signature
    optional::Bool
end

# The core dimensions of each operand. The result is empty for an elementwise ufunc.
function core_dimensions(info::guf_ufunc_info)
    info.ncore == 0 && isempty(text(info.signature)) && return Vector{CoreDimension}[]
    counts = collect(info.core_ndim[1:info.nin+info.nout])
    return map(cumsum(counts), counts) do last, count
        return CoreDimension[core_dimension(info, info.core_dims[k]) for k in last-count+1:last]
    end
end

core_dimension(info, number) =
    CoreDimension(number, info.core_flags[number+1] & GUF_CORE_DIM_OPTIONAL != 0)

# The axes of the core dimensions of each operand, with the structures of the C interface.
struct CoreAxes
    entries::Vector{guf_core_axes}
    axes::Vector{Vector{Int64}} # the entries point to the elements of these vectors
end

CoreAxes(axes::Vector{Vector{Int64}}) =
    CoreAxes([guf_core_axes(pointer(own), length(own), 0) for own in axes], axes)

const NO_CORE_AXES = CoreAxes(Vector{Int64}[])

# The default axes for the operands of a ufunc. The axes for operands that have all core dimensions
# are precomputed.
@inline function axes_of(f, ranks::Dims)
    for i in eachindex(ranks)
        ranks[i] < length(f.core[i]) && return default_axes(f.core, ranks)
    end
    return f.axes
end

# The default axes of all operands for inputs whose numbers of dimensions are `ranks`. The result
# has no axes if an input has too few dimensions. The library then reports the error.
function default_axes(core::Vector{Vector{CoreDimension}}, ranks::Dims)
    counts = core_counts(core, ranks)
    all(counts[i] <= ranks[i] for i in eachindex(ranks)) || return NO_CORE_AXES
    return whole_axes(counts)
end

# The number of core dimensions of each operand. Optional dimensions may be missing.
function core_counts(core, ranks)
    absent = Int[]
    for (operand, rank) in zip(core, ranks)
        rank < length(operand) &&
            append!(absent, [d.number for d in operand if d.optional])
    end
    return [count(d -> !(d.number in absent), operand) for operand in core]
end

whole_axes(counts) = CoreAxes([Int64[-d for d in 1:n] for n in counts])

needs_axes(core) = any(operand -> length(operand) > 1, core)

# Finding and describing ufuncs.

"""
    UFunc(name; context=nothing)

A ufunc or generalized ufunc. It is looked up by its name (`"add"`, `"module:name"`) at its first
use.

    f(A, B)                          a new result
    f.(A, B), R .= f.(A, B)          broadcast, also as a part of a larger expression
    call!(f, R, A, B), f!(R, A, B)   into R, where f! = inplace(f)

Operands are `GufArray`s, Julia arrays and numbers. Dimensions are aligned as in Julia: missing
dimensions are added at the end. Numbers of type `Int`, `Float64` and `ComplexF64` are weak, like
numbers in Python: they adopt the type of the other operands. Numbers of other types, and numbers in
`Scalar(x)`, keep their type. If an operand is a `GufArray`, the results are `GufArray`s. Otherwise
they are Julia arrays, or numbers if all operands are numbers.

Keywords of every call:

- `out`: an array, or a tuple of arrays and `nothing`; an array is allocated for each `nothing`.
- `where`: a mask; outputs keep their values where it is false.
- `dtype`, `signature`: the types that the loop must have; `casting`: `:no`, `:equiv`, `:safe`,
  `:same_kind` (default) or `:unsafe`; `order` of allocated `GufArray`s: `:K`, `:F`, `:C`, `:A`.
- For generalized ufuncs: `dims` (the dimension that is the core dimension of all operands, if the
  signature has only one), `axes` (a tuple of dimensions for each operand), `keepdims`,
  `sizes=(n=4,)` (the sizes of core dimensions that only outputs have).
- `device`, `stream`, `threads`, `host_policy` (`:default`, `:copy`, `:copy_and_warn`).
- `fp_report`, `fp_fail`: the floating-point flags that the call reports, and those that make it
  fail, as `Gufunc.GUF_FP_…` combined by `|`; `fp_flags`: a `Ref{UInt32}` that receives the reported
  flags when the work is done.

A call without a stream that uses host memory or runs on the cpu is complete on return. Other calls
are queued, and `synchronize` waits for them. Failures throw `GufuncError`. After a failure, the
outputs are unchanged, unless the loop itself failed.
"""
mutable struct UFunc <: Function
    handle::guf_ufunc
    name::String
    context::Union{Nothing,Context}
    nin::Int
    nout::Int
    core::Vector{Vector{CoreDimension}}
    needs_axes::Bool
    axes::CoreAxes # the axes for operands that have all core dimensions
    UFunc(name::AbstractString; context=nothing) =
        new(C_NULL, String(name), context, 0, 0, Vector{CoreDimension}[], false, NO_CORE_AXES)
end

@inline function found(f::UFunc)
    f.handle == C_NULL && find!(f)
    return f.handle
end

@noinline function find!(f::UFunc)
    out = Ref{guf_ufunc}(C_NULL)
    @check guf_ufunc_find(handle(f.context), f.name, out)
    return lock(FINDING) do
        f.handle == C_NULL && return adopt!(f, out[])
        LibGufunc.guf_ufunc_release(out[], C_NULL) # another thread found the ufunc first
        return f
    end
end
const FINDING = ReentrantLock()

# Takes ownership of the caller's reference.
function adopt!(f::UFunc, reference::guf_ufunc)
    info = sized(guf_ufunc_info)
    @check guf_ufunc_get_info(reference, info)
    i = info[]
    f.nin, f.nout = i.nin, i.nout
    f.core = core_dimensions(i)
    f.needs_axes, f.axes = needs_axes(f.core), whole_axes(map(length, f.core))
    f.handle = reference
    return finalizer(unsafe_free!, f)
end

Base.show(io::IO, f::UFunc) = print(io, "UFunc(\"", f.name, "\")")
Base.show(io::IO, ::MIME"text/plain", f::UFunc) = show(io, f)
Base.print(io::IO, f::UFunc) = show(io, f) # overrides Base's method for functions

const ROLES = (:in, :out, :inout)
const IDENTITIES = (none=GUF_IDENTITY_NONE, reorderable=GUF_IDENTITY_REORDERABLE,
                    zero=GUF_IDENTITY_ZERO, one=GUF_IDENTITY_ONE,
                    minus_one=GUF_IDENTITY_MINUS_ONE, minus_inf=GUF_IDENTITY_MINUS_INF)

"""
    ufunc_info(f)

`(name, nin, nout, signature, rules, doc, identity, flags, roles, nloops, nresults, merge, finish)`
of a ufunc. The last three describe a reduction with a user-defined accumulator.
"""
function ufunc_info(f::UFunc)
    info = sized(guf_ufunc_info)
    @check guf_ufunc_get_info(found(f), info)
    i = info[]
    return (name=text(i.name), nin=Int(i.nin), nout=Int(i.nout), signature=text(i.signature),
            rules=text(i.rules), doc=text(i.doc), identity=keys(IDENTITIES)[i.identity+1],
            flags=i.flags, roles=map(r -> ROLES[r+1], i.roles[1:i.nin+i.nout]),
            nloops=Int(i.nloops), nresults=Int(i.nresults), merge=text(i.merge),
            finish=text(i.finish))
end

"The types of all loops in the order in which they are tried, one tuple per loop."
function loop_types(f::UFunc)
    info = ufunc_info(f)
    types = Vector{UInt32}(undef, info.nin + info.nout)
    return map(0:info.nloops-1) do index
        @check guf_ufunc_loop_types(found(f), UInt32(index), Int32(length(types)), types)
        return Tuple(loop_type.(types))
    end
end
# In the types of a loop, a datetime type without a unit accepts every unit.
loop_type(code) = code == GUF_DATETIME64 ? Datetime64 : code == GUF_TIMEDELTA64 ? Timedelta64 :
                  element_type(code)

"""
    ufunc_names(; context=nothing) -> Vector{String}

The full names of all ufuncs of a context, sorted.
"""
function ufunc_names(; context=nothing)
    count = Ref(UInt32(0))
    @check guf_ufunc_count(handle(context), count)
    return [name_at(LibGufunc.guf_ufunc_name_at, context, i) for i in 0:Int(count[])-1]
end

function name_at(of, owner, index)
    letters = Vector{UInt8}(undef, 256)
    return GC.@preserve letters begin
        checked(of, owner, UInt32(index), Ptr{Cchar}(pointer(letters)), UInt64(256))
        unsafe_string(pointer(letters))
    end
end

"""
    InPlace(f)

`inplace(f)` returns the function `f!(out, inputs…; keywords…)` of a ufunc.
"""
struct InPlace <: Function
    ufunc::UFunc
end
inplace(f::UFunc) = InPlace(f)
@doc (@doc InPlace) inplace

"""
The ufuncs of the standard library under NumPy's names. The variants with `!` write into an array:
`using Gufunc.Standard: add, add!`. Each ufunc is looked up in the default context at its first use.
"""
baremodule Standard

import ..Gufunc: STANDARD_NAMES, UFunc, inplace
import Base

for name in STANDARD_NAMES
    Base.@eval begin
        "The standard library's ufunc of that name, see `Gufunc.UFunc`."
        const $name = UFunc($(Base.string(name)))
        "The variant that writes into its first argument."
        const $(Base.Symbol(name, "!")) = inplace($name)
    end
end

end
