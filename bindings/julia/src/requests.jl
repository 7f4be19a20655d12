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
    named::Bool # whether the caller passed the keyword `stream`
    Request() = new(nothing, nothing, :default, :K, nothing, nothing, nothing, nothing, nothing,
                    nothing, nothing, current_stream(), :default, 0, nothing, 0, 0, nothing, false)
end

const OF_ALL = (:device, :stream, :threads, :fp_flags, :fp_report, :fp_fail)
const OF_CALLS = (OF_ALL..., :out, :where, :casting, :order, :dtype, :signature, :axes, :dims,
                  :keepdims, :sizes, :host_policy)
const OF_CHUNKED = Tuple(name for name in OF_CALLS if name !== :stream)
const OF_OUTER = (OF_ALL..., :out, :where, :casting, :order, :dtype, :signature, :host_policy)
const OF_REDUCE = (OF_ALL..., :out, :where, :order, :dtype, :dims, :keepdims, :init)
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
