# SPDX-License-Identifier: Apache-2.0
# Conversion of the library's errors to exceptions.

"""
    GufuncError

The exception for a failed call of libgufunc.

- `status`: the code, one of `Gufunc.GUF_E_…`; its class is `status ÷ 100`.
- `message`: one sentence.
- `argument`: the operand or parameter at fault, counted from 0 with the inputs first, as in
  messages; or -1.
- `axis`: the dimension at fault of that operand or array, counted from 1 as in `dims=`; for a core
  dimension its position in the signature; or -1.
- `native_code`: the error code of the operating system or the vendor's driver, or 0.
- `cause`: the exception of a Julia function that the library called, or `nothing`.
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

"The name of a status, such as `\"GUF_E_SHAPE\"`."
status_name(status::Integer) = unsafe_string(LibGufunc.guf_status_name(Int32(status)))

"A one-line description of a status."
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

# These sources never leave a GC.@preserve block by `return`, because the compiler would then treat
# a preserved object on the stack as dead before its last use.

# Returns and removes the exception that a callback threw. It is stored in the task-local storage,
# because the callback and the call that ran it, and that fails now, are in the same task.
caught() = pop!(task_local_storage(), :gufunc_caught, nothing)
catch_for_caller(exception) = task_local_storage(:gufunc_caught, exception)

# Reports the exception of a Julia callback to the library: writes the message into the error record
# and returns the status. This function must not throw, because C frames are on the stack.
function report(record::Ptr{guf_error}, exception, status)
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
    capacity = sizeof(guf_error) - Int(fieldoffset(guf_error, MESSAGE_FIELD))
    # The message has only whole characters and is never empty, because the library would replace an
    # empty message by its own.
    text = isempty(message) ? "an exception without a text" : message
    length = min(ncodeunits(text), thisind(text, min(capacity, ncodeunits(text) + 1)) - 1)
    for i in 1:length
        unsafe_store!(at, codeunit(text, i), i)
    end
    unsafe_store!(at, 0x00, length + 1)
end
const MESSAGE_FIELD = findfirst(isequal(:message), fieldnames(guf_error))

# Throws the exception for an error record. `place` describes the array to which the record's axis
# belongs. It is the array's number of dimensions, a pointer to the argument structure of the call,
# or nothing.
@noinline function fail(status::Int32, record::Ptr{guf_error}, @nospecialize(place=nothing))
    kept = unsafe_load(record)
    letters = UInt8[letter % UInt8 for letter in kept.message]
    length = something(findfirst(iszero, letters), 1) - 1
    message = kept.status == status ? String(letters[1:length]) : status_text(status)
    cause = caught()
    # The axis of a GufuncError from a Julia function is already a Julia dimension.
    own = cause isa GufuncError && cause.axis == kept.axis
    axis = own ? cause.axis : dimension_at_fault(kept, message, place)
    status == GUF_E_AXIS && (message = in_dimensions(message, kept.axis, axis))
    throw(GufuncError(status, message, kept.argument, axis, kept.native_code, cause))
end

# The dimension for an axis of the library, as the inverse of library_axis.
dimension_of(axis, n) = axis < 0 ? -axis : n - axis

const OUT_OF_BOUNDS = r"axis (-?\d+) is out of bounds for array of dimension (\d+)"
dimension_in(found) = dimension_of(parse(BigInt, found.captures[1]), parse(Int, found.captures[2]))

# Translates a message about an axis that is out of bounds or repeated: replaces the axis by the
# dimension as the caller counts it. `dimension` is the record's `axis` as the caller counts it, or
# -1.
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

# The axis of a failure as the caller counts it, or -1. An axis that is out of bounds is read from
# the message, because the record does not contain it if the axis is too large or is an entry of
# axes=.
function dimension_at_fault(kept::guf_error, message, @nospecialize(place))
    found = kept.status == GUF_E_AXIS ? match(OUT_OF_BOUNDS, message) : nothing
    if found !== nothing
        d = dimension_in(found)
        return typemin(Int) <= d <= typemax(Int) ? Int(d) : -1
    end
    kept.axis == -1 && return -1
    # Core dimensions are counted in the order of the signature.
    from_first = place isa Union{Natural,Ptr{guf_at_args}}
    (from_first || occursin("core dimension", message)) && return kept.axis + 1
    n = rank_at_fault(place, kept.argument)
    return n === nothing ? -1 : Int(dimension_of(kept.axis, n))
end

# The number of dimensions of the operand to which the axis belongs, or nothing.
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

# Sets the fields of an error record that a failing call may leave unchanged.
@inline function prepare(record::Ptr{guf_error})
    unsafe_store!(Ptr{UInt32}(record), sizeof(guf_error) % UInt32, 1)
    unsafe_store!(Ptr{Int32}(record), Int32(0), 2)
end

"""
    @check guf_function(arguments…) [place]

Calls a function of the C interface with an error record on the stack as its last argument. Returns
the status if it is below 100, and throws `GufuncError` for errors. Objects whose handles are
arguments (`x.handle`, `stream_handle(s)`) are preserved during the call, because the call may run
Julia functions and therefore the garbage collector. `place` has the same meaning as in `fail`.
"""
macro check(call, place=nothing)
    return checked_call(call, false, place)
end

"Like `@check`, but collects garbage and repeats a call that ran out of memory before any work."
macro check_again(call, place=nothing)
    return checked_call(call, true, place)
end

function checked_call(call, again, place)
    call.head === :call || error("@check expects a call")
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

# The variables whose handles an expression reads.
owners_in(x) = Symbol[]
function owners_in(e::Expr)
    e.head === :. && return variable(e.args[1])
    e.head === :call || return Symbol[]
    reads_handle = e.args[1] in (:handle, :stream_handle, :device_handle, :found)
    inside = map(reads_handle ? variable : owners_in, e.args[2:end])
    return reduce(vcat, inside; init=Symbol[])
end
variable(x) = Symbol[]
variable(x::Symbol) = [x]
variable(e::Expr) = e.head === :. ? variable(e.args[1]) : owners_in(e)

ran_out(status) = status == GUF_E_NO_MEMORY || status == GUF_E_DEVICE_MEMORY

# Frees unused objects. The collection runs their finalizers, and the poll lets the library free the
# objects.
@noinline function collect_all()
    GC.gc(true)
    LibGufunc.guf_poll(UInt32(0), C_NULL, C_NULL)
    return nothing
end

# Like `@check`, for a function that is passed as a value and whose first argument is the handle of
# `owner`.
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

# A text that the library writes into a buffer. If the buffer is too small, the library reports the
# required length. Objects that `write` captures are preserved. `place` has the same meaning as in
# `fail`.
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

# A structure that is zero except for struct_size.
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
