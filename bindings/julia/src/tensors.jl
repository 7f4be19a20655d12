# SPDX-License-Identifier: Apache-2.0
# Borrowed descriptions of memory that Julia owns.

using LinearAlgebra: Adjoint, Transpose

"""
    Tensor(A; read_only=false, swapped=false)
    Tensor{T}(owner, address, size, byte_strides; read_only=false, swapped=false, device=nothing)

A borrowed description of memory that another object owns. `call!` converts Julia's strided arrays
to Tensors. The second form accepts any address and strides in bytes, one per dimension, and keeps
`owner` alive. `swapped` means that the elements have non-native byte order. A vector whose memory a
Tensor describes cannot be resized any more, as after `wrap`.
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
    t = borrow(A)
    return Tensor{eltype(t)}(t.owner, t.address, t.size, t.byte_strides;
                             read_only=read_only || t.flags & GUF_TENSOR_READ_ONLY != 0,
                             swapped=swapped)
end

# The owner, together with the reshaped arrays that prevent a resize of its memory; see fix_size!.
function with_size_fixed(owner)
    fixed = fix_size!(owner)
    return fixed === nothing ? owner : (owner, fixed)
end

with_flags(t::Tensor{T,N,O}, flags) where {T,N,O} =
    Tensor{T,N,O}(t.owner, t.address, t.size, t.byte_strides, t.flags | flags, t.device)

Base.size(t::Tensor) = t.size
Base.ndims(::Tensor{T,N}) where {T,N} = N
Base.eltype(::Type{<:Tensor{T}}) where {T} = T

# Julia arrays whose elements are in memory at regular strides.
const Borrowable{T,N} =
    Union{StridedArray{T,N},PermutedDimsArray{T,N,P,Q,<:StridedArray} where {P,Q}}

# A' and transpose(A) of strided vectors and matrices, which have reversed dimensions. The adjoint
# of a complex array is excluded, because its elements are not in memory.
const Transposed = Union{Transpose{T,A} where {T<:Number,A<:StridedVecOrMat{T}},
                     Adjoint{T,A} where {T<:Real,A<:StridedVecOrMat{T}}}

@inline function borrow(A::Borrowable{T,N}) where {T,N}
    isbitstype(T) || refuse_elements(T)
    return Tensor{T,N,typeof(A)}(A, UInt64(pointer(A)), size(A),
                                 map(s -> s * sizeof(T), strides(A)), UInt32(0), C_NULL)
end
@inline function borrow(A::Array{T,N}) where {T,N}
    isbitstype(T) || refuse_elements(T)
    return Tensor{T,N,Array{T,N}}(A, UInt64(pointer(A)), size(A), packed(size(A), sizeof(T)),
                                  UInt32(0), C_NULL)
end
@inline function borrow(A::Transposed)
    T, below = eltype(A), borrow(parent(A))
    # The first dimension of a transposed vector has the extent 1.
    steps = ndims(parent(A)) == 1 ? (sizeof(T), below.byte_strides[1]) : reverse(below.byte_strides)
    return Tensor{T,2,typeof(A)}(A, below.address, size(A), steps, UInt32(0), C_NULL)
end
# A view of A' or transpose(A) by numbers and ranges. Such a view has strides, but Base does not
# compute them.
const RegularIndices = Tuple{Vararg{Union{Integer,AbstractRange}}}
const TransposedView = SubArray{T,N,P,I} where {T,N,P<:Transposed,I<:RegularIndices}

@inline function borrow(A::TransposedView)
    T, whole = eltype(A), borrow(parent(A))
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
    "an array with elements of type $T: libgufunc has numbers and structured dtypes only" *
    (T >: Missing ? ", and none for missing" : "")))
@inline borrow(t::Tensor) = t
# Arrays without strides (such as ranges) are copied, and the copy is read-only.
borrow(A::AbstractArray) = with_flags(borrow(collect(A)), GUF_TENSOR_READ_ONLY)
# The elements of a BitArray have no addresses.
borrow(A::BitArray) = with_flags(borrow(Array(A)), GUF_TENSOR_READ_ONLY)

fix_size!(t::Tensor) = fix_size!(t.owner)

# The strides of contiguous column-major memory, in bytes.
@inline packed(size::Dims, itemsize) = packed_from(itemsize, size)
@inline packed_from(step, ::Tuple{}) = ()
@inline packed_from(step, size::Tuple) = (step, packed_from(step * size[1], Base.tail(size))...)

# Wraps an array whose dimension 1 is the library's axis 0, for functions that align dimensions from
# the first axis.
struct Natural{A}
    array::A
end
fix_size!(x::Natural) = fix_size!(x.array)
# A Natural around a pointer marks the argument structure of a call with such operands. The pointer
# is passed to C unchanged.
Base.unsafe_convert(::Type{Ptr{T}}, args::Natural{Ptr{T}}) where {T} = args.array

"""
    wrap(A; read_only=false, swapped=false, device=nothing) -> GufArray

An array of the library over the memory of `A`, a strided Julia array or a `Tensor`, without a copy.
`A` is kept alive as long as its memory is used. A vector cannot be resized any more, as after
`reshape`.
"""
function wrap(A; read_only::Bool=false, swapped::Bool=false)
    return wrapped(A, read_only, swapped, fix_size!(A))
end

function wrapped(A, read_only=false, swapped=false, kept=nothing)
    tensor = with_flags(borrow(A), tensor_flags(read_only, swapped))
    tensor.owner === A || A isa Tensor ||
        throw(GufuncError(GUF_E_ARG, "$(typeof(A)) has no memory with strides to share"))
    user = root!((tensor, kept))
    out = Ref{guf_array}(C_NULL)
    try
        framed(Any[tensor]) do slots
            @check guf_array_wrap(Ptr{guf_tensor}(slots + 48), release_callback(), user,
                                  0x00000000, out) rank(tensor)
        end
    catch
        unroot!(user)
        rethrow()
    end
    return GufArray(out[])
end
