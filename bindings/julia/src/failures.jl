# SPDX-License-Identifier: Apache-2.0
# How failures of the library become exceptions.

"""
    GufuncError

A call of libgufunc that failed.

- `status`: the code, one of `Gufunc.GUF_E_…`; its class is `status ÷ 100`.
- `message`: one sentence.
- `argument`: the operand or parameter at fault, from 0, inputs first, as messages count; or -1.
- `axis`: the axis at fault, from 0, as the library counts: it sees dimensions reversed; or -1.
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

@noinline function fail(status::Int32, record::Ptr{guf_error})
    kept = unsafe_load(record)
    letters = UInt8[letter % UInt8 for letter in kept.message]
    length = something(findfirst(iszero, letters), 1) - 1
    message = kept.status == status ? String(letters[1:length]) : status_text(status)
    throw(GufuncError(status, message, kept.argument, kept.axis, kept.native_code, caught()))
end

# A record's fields that a failing call might leave as they are.
@inline function prepare(record::Ptr{guf_error})
    unsafe_store!(Ptr{UInt32}(record), sizeof(guf_error) % UInt32, 1)
    unsafe_store!(Ptr{Int32}(record), Int32(0), 2)
end

"""
    @check guf_function(arguments…)

Calls a function of the C interface with an error record on the stack as its last argument. Gives
the status (0 or an answer below 100), throws `GufuncError` for errors.
"""
macro check(call)
    call.head === :call || error("@check takes a call")
    arguments = map(esc, call.args[2:end])
    name = GlobalRef(LibGufunc, call.args[1])
    return quote
        record = Ref{guf_error}()
        GC.@preserve record begin
            kept = Ptr{guf_error}(pointer_from_objref(record))
            prepare(kept)
            status = $name($(arguments...), kept)
            status < 100 || fail(status, kept)
            status
        end
    end
end

# A text that the library writes into a buffer of the length that it asks for.
function text_of(write::Function)
    length, text = Ref(UInt64(512)), UInt8[]
    status = GUF_E_BUFFER_TOO_SMALL
    while status == GUF_E_BUFFER_TOO_SMALL
        resize!(text, length[])
        record = Ref{guf_error}()
        GC.@preserve record text begin
            kept = Ptr{guf_error}(pointer_from_objref(record))
            prepare(kept)
            status = write(Ptr{Cchar}(pointer(text)), length, kept)
            status < 100 || status == GUF_E_BUFFER_TOO_SMALL || fail(status, kept)
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
