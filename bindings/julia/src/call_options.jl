# SPDX-License-Identifier: Apache-2.0
# Keywords of calls, as the library takes them.

struct Options
    flags::UInt32
    casting::Int32
    order::Int32
    dtype::UInt32
    signature::Vector{UInt32}
    axes::Vector{Int64}
    axis::Vector{Int64}
    sizes::Vector{guf_dim}
    names::Vector{String}
    device::guf_device
    host_policy::Int32
    threads::UInt32
    fp_events::Ptr{UInt32}
    fp_report::UInt32
    fp_fail::UInt32
end

const NO_AXES = Int64[]
const NO_OPTIONS = Options(0, 0, 0, 0, UInt32[], NO_AXES, NO_AXES, guf_dim[], String[], C_NULL, 0,
                           0, C_NULL, 0, 0)
const HOST_POLICIES = (default=GUF_HOST_DEFAULT, copy=GUF_HOST_COPY,
                       copy_and_warn=GUF_HOST_COPY_AND_WARN)

@inline with_axes(o::Options, axes::Vector{Int64}) =
    Options(o.flags, o.casting, o.order, o.dtype, o.signature, axes, o.axis, o.sizes, o.names,
            o.device, o.host_policy, o.threads, o.fp_events, o.fp_report, o.fp_fail)

# Without keywords; the axes of core dimensions are all that may be needed.
@inline function plain_options(f::UFunc, operands::Tuple)
    f.needs_axes && length(operands) == f.nin || return NO_OPTIONS
    return with_axes(NO_OPTIONS, default_axes(f.core, map(rank, operands)))
end

# `operands`: all of the call. Those of `ranks` are counted from 1, inputs first.
function options(f::UFunc, operands::Tuple; casting=:default, order=:K, dtype=nothing,
                 signature=nothing, axes=nothing, dims=nothing, keepdims=false, sizes=nothing,
                 device=nothing, host_policy=:default, threads=0, fp_events=nothing,
                 fp_report=0, fp_fail=0)
    found(f)
    names = sizes === nothing ? String[] : String[string(name) for name in keys(sizes)]
    extents = sizes === nothing ? guf_dim[] :
              [guf_dim(Ptr{Cchar}(pointer(name)), Int64(size))
               for (name, size) in zip(names, values(sizes))]
    return Options(keepdims ? GUF_CALL_KEEPDIMS : 0, chosen(CASTINGS, casting, "casting"),
                   chosen(ORDERS, order, "order"), kind(dtype),
                   signature === nothing ? UInt32[] : UInt32[kind(t) for t in signature],
                   chosen_axes(f, operands, axes, dims), chosen_axis(operands, dims), extents,
                   names, device_handle(device), chosen(HOST_POLICIES, host_policy, "host_policy"),
                   threads, events_pointer(fp_events), fp_report, fp_fail)
end

# `dtype` by another name, which the keyword hides.
kind(x) = dtype(x)

function chosen_axes(f, operands, axes, dims)
    axes === nothing || return Int64[library_axis(d, rank(operands[i]))
                                     for (i, of_one) in enumerate(axes) for d in of_one]
    (f.needs_axes && dims === nothing) || return NO_AXES
    length(operands) < f.nin && return NO_AXES
    return default_axes(f.core, map(rank, operands[1:f.nin]))
end

chosen_axis(operands, ::Nothing) = NO_AXES
chosen_axis(operands, d::Integer) = [library_axis(d, rank(operands[1]))]

events_pointer(::Nothing) = Ptr{UInt32}(C_NULL)
events_pointer(events::Ref{UInt32}) = Base.unsafe_convert(Ptr{UInt32}, events)

@inline pointer_or_null(v::Vector{T}) where {T} = isempty(v) ? Ptr{T}(C_NULL) : pointer(v)

@inline call_args(ninputs, noutputs, slots, mask, stream, o::Options) =
    guf_call_args(sizeof(guf_call_args), o.flags, ninputs, noutputs, slot_of(slots, 0),
                  slot_of(slots, ninputs), mask, stream, o.device, o.casting, o.order, o.dtype,
                  length(o.signature), pointer_or_null(o.signature), pointer_or_null(o.axes),
                  pointer_or_null(o.axis), pointer_or_null(o.sizes), length(o.axes),
                  length(o.sizes), o.host_policy, o.threads, o.fp_events, o.fp_report, o.fp_fail)
