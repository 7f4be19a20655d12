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
