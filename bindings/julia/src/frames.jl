# SPDX-License-Identifier: Apache-2.0
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
