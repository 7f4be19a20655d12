# SPDX-License-Identifier: Apache-2.0
# Converts the options of a call to the library's structures.

struct Options
    flags::UInt32
    casting::Int32
    order::Int32
    dtype::UInt32
    signature::Vector{UInt32}
    axes::CoreAxes
    axis::Vector{Int64}
    sizes::Vector{guf_dim}
    names::Vector{String}
    device::guf_device
    host_policy::Int32
    threads::UInt32
    fp_flags::Ptr{UInt32}
    fp_report::UInt32
    fp_fail::UInt32
end

const NO_AXES = Int64[]
const NO_OPTIONS = Options(0, 0, 0, 0, UInt32[], NO_CORE_AXES, NO_AXES, guf_dim[], String[],
                           C_NULL, 0, 0, C_NULL, 0, 0)
const HOST_POLICIES = (default=GUF_HOST_DEFAULT, copy=GUF_HOST_COPY,
                       copy_and_warn=GUF_HOST_COPY_AND_WARN)

@inline with_axes(o::Options, axes::CoreAxes) =
    Options(o.flags, o.casting, o.order, o.dtype, o.signature, axes, o.axis, o.sizes, o.names,
            o.device, o.host_policy, o.threads, o.fp_flags, o.fp_report, o.fp_fail)

# The options of a call without keywords. Only the axes of core dimensions may differ from the
# defaults.
@inline function plain_options(f::UFunc, inputs::Tuple)
    f.needs_axes && length(inputs) == f.nin || return NO_OPTIONS
    return with_axes(NO_OPTIONS, axes_of(f, map(rank, inputs)))
end

function options(f::UFunc, inputs::Vector{Any}, outputs::Vector{Any}, r::Request)
    names = r.sizes === nothing ? String[] : String[string(name) for name in keys(r.sizes)]
    extents = [guf_dim(Ptr{Cchar}(pointer(name)), Int64(size))
               for (name, size) in zip(names, r.sizes === nothing ? () : values(r.sizes))]
    return Options(r.keepdims === true ? GUF_CALL_KEEPDIMS : 0,
                   chosen(CASTINGS, r.casting, "casting"), chosen(ORDERS, r.order, "order"),
                   dtype(r.dtype),
                   r.signature === nothing ? UInt32[] : UInt32[dtype(t) for t in r.signature],
                   chosen_axes(f, inputs, outputs, r), chosen_axis(inputs, r.dims), extents, names,
                   device_handle(r.device), chosen(HOST_POLICIES, r.host_policy, "host_policy"),
                   r.threads, fp_flags_pointer(r.fp_flags), r.fp_report, r.fp_fail)
end

function chosen_axes(f, inputs, outputs, r)
    if r.axes !== nothing
        operands = vcat(inputs, outputs)
        ranks = [expected_rank(f, inputs, operands, i, r.keepdims) for i in eachindex(r.axes)]
        return CoreAxes(Vector{Int64}[library_axes(own, n) for (own, n) in zip(r.axes, ranks)])
    end
    f.needs_axes && r.dims === nothing && length(inputs) == f.nin || return NO_CORE_AXES
    return axes_of(f, Tuple(map(rank, inputs)))
end

# The number of dimensions of operand i, or of the array that will be allocated for it.
function expected_rank(f, inputs, operands, i, keepdims)
    i <= length(operands) && operands[i] !== nothing && return rank(operands[i])
    i <= length(f.core) || return 0
    looped = [rank(inputs[j]) - length(f.core[j]) for j in 1:min(f.nin, length(inputs))]
    return max(0, reduce(max, looped; init=0)) + length(f.core[keepdims === true ? 1 : i])
end

chosen_axis(inputs, ::Nothing) = NO_AXES
chosen_axis(inputs, d) = [library_axis(d, isempty(inputs) ? 0 : rank(inputs[1]))]

fp_flags_pointer(::Nothing) = Ptr{UInt32}(C_NULL)
fp_flags_pointer(fp_flags::Ref{UInt32}) = Base.unsafe_convert(Ptr{UInt32}, fp_flags)

# NULL means that the caller passed no axes. An empty list of axes is an error, so its pointer is
# not NULL.
@inline entries_or_null(axes::CoreAxes) =
    axes === NO_CORE_AXES ? Ptr{guf_core_axes}(C_NULL) : pointer(axes.entries)
@inline pointer_or_null(v::Vector{T}) where {T} = isempty(v) ? Ptr{T}(C_NULL) : pointer(v)

@inline call_args(ninputs, noutputs, slots, mask, stream, o::Options) =
    guf_call_args(sizeof(guf_call_args), o.flags, ninputs, noutputs, slot_of(slots, 0),
                  slot_of(slots, ninputs), mask,
                  guf_call_options(stream, o.device, o.fp_flags, o.fp_report, o.fp_fail,
                                   o.threads, 0),
                  o.casting, o.order, o.dtype, length(o.signature), pointer_or_null(o.signature),
                  entries_or_null(o.axes), pointer_or_null(o.axis), pointer_or_null(o.sizes),
                  length(o.axes.entries), length(o.sizes), o.host_policy, 0)

# The options that calls and methods share. The caller keeps r and its flags alive.
shared_options(r) =
    guf_call_options(stream_handle(r.stream), device_handle(r.device),
                     fp_flags_pointer(r.fp_flags), r.fp_report, r.fp_fail, r.threads, 0)
