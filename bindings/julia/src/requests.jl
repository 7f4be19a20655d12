# SPDX-License-Identifier: Apache-2.0
# Requests, which contain the keywords of a call. Calls with keywords and calls that allocate use
# functions that are compiled once for all types of operands and keywords. Such a call therefore
# costs about a microsecond and needs no compilation for new types.

mutable struct Request
    out::Any
    where::Any
    casting::Any
    order::Any
    dtype::Any
    signature::Any
    axes::Any
    dims::Any
    keepdims::Any
    sizes::Any
    device::Any
    stream::Any
    host_policy::Any
    threads::Any
    fp_flags::Any
    fp_report::Any
    fp_fail::Any
    init::Any
    parameters::Any
    named::Bool # whether the caller passed the keyword `stream`
    Request() = new(nothing, nothing, :default, :K, nothing, nothing, nothing, nothing, nothing,
                    nothing, nothing, current_stream(), :default, 0, nothing, 0, 0, nothing, (),
                    false)
end

const OF_ALL = (:device, :stream, :threads, :fp_flags, :fp_report, :fp_fail)
const OF_CALLS = (OF_ALL..., :out, :where, :casting, :order, :dtype, :signature, :axes, :dims,
                  :keepdims, :sizes, :host_policy)
const OF_CHUNKED = Tuple(name for name in OF_CALLS if name !== :stream)
const OF_OUTER = (OF_ALL..., :out, :where, :casting, :order, :dtype, :signature, :host_policy)
const OF_REDUCE = (OF_ALL..., :out, :where, :order, :dtype, :dims, :keepdims, :init,
                   :parameters)
const OF_ALONG = (OF_ALL..., :out, :order, :dtype, :dims)

function request(allowed, @nospecialize(keywords))
    made = Request()
    for (name, value) in keywords
        name in allowed || throw(GufuncError(GUF_E_ARG,
            "unknown keyword $name; expected one of $(join(allowed, ", "))"))
        name === :stream && (made.named = true)
        setfield!(made, name, keyword_value(name, value))
    end
    return made
end

function keyword_value(name, @nospecialize(value))
    name in (:threads, :fp_report, :fp_fail) && return whole(UInt32, value, name)
    expected = name === :fp_flags && !(value isa Union{Nothing,Ref{UInt32}}) ? "a Ref{UInt32}" :
               name === :signature && value isa Union{Number,AbstractString} ? "types" : ""
    isempty(expected) && return value
    throw(GufuncError(GUF_E_ARG, "$name: expected $expected, got $(repr(value))"))
end

# Converts an integer to the C type T. Throws if it is out of range.
function whole(::Type{T}, @nospecialize(x), name) where {T<:Integer}
    x isa Integer && typemin(T) <= x <= typemax(T) && return T(x)
    expected = "an integer from $(typemin(T)) to $(typemax(T))"
    throw(GufuncError(GUF_E_ARG, "$name: expected $expected, got $(repr(x))"))
end

# Sets the output of a request to `out`, which callers pass before the inputs.
into(@nospecialize(out), r::Request) = (r.out = out; r)

# The keyword arguments as a vector of pairs. The loop is compiled once for all types of arguments,
# but a comprehension over a tuple would be compiled for each combination of types.
pairs_of(@nospecialize(keywords)) = named_pairs(values(keywords))
function named_pairs(@nospecialize(given::NamedTuple))
    names = fieldnames(typeof(given))
    return [Pair{Symbol,Any}(names[i], getfield(given, i)) for i in 1:nfields(given)]
end

function operands_of(@nospecialize(given::Tuple))
    return Any[operand(getfield(given, i)) for i in 1:nfields(given)]
end
outputs_of(@nospecialize(out)) = Any[output(out)]
function outputs_of(@nospecialize(out::Tuple))
    return Any[output(getfield(out, i)) for i in 1:nfields(out)]
end

# The outputs as a vector. If no outputs are given, it has `count` missing outputs.
outputs_of(::Nothing, count) = Any[nothing for _ in 1:count]
outputs_of(@nospecialize(out), count) = outputs_of(out)

# The mask operand. If the mask must be copied, the copy is stored in the request. The object that
# is kept alive for queued work is then the copy that the work uses.
function mask_of(r::Request)
    r.where === nothing && return Any[]
    r.where = operand(r.where)
    return Any[r.where]
end

# Calls `act` with the address of a frame on the heap, which contains operands of any types.
function framed(act, operands::Vector{Any})
    size = max(1, reduce(+, Int[words(typeof(x)) for x in operands]; init=0))
    frame = Vector{UInt64}(undef, size)
    result = GC.@preserve frame operands begin
        slots = pointer(frame)
        fill_frame(slots, operands)
        act(slots)
    end
    return result
end

function fill_frame(slots, operands)
    record = slots + 48 * length(operands)
    for (i, x) in enumerate(operands)
        record = put(slots + 48 * (i - 1), record, x)::Ptr{UInt64}
    end
end

# Like `framed`, for groups of operands. `act` also receives the address of each group, which is
# NULL for an empty group.
function framed_groups(act, groups::Vector{Any}...)
    operands = reduce(vcat, groups; init=Any[])
    framed(operands) do slots
        places, at = Ptr{guf_operand}[], 0
        for group in groups
            push!(places, isempty(group) ? NULL_OPERAND : slot_of(slots, at))
            at += length(group)
        end
        act(slots, places)
    end
end

const NULL_OPERAND = Ptr{guf_operand}(C_NULL)

# Called after a call on a stream. If the caller passed the stream, keeps the objects of the call
# alive until the stream is synchronized. Otherwise waits for the stream if the call uses memory of
# Julia.
function queued!(r::Request, groups::Vector{Any}...)
    r.stream === nothing && return nothing
    r.named && return keep!(r.stream, groups, r.fp_flags)
    any(borrows, groups) || r.fp_flags !== nothing ? synchronize(r.stream) : nothing
    return nothing
end

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
