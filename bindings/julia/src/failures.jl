# SPDX-License-Identifier: Apache-2.0
# How failures of the library become exceptions.

"""
    GufuncError

A call of libgufunc that failed.

- `status`: the code, one of `Gufunc.GUF_E_…`; its class is `status ÷ 100`.
- `message`: one sentence.
- `argument`: the operand or parameter at fault, from 0, inputs first, as messages count; or -1.
- `axis`: the dimension at fault of that operand or array, as `dims=` counts, from 1; of a core
  dimension its place in the signature; or -1.
- `native_code`: the operating system's or vendor's code, or 0.
- `cause`: what a Julia function that the library called threw, or `nothing`.
"""
struct GufuncError <: Exception
    status::Int32
    message::String
    argument::Int
    axis::Int
    native_code::Int
    cause::Any
end

GufuncError(status::Integer, message::AbstractString, argument::Integer=-1) =
    GufuncError(status, message, argument, -1, 0, nothing)

"Name of a status: `\"GUF_E_SHAPE\"`."
status_name(status::Integer) = unsafe_string(LibGufunc.guf_status_name(Int32(status)))

"What a status means, in one line of English."
status_text(status::Integer) = unsafe_string(LibGufunc.guf_status_text(Int32(status)))

function Base.showerror(io::IO, e::GufuncError)
    print(io, "GufuncError(", status_name(e.status), "): ", e.message)
    if e.cause !== nothing
        print(io, "\ncaused by: ")
        showerror(io, e.cause)
    end
end

for constant in names(LibGufunc, all=true)
    startswith(string(constant), "GUF_") && @eval const $constant = LibGufunc.$constant
end

# No block of GC.@preserve in these sources is left by `return`: the compiler would take what is
# preserved, where that is on the stack, for dead before its last use.

# What a callback threw, until the call that it was called from fails: both are in one task.
caught() = pop!(task_local_storage(), :gufunc_caught, nothing)
catch_for_caller(exception) = task_local_storage(:gufunc_caught, exception)

# What the library is told of what a function that it called threw: the record's text, and the
# status. Nothing may be thrown from here: C's frames lie between.
function tell(record::Ptr{guf_error}, exception, status)
    catch_for_caller(exception)
    own = exception isa GufuncError
    write_message(record, own ? exception.message : shown(exception))
    own && exception.status >= 100 || return status
    unsafe_store!(Ptr{Int32}(record), exception.argument % Int32, 3)
    unsafe_store!(Ptr{Int32}(record), exception.axis % Int32, 4)
    unsafe_store!(Ptr{Int32}(record), exception.native_code % Int32, 5)
    return exception.status
end

shown(exception) =
    try
        sprint(showerror, exception)
    catch
        string(nameof(typeof(exception)), ", which cannot be shown")
    end

function write_message(record, message)
    at = Ptr{UInt8}(record + fieldoffset(guf_error, MESSAGE_FIELD))
    room = sizeof(guf_error) - Int(fieldoffset(guf_error, MESSAGE_FIELD))
    # Whole characters, and something: no text would be the library's own.
    told = isempty(message) ? "an exception without a text" : message
    length = min(ncodeunits(told), thisind(told, min(room, ncodeunits(told) + 1)) - 1)
    for i in 1:length
        unsafe_store!(at, codeunit(told, i), i)
    end
    unsafe_store!(at, 0x00, length + 1)
end
const MESSAGE_FIELD = findfirst(isequal(:message), fieldnames(guf_error))

# `place` tells what the failure's axis is of: a number of dimensions, a structure of arguments, or
# nothing.
@noinline function fail(status::Int32, record::Ptr{guf_error}, @nospecialize(place=nothing))
    kept = unsafe_load(record)
    letters = UInt8[letter % UInt8 for letter in kept.message]
    length = something(findfirst(iszero, letters), 1) - 1
    message = kept.status == status ? String(letters[1:length]) : status_text(status)
    cause = caught()
    # What a Julia function threw counts as it is.
    own = cause isa GufuncError && cause.axis == kept.axis
    axis = own ? cause.axis : dimension_at_fault(kept, message, place)
    status == GUF_E_AXIS && (message = in_dimensions(message, kept.axis, axis))
    throw(GufuncError(status, message, kept.argument, axis, kept.native_code, cause))
end

# library_axis the other way round.
dimension_of(axis, n) = axis < 0 ? -axis : n - axis

const OUT_OF_BOUNDS = r"axis (-?\d+) is out of bounds for array of dimension (\d+)"
dimension_in(found) = dimension_of(parse(BigInt, found.captures[1]), parse(Int, found.captures[2]))

# A text about an axis that is out of bounds or repeated, with the dimension that the caller gave.
# `dimension` is the record's `axis` as the caller counts, or -1.
function in_dimensions(message, axis, dimension)
    found = match(OUT_OF_BOUNDS, message)
    if found === nothing
        dimension == -1 && return message
        for (from, to) in ("axis $axis is named twice" => "dimension $dimension is named twice",
                          "has value $axis repeated" => "has value $dimension repeated")
            message = replace(message, from => to)
        end
        return message
    end
    d, n = dimension_in(found), found.captures[2]
    return replace(message, found.match =>
                   "dimension $d is out of bounds for an array of $n dimensions")
end

# A failure's axis as the caller counts, or -1. What is out of bounds is in the text only where it
# is too large for the record, or is an entry of axes=.
function dimension_at_fault(kept::guf_error, message, @nospecialize(place))
    found = kept.status == GUF_E_AXIS ? match(OUT_OF_BOUNDS, message) : nothing
    if found !== nothing
        d = dimension_in(found)
        return typemin(Int) <= d <= typemax(Int) ? Int(d) : -1
    end
    kept.axis == -1 && return -1
    # Core dimensions are counted as the signature does.
    from_first = place isa Union{Natural,Ptr{guf_at_args}}
    (from_first || occursin("core dimension", message)) && return kept.axis + 1
    n = rank_at_fault(place, kept.argument)
    return n === nothing ? -1 : Int(dimension_of(kept.axis, n))
end

# How many dimensions that has whose axis it is, or nothing.
rank_at_fault(place, argument) = nothing
rank_at_fault(n::Int, argument) = n
function rank_at_fault(args::Ptr{guf_call_args}, argument)
    given = unsafe_load(args)
    place = argument - given.ninputs
    return argument < 0 ? nothing :
           place < 0 ? rank_in(given.inputs + sizeof(guf_operand) * argument) :
           place < given.noutputs ? rank_in(given.outputs + sizeof(guf_operand) * place) :
           rank_in(given.where)
end
function rank_at_fault(args::Ptr{guf_reduce_args}, argument)
    given = unsafe_load(args)
    return argument < 2 ? rank_in(given.input) :
           argument == 3 ? rank_in(given.where) :
           given.output != C_NULL ? rank_in(given.output) :
           rank_in(given.outputs + sizeof(guf_operand) * max(0, argument - 4))
end
function rank_at_fault(args::Ptr{guf_accumulate_args}, argument)
    given = unsafe_load(args)
    return rank_in(argument == 2 ? given.output : given.input)
end

function rank_in(slot::Ptr{guf_operand})
    slot == C_NULL && return nothing
    x = unsafe_load(slot)
    x.kind == GUF_OPERAND_TENSOR && return unsafe_load(x.tensor).ndim
    x.kind == GUF_OPERAND_ARRAY && x.array != C_NULL || return nothing
    info = sized(guf_array_info)
    return LibGufunc.guf_array_get_info(x.array, info, C_NULL) == GUF_OK ? info[].ndim : nothing
end

# A record's fields that a failing call might leave as they are.
@inline function prepare(record::Ptr{guf_error})
    unsafe_store!(Ptr{UInt32}(record), sizeof(guf_error) % UInt32, 1)
    unsafe_store!(Ptr{Int32}(record), Int32(0), 2)
end

"""
    @check guf_function(arguments…) [place]

Calls a function of the C interface with an error record on the stack as its last argument. Gives
the status (0 or an answer below 100), throws `GufuncError` for errors. Objects whose handles are
arguments (`x.handle`, `stream_handle(s)`) live through the call, which may run functions of Julia
and with them the collector. `place` as of `fail`.
"""
macro check(call, place=nothing)
    return checked_call(call, false, place)
end

"The same, and once more behind a collection where memory ran out: the first did nothing then."
macro check_again(call, place=nothing)
    return checked_call(call, true, place)
end

function checked_call(call, again, place)
    call.head === :call || error("@check takes a call")
    record, kept, status = gensym("record"), gensym("kept"), gensym("status")
    owners = unique(reduce(vcat, map(owners_in, call.args[2:end]); init=Symbol[]))
    once = quote
        prepare($kept)
        $status = LibGufunc.$(call.args[1])($(call.args[2:end]...), $kept)
    end
    return esc(quote
        $record = Ref{guf_error}()
        GC.@preserve $record $(owners...) begin
            $kept = Ptr{guf_error}(pointer_from_objref($record))
            $once
            $(again ? :(ran_out($status) && (collect_all(); $once)) : nothing)
            $status < 100 || fail($status, $kept, $(place))
            $status
        end
    end)
end

# The variables whose handles an expression takes.
owners_in(x) = Symbol[]
function owners_in(e::Expr)
    e.head === :. && return variable(e.args[1])
    e.head === :call || return Symbol[]
    takes = e.args[1] in (:handle, :stream_handle, :device_handle, :found)
    inside = map(takes ? variable : owners_in, e.args[2:end])
    return reduce(vcat, inside; init=Symbol[])
end
variable(x) = Symbol[]
variable(x::Symbol) = [x]
variable(e::Expr) = e.head === :. ? variable(e.args[1]) : owners_in(e)

ran_out(status) = status == GUF_E_NO_MEMORY || status == GUF_E_DEVICE_MEMORY

# Gives back what nobody uses any more: the library frees it behind the finalizers.
@noinline function collect_all()
    GC.gc(true)
    LibGufunc.guf_poll(UInt32(0), C_NULL, C_NULL)
    return nothing
end

# `@check` of a function that is a value, for what has a handle.
function checked(of, owner, arguments...)
    record = Ref{guf_error}()
    GC.@preserve record owner begin
        kept = Ptr{guf_error}(pointer_from_objref(record))
        prepare(kept)
        status = of(handle(owner), arguments..., kept)
        status < 100 || fail(status, kept, first(arguments))
    end
    return status
end

# A text that the library writes into a buffer of the length that it asks for. What `write` has
# hold of lives through it; `place` as of `fail`.
function text_of(write::Function, @nospecialize(place=nothing))
    length, text = Ref(UInt64(512)), UInt8[]
    status = GUF_E_BUFFER_TOO_SMALL
    while status == GUF_E_BUFFER_TOO_SMALL
        resize!(text, length[])
        record = Ref{guf_error}()
        GC.@preserve record text write begin
            kept = Ptr{guf_error}(pointer_from_objref(record))
            prepare(kept)
            status = write(Ptr{Cchar}(pointer(text)), length, kept)
            status < 100 || status == GUF_E_BUFFER_TOO_SMALL ||
                fail(status, kept, place)
        end
    end
    return GC.@preserve text unsafe_string(pointer(text))
end

# A structure of zeros with struct_size set, and its fields.
function sized(::Type{T}) where {T}
    made = Ref{T}()
    GC.@preserve made begin
        address = Ptr{UInt8}(pointer_from_objref(made))
        ccall(:memset, Ptr{Cvoid}, (Ptr{Cvoid}, Cint, Csize_t), address, 0, sizeof(T))
        unsafe_store!(Ptr{UInt32}(address), sizeof(T) % UInt32)
    end
    return made
end

text(letters::NTuple{N,Cchar}) where {N} =
    String(UInt8[l % UInt8 for l in Iterators.takewhile(!iszero, letters)])
