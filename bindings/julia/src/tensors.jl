# SPDX-License-Identifier: Apache-2.0
# Memory that Julia owns, as the library is told of it.

using LinearAlgebra: Adjoint, Transpose

"""
    Tensor(A; read_only=false, swapped=false)
    Tensor{T}(owner, address, size, byte_strides; read_only=false, swapped=false, device=nothing)

Memory that somebody else owns, lent to a call: what `call!` makes of Julia's strided arrays. The
second form takes any address and strides in bytes, one per dimension, and keeps `owner` alive;
`swapped` says that elements have the other byte order. Vectors that it lends cannot be resized any
more, as behind `wrap`.
"""
struct Tensor{T,N,O}
    owner::O
    address::UInt64
    size::NTuple{N,Int}
    byte_strides::NTuple{N,Int}
    flags::UInt32
    device::guf_device
end

tensor_flags(read_only, swapped) =
    UInt32((read_only ? GUF_TENSOR_READ_ONLY : 0) | (swapped ? GUF_TENSOR_SWAPPED : 0))

function Tensor{T}(owner, address, size::Dims{N}, byte_strides::Dims{N}; read_only::Bool=false,
                   swapped::Bool=false, device=nothing) where {T,N}
    kept = with_size_fixed(owner)
    return Tensor{T,N,typeof(kept)}(kept, UInt64(address), size, byte_strides,
                                    tensor_flags(read_only, swapped), device_handle(device))
end

function Tensor(A::AbstractArray; read_only::Bool=false, swapped::Bool=false)
    t = lend(A)
    return Tensor{eltype(t)}(t.owner, t.address, t.size, t.byte_strides;
                             read_only=read_only || t.flags & GUF_TENSOR_READ_ONLY != 0,
                             swapped=swapped)
end

# The owner, with what holds its memory where it might move.
function with_size_fixed(owner)
    fixed = fix_size!(owner)
    return fixed === nothing ? owner : (owner, fixed)
end

with_flags(t::Tensor{T,N,O}, flags) where {T,N,O} =
    Tensor{T,N,O}(t.owner, t.address, t.size, t.byte_strides, t.flags | flags, t.device)

Base.size(t::Tensor) = t.size
Base.ndims(::Tensor{T,N}) where {T,N} = N
Base.eltype(::Type{<:Tensor{T}}) where {T} = T

# Arrays of Julia with elements in memory at regular strides.
const Lendable{T,N} = Union{StridedArray{T,N},PermutedDimsArray{T,N,P,Q,<:StridedArray} where {P,Q}}

# A' and transpose(A) of such: their dimensions in the other order. The adjoint of complex numbers
# is not: its elements are in no memory.
const Turned = Union{Transpose{T,A} where {T<:Number,A<:StridedVecOrMat{T}},
                     Adjoint{T,A} where {T<:Real,A<:StridedVecOrMat{T}}}

@inline function lend(A::Lendable{T,N}) where {T,N}
    isbitstype(T) || refuse_elements(T)
    return Tensor{T,N,typeof(A)}(A, UInt64(pointer(A)), size(A),
                                 map(s -> s * sizeof(T), strides(A)), UInt32(0), C_NULL)
end
@inline function lend(A::Array{T,N}) where {T,N}
    isbitstype(T) || refuse_elements(T)
    return Tensor{T,N,Array{T,N}}(A, UInt64(pointer(A)), size(A), packed(size(A), sizeof(T)),
                                  UInt32(0), C_NULL)
end
@inline function lend(A::Turned)
    T, below = eltype(A), lend(parent(A))
    # A vector's other dimension has the extent 1.
    steps = ndims(parent(A)) == 1 ? (sizeof(T), below.byte_strides[1]) : reverse(below.byte_strides)
    return Tensor{T,2,typeof(A)}(A, below.address, size(A), steps, UInt32(0), C_NULL)
end
# A view of A' or transpose(A) by numbers and ranges, which has strides that Base does not compute.
const RegularIndices = Tuple{Vararg{Union{Integer,AbstractRange}}}
const TurnedView = SubArray{T,N,P,I} where {T,N,P<:Turned,I<:RegularIndices}

@inline function lend(A::TurnedView)
    T, whole = eltype(A), lend(parent(A))
    address, extents, steps = whole.address, Int[], Int[]
    for (index, step) in zip(parentindices(A), whole.byte_strides)
        address += (Int(first(index)) - 1) * step % UInt64
        index isa AbstractRange || continue
        push!(extents, length(index))
        push!(steps, Base.step(index) * step)
    end
    N = ndims(A)
    return Tensor{T,N,typeof(A)}(A, address, NTuple{N,Int}(extents), NTuple{N,Int}(steps),
                                 UInt32(0), C_NULL)
end
@noinline refuse_elements(T) = throw(GufuncError(GUF_E_DTYPE,
    "an array with elements of type $T: libgufunc has numbers and records only" *
    (T >: Missing ? ", and none for missing" : "")))
@inline lend(t::Tensor) = t
# What has no strides (ranges, results of reverse …) is copied, and cannot be written.
lend(A::AbstractArray) = with_flags(lend(collect(A)), GUF_TENSOR_READ_ONLY)
# Bits have no addresses.
lend(A::BitArray) = with_flags(lend(Array(A)), GUF_TENSOR_READ_ONLY)

fix_size!(t::Tensor) = fix_size!(t.owner)

# Strides of column-major memory without gaps.
@inline packed(size::Dims, itemsize) = packed_from(itemsize, size)
@inline packed_from(step, ::Tuple{}) = ()
@inline packed_from(step, size::Tuple) = (step, packed_from(step * size[1], Base.tail(size))...)

# The same memory with the first dimension as the library's axis 0: for what counts axes from there.
struct Natural{A}
    array::A
end
fix_size!(x::Natural) = fix_size!(x.array)
# A call's structure with such operands is taken as it is.
Base.unsafe_convert(::Type{Ptr{T}}, args::Natural{Ptr{T}}) where {T} = args.array

"""
    wrap(A; read_only=false, swapped=false, device=nothing) -> GufArray

An array of the library over the memory of `A`, a strided Julia array or a `Tensor`, without a copy.
`A` is kept alive as long as anything uses it; a vector cannot be resized any more, as behind
`reshape`.
"""
function wrap(A; read_only::Bool=false, swapped::Bool=false)
    return wrapped(A, read_only, swapped, fix_size!(A))
end

function wrapped(A, read_only=false, swapped=false, kept=nothing)
    lent = with_flags(lend(A), tensor_flags(read_only, swapped))
    lent.owner === A || A isa Tensor ||
        throw(GufuncError(GUF_E_ARG, "$(typeof(A)) has no memory with strides to share"))
    user = root!((lent, kept))
    out = Ref{guf_array}(C_NULL)
    try
        framed(Any[lent]) do slots
            @check guf_array_wrap(Ptr{guf_tensor}(slots + 48), release_callback(), user,
                                  0x00000000, out) rank(lent)
        end
    catch
        unroot!(user)
        rethrow()
    end
    return GufArray(out[])
end
