# SPDX-License-Identifier: Apache-2.0
# Element types that Julia lacks, which are bfloat16 and NumPy's datetime types, and the dtypes of
# all element types.

export BFloat16

"`bfloat16`, the upper half of a Float32. Conversions from Float32 round to nearest even."
primitive type BFloat16 <: AbstractFloat 16 end

Base.Float32(x::BFloat16) = reinterpret(Float32, UInt32(reinterpret(UInt16, x)) << 16)
Base.Float64(x::BFloat16) = Float64(Float32(x))
function BFloat16(x::Float32)
    bits = reinterpret(UInt32, x)
    isnan(x) && return reinterpret(BFloat16, UInt16(bits >> 16) | 0x0040)
    return reinterpret(BFloat16, UInt16((bits + 0x7fff + (bits >> 16 & 1)) >> 16))
end
BFloat16(x::BFloat16) = x
BFloat16(x::Real) = BFloat16(Float32(x))
Base.promote_rule(::Type{BFloat16}, ::Type{<:Integer}) = BFloat16
Base.promote_rule(::Type{BFloat16}, ::Type{Float32}) = Float32
Base.promote_rule(::Type{BFloat16}, ::Type{Float64}) = Float64
Base.:(==)(a::BFloat16, b::BFloat16) = Float32(a) == Float32(b)
Base.:<(a::BFloat16, b::BFloat16) = Float32(a) < Float32(b)
Base.isnan(x::BFloat16) = isnan(Float32(x))
Base.isinf(x::BFloat16) = isinf(Float32(x))
Base.zero(::Type{BFloat16}) = reinterpret(BFloat16, 0x0000)
Base.one(::Type{BFloat16}) = reinterpret(BFloat16, 0x3f80)
Base.bswap(x::BFloat16) = reinterpret(BFloat16, bswap(reinterpret(UInt16, x)))
Base.show(io::IO, x::BFloat16) = print(io, "BFloat16(", Float32(x), ")")

# The numeric dtypes.
const DTYPES = [Bool => GUF_BOOL, Int8 => GUF_I8, Int16 => GUF_I16, Int32 => GUF_I32,
                Int64 => GUF_I64, UInt8 => GUF_U8, UInt16 => GUF_U16, UInt32 => GUF_U32,
                UInt64 => GUF_U64, Float16 => GUF_F16, BFloat16 => GUF_BF16, Float32 => GUF_F32,
                Float64 => GUF_F64, ComplexF32 => GUF_C64, ComplexF64 => GUF_C128]

const UNITS = (:generic, :Y, :M, :W, :D, :h, :m, :s, :ms, :us, :ns, :ps, :fs, :as)

"""
    Datetime64{U,M}(value), Timedelta64{U,M}(value)

NumPy's datetime types: `value` steps of `M` units `U` (one of `:generic :Y :M :W :D :h :m :s :ms
:us :ns :ps :fs :as`). Dates count from 1970-01-01. The smallest Int64 represents not-a-time (NaT).
"""
struct Datetime64{U,M}
    value::Int64
end
struct Timedelta64{U,M}
    value::Int64
end
@doc (@doc Datetime64) Timedelta64
const Time64{U,M} = Union{Datetime64{U,M},Timedelta64{U,M}}
isnat(x::Time64) = x.value == GUF_NAT
