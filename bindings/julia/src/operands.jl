# SPDX-License-Identifier: Apache-2.0
# The internal forms of an operand: a GufArray, a Tensor, an encoded number, or nothing, which means
# an output that the call allocates.

struct Encoded
    kind::Int32
    dtype::UInt32
    value::NTuple{2,UInt64}
end

"""
    Scalar(x)

A number with a dtype: `Scalar(2.0)` is a float64, whereas a plain `2.0` adopts the type of the
other operands.
"""
struct Scalar{T}
    value::T
end

"""
    weak(x)

A weak scalar, which adopts the type of the other operands, like numbers in Python: `weak(0.5f0)`.
`x` is any integer, real or complex number. Numbers of type `Int`, `Float64` and `ComplexF64` are
weak scalars without `weak`.
"""
weak(x::Integer) = Encoded(GUF_OPERAND_WEAK_INT, 0, (x % Int64 % UInt64, UInt64(0)))
weak(x::AbstractFloat) =
    Encoded(GUF_OPERAND_WEAK_FLOAT, 0, (reinterpret(UInt64, Float64(x)), UInt64(0)))
weak(x::Real) = weak(Float64(x))
weak(x::Complex) = Encoded(GUF_OPERAND_WEAK_COMPLEX, 0, bits(ComplexF64(x)))
weak(x::Union{UInt64,Int128,UInt128,BigInt}) =
    typemin(Int64) <= x <= typemax(Int64) ? weak(Int64(x)) : weak_huge(BigInt(x))

function weak_huge(x::BigInt)
    beyond = abs(x) > typemax(UInt64)
    magnitude = beyond ? typemax(UInt64) : UInt64(abs(x))
    return Encoded(GUF_OPERAND_WEAK_INT_HUGE, 0, (magnitude, UInt64((x < 0) + 2beyond)))
end

# The bytes of a value of at most 16 bytes.
@inline function bits(x::T) where {T}
    words = Ref((UInt64(0), UInt64(0)))
    GC.@preserve words unsafe_store!(Ptr{T}(pointer_from_objref(words)), x)
    return words[]
end

typed(x) = Encoded(GUF_OPERAND_SCALAR, dtype(typeof(x)), bits(x))

@inline operand(x::GufArray) = x
@inline operand(x::Tensor) = x
@inline operand(x::Encoded) = x
@inline operand(x::AbstractArray) = borrow(x)
operand(x::LazyTranspose) = materialized(x)
@inline operand(x::Nothing) = x
operand(x::Scalar) = sizeof(x.value) <= 16 ? typed(x.value) : borrow(fill(x.value))
operand(x::Union{Int64,Float64,ComplexF64,BigInt,Int128,UInt128,Rational,AbstractIrrational}) =
    weak(x)
operand(x::Complex{<:Union{Int64,Rational}}) = weak(x)
operand(x::Union{Number,Time64}) = typed(x)
operand(x) = sizeof(x) <= 16 && haskey(STRUCTURED, typeof(x)) ? typed(x) :
             throw(GufuncError(GUF_E_ARG, "cannot make an operand of a $(typeof(x))"))

@inline rank(x::GufArray{T,N}) where {T,N} = N
@inline rank(::Tensor{T,N}) where {T,N} = N
@inline rank(::Encoded) = 0
@inline rank(x::Natural) = rank(x.array)
@inline rank(::Nothing) = 0

no_memory(x) = "a $(typeof(x)) has no memory to write to"
no_memory(x::Adjoint{<:Complex}) =
    "the adjoint of complex numbers has no memory to write to: transpose(A) has"

# Converts an output, which must have writable memory.
@inline output(x::Union{GufArray,Tensor,Nothing}) = x
output(x) = throw(GufuncError(GUF_E_ARG, "cannot make an output of a $(typeof(x))"))
output(x::LazyTranspose) = has_memory(x) ? materialized(x) :
                            throw(GufuncError(GUF_E_READ_ONLY, no_memory(x)))
@inline function output(x::AbstractArray)
    x isa Union{Borrowable,Transposed,TransposedView} ||
        throw(GufuncError(GUF_E_READ_ONLY, no_memory(x)))
    return borrow(x)
end

# Frames: the operand structures of one call, on the stack. A frame is an array of guf_operand,
# followed by the guf_tensor structures, shapes and strides to which the operands point. It is
# written as 64-bit words, and the assertions check the offsets.

@assert sizeof(guf_operand) == 48 && sizeof(guf_tensor) == 48
@assert fieldoffset(guf_operand, 5) == 16 && fieldoffset(guf_operand, 6) == 24
@assert fieldoffset(guf_operand, 7) == 32 && fieldoffset(guf_tensor, 5) == 16
@assert fieldoffset(guf_tensor, 6) == 24 && fieldoffset(guf_tensor, 8) == 40

words(::Type{<:Tensor{T,N}}) where {T,N} = 12 + 2N
words(::Type{Natural{A}}) where {A} = words(A)
words(::Type) = 6

# Uninitialized memory for the frame of a tuple of operands.
@generated frame_for(::T) where {T<:Tuple} =
    :(Ref{NTuple{$(max(1, sum(Int[words(kind) for kind in T.parameters]))),UInt64}}())

@inline pair(low, high) = UInt64(low % UInt32) | UInt64(high % UInt32) << 32
@inline word!(at::Ptr{UInt64}, place, value) = unsafe_store!(at, value % UInt64, place)

@inline function put(slot, record, x::GufArray)
    word!(slot, 1, pair(GUF_OPERAND_ARRAY, 0))
    word!(slot, 2, 0)
    word!(slot, 3, UInt64(x.handle))
    return record
end

@inline function put(slot, record, x::Encoded)
    word!(slot, 1, pair(x.kind, x.dtype))
    word!(slot, 2, 0)
    word!(slot, 5, x.value[1])
    word!(slot, 6, x.value[2])
    return record
end

@inline function put(slot, record, ::Nothing)
    word!(slot, 1, pair(GUF_OPERAND_NONE, 0))
    word!(slot, 2, 0)
    word!(slot, 3, 0)
    return record
end

@inline put(slot, record, x::Tensor) =
    put_tensor(slot, record, x, reversed(x.size), reversed(x.byte_strides))
@inline put(slot, record, x::Natural{<:Tensor}) =
    put_tensor(slot, record, x.array, x.array.size, x.array.byte_strides)

@inline function put_tensor(slot, record, x::Tensor{T,N}, shape, strides) where {T,N}
    word!(slot, 1, pair(GUF_OPERAND_TENSOR, 0))
    word!(slot, 2, 0)
    word!(slot, 3, 0)
    word!(slot, 4, UInt64(record))
    word!(record, 1, pair(sizeof(guf_tensor), dtype(T)))
    word!(record, 2, pair(N, x.flags))
    word!(record, 3, x.address)
    word!(record, 4, UInt64(record + 48))
    word!(record, 5, UInt64(record + 48 + 8N))
    word!(record, 6, UInt64(x.device))
    unsafe_store!(Ptr{NTuple{N,Int64}}(record + 48), shape)
    unsafe_store!(Ptr{NTuple{N,Int64}}(record + 48 + 8N), strides)
    return record + 48 + 16N
end

@inline put_all(slot, record, ::Tuple{}) = nothing
@inline put_all(slot, record, operands::Tuple) =
    put_all(slot + 48, put(slot, record, operands[1]), Base.tail(operands))

# Fills a frame and returns the address of its operands.
@inline function filled(frame::Ref, operands::Tuple)
    slots = Ptr{UInt64}(pointer_from_objref(frame))
    put_all(slots, slots + 48 * length(operands), operands)
    return slots
end

@inline slot_of(slots, index) = Ptr{guf_operand}(slots + 48 * index)

# Whether queued work of the call would use memory of Julia.
@inline borrows(operands::Tuple) = any(map(borrows_memory, operands))
borrows(operands::Vector{Any}) = any(borrows_memory, operands)
@inline borrows_memory(x) = x isa Union{Tensor,Natural{<:Tensor}}
