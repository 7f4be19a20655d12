# SPDX-License-Identifier: Apache-2.0
# The library's dtypes and Julia's element types.

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

const TYPES = Dict{UInt32,DataType}(code => T for (T, code) in DTYPES)

# Structured dtypes: Julia structs that `register_dtype` registered.
const STRUCTURED = Dict{DataType,UInt32}()
const STRUCTURED_LOCK = Threads.SpinLock()

"""
    dtype(T) -> UInt32
    dtype("float32") -> UInt32

The library's code of an element type or of a dtype name of NumPy.
"""
function dtype end
for (T, code) in DTYPES
    @eval @inline dtype(::Type{$T}) = $code
end
time_dtype(code, unit, multiple) =
    UInt32(code | (findfirst(isequal(unit), UNITS) - 1) << 8 | multiple << 16)
dtype(::Type{Datetime64{U,M}}) where {U,M} = time_dtype(0x80, U, M)
dtype(::Type{Timedelta64{U,M}}) where {U,M} = time_dtype(0x81, U, M)
dtype(code::UInt32) = code
dtype(::Nothing) = UInt32(0)
function dtype(T::DataType)
    code = lock(() -> get(STRUCTURED, T, UInt32(0)), STRUCTURED_LOCK)
    code != 0 && return code
    throw(GufuncError(GUF_E_DTYPE, "no dtype of libgufunc has the type $T: a structure of plain " *
                                   "data requires register_dtype"))
end
function dtype(spelling::AbstractString)
    out = Ref(UInt32(0))
    @check guf_dtype_parse(String(spelling), out)
    return out[]
end

"""
    element_type(dtype) -> DataType

The Julia type for a dtype, which is given by its code or name.
"""
element_type(spelling::AbstractString) = element_type(dtype(spelling))
function element_type(code::UInt32)
    T = get(TYPES, code, nothing)
    T === nothing || return T
    if code & 0xfe == 0x80
        time = code & 1 == 0 ? Datetime64 : Timedelta64
        return time{UNITS[(code>>8&0xff)+1],Int(code >> 16)}
    end
    lock(STRUCTURED_LOCK) do
        for (T, known) in STRUCTURED
            known == code && return T
        end
        throw(GufuncError(GUF_E_DTYPE, "no type of Julia is registered for $(dtype_name(code))"))
    end
end

"NumPy's name of a dtype or element type, such as `\"float32\"`."
function dtype_name(kind)
    name = LibGufunc.guf_dtype_name(dtype(kind))
    name == C_NULL && throw(GufuncError(GUF_E_DTYPE, "$kind is not a dtype"))
    return unsafe_string(name)
end

"""
    dtype_info(kind)

`(dtype, itemsize, alignment, kind, letter, name, short_name)` of a dtype or element type.
"""
function dtype_info(kind)
    info = sized(guf_dtype_info)
    @check guf_dtype_get_info(dtype(kind), info)
    i = info[]
    return (dtype=i.dtype, itemsize=Int(i.itemsize), alignment=Int(i.alignment),
            kind=Char(i.kind), letter=Char(i.letter), name=text(i.name),
            short_name=text(i.short_name))
end

const CASTINGS = (default=GUF_CASTING_DEFAULT, no=GUF_CASTING_NO, equiv=GUF_CASTING_EQUIV,
                  safe=GUF_CASTING_SAFE, same_kind=GUF_CASTING_SAME_KIND,
                  unsafe=GUF_CASTING_UNSAFE)

chosen(choices, name::Symbol, what) = haskey(choices, name) ? Int32(choices[name]) :
    throw(GufuncError(GUF_E_ARG, "$what: expected one of $(join(keys(choices), ", ")), got $name"))
chosen(choices, number::Integer, what) = Int32(number)

"""
    can_cast(from, to; casting=:safe) -> Bool

NumPy's `can_cast`; `casting` is `:no`, `:equiv`, `:safe`, `:same_kind` or `:unsafe`.
"""
function can_cast(from, to; casting=:safe)
    possible = Ref(Int32(0))
    rule = chosen(CASTINGS, casting, "casting")
    @check guf_dtype_can_cast(dtype(from), dtype(to), rule, possible)
    return possible[] != 0
end

"""
    promote_types(a, b) -> DataType

The smallest type to which both types can be cast safely, as NumPy's `promote_types`.
"""
function promote_types(a, b)
    out = Ref(UInt32(0))
    @check guf_dtype_promote(dtype(a), dtype(b), out)
    return element_type(out[])
end

"""
    time_type(kind, unit, multiple=1) -> DataType

The type `Datetime64{unit,multiple}` or `Timedelta64{unit,multiple}`, as `kind` selects, for a unit
that is known only at run time. The library checks the unit.
"""
function time_type(kind::Type, unit::Symbol, multiple::Integer=1)
    out = Ref(UInt32(0))
    time = kind <: Datetime64 ? GUF_DATETIME64 : GUF_TIMEDELTA64
    number = findfirst(isequal(unit), UNITS)
    number === nothing && throw(GufuncError(GUF_E_ARG, "a unit is one of $(join(UNITS, ", "))"))
    @check guf_dtype_make_time(time, Int32(number - 1), UInt32(multiple), out)
    return element_type(out[])
end

"The unit and multiple of a datetime type, such as `(:s, 25)`."
function time_unit(kind)
    unit, multiple = Ref(Int32(0)), Ref(UInt32(0))
    @check guf_dtype_get_unit(dtype(kind), unit, multiple)
    return UNITS[unit[]+1], Int(multiple[])
end

"""
    register_dtype(T; name=string(nameof(T))) -> UInt32

Registers a struct of plain data as an element type. Arrays with this element type can be created,
viewed, copied and passed to loops of exactly this type.
"""
function register_dtype(T::DataType; name::AbstractString=string(nameof(T)))
    isbitstype(T) || throw(GufuncError(GUF_E_DTYPE, "$T is not a structure of plain data"))
    out = Ref(UInt32(0))
    @check guf_dtype_register(String(name), UInt32(sizeof(T)),
                              UInt32(Base.datatype_alignment(T)), out)
    lock(() -> STRUCTURED[T] = out[], STRUCTURED_LOCK)
    return out[]
end
