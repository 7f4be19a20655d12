# SPDX-License-Identifier: Apache-2.0
# Views: arrays that share memory and keep it alive. Dimensions are counted from 1, as in Julia.

# The library's axis for dimension d of n dimensions. The axis is out of range if d is out of range.
library_axis(d::Integer, n::Integer) = Int64(d >= 1 ? -widen(d) : n - widen(d))
library_axis(d, n) = throw(GufuncError(GUF_E_ARG, "dimension: expected an integer, got $(repr(d))"))
# A vector of axes. A single integer becomes a vector of one axis.
library_axes(dims, n) = vec(Int64[library_axis(d, n) for d in dims])

made_view(make::Function) = (out = Ref{guf_array}(C_NULL); make(out); GufArray(out[]))

slice_bounds(::Colon, extent) = (GUF_NAT, GUF_NAT, Int64(1))
slice_bounds(i::Integer, extent) = (Int64(i - 1), Int64(i), Int64(1))
slice_bounds(i::Bool, extent) = no_index(i)
slice_bounds(i::AbstractRange{Bool}, extent) = no_index(i)
no_index(i) = throw(ArgumentError("invalid index: $i of type $(typeof(i))"))
function slice_bounds(r::AbstractRange, extent)
    isempty(r) && return (Int64(0), Int64(0), Int64(1))
    stop = last(r) - 1 + sign(step(r))
    return (Int64(first(r) - 1), stop < 0 ? GUF_NAT : Int64(stop), Int64(step(r)))
end

const Picked = Union{Colon,Integer,AbstractRange{<:Integer}}

"""
    view(x::GufArray, ranges…) -> GufArray

A view of the elements that the indices select: integers (which drop the dimension), ranges with any
step, and `:`. `x[ranges…]` returns a copy on the same device.
"""
function Base.view(x::GufArray{T,N}, picked::Vararg{Picked,N}) where {T,N}
    checkbounds(x, picked...)
    bounds = reverse(map(slice_bounds, picked, size(x)))
    starts, stops, steps = Int64[first.(bounds)...], Int64[getindex.(bounds, 2)...],
                           Int64[last.(bounds)...]
    sliced = made_view() do out
        @check guf_array_slice(x.handle, Int32(N), starts, stops, steps, out) N
    end
    dropped = Tuple(d for d in 1:N if picked[d] isa Integer)
    return isempty(dropped) ? sliced : with_temporary(part -> dropdims(part; dims=dropped), sliced)
end

# Applies `make` to a temporary view and frees the view. It would otherwise keep its memory alive
# until the garbage collector runs.
function with_temporary(make, view)
    made = make(view)
    unsafe_free!(view)
    return made
end

Base.getindex(x::GufArray{T,N}, picked::Vararg{Picked,N}) where {T,N} =
    with_temporary(copy, view(x, picked...))
function Base.setindex!(x::GufArray{T,N}, v, picked::Vararg{Picked,N}) where {T,N}
    with_temporary(part -> assigned!(part, v), view(x, picked...))
    return x
end

"""
    reshape(x::GufArray, dims…) -> GufArray

A view with other dimensions and the elements in column-major order. One of `dims` may be `:`.
Throws `GUF_E_UNSUPPORTED` if only a copy can have these dimensions.
"""
Base.reshape(x::GufArray, dims::Dims) = reshaped(x, dims, :F)
Base.reshape(x::GufArray, dims::Tuple{Vararg{Union{Int,Colon}}}) =
    reshaped(x, map(d -> d isa Colon ? -1 : d, dims), :F)

"Like `reshape`, with the elements in another `order`: `:C` is row-major, `:A` the memory order."
function reshaped(x::GufArray, dims::Dims, order::Symbol)
    shape = Int64[reversed(dims)...]
    return made_view() do out
        @check guf_array_reshape(x.handle, Int32(length(dims)), shape,
                                 chosen(ORDERS, order, "order"), out) length(dims)
    end
end

"A view of all elements in one dimension, in `order`."
ravel(x::GufArray; order::Symbol=:F) = made_view() do out
    @check guf_array_ravel(x.handle, chosen(ORDERS, order, "order"), out)
end
Base.vec(x::GufArray) = ravel(x)

"""
    permuted_view(x, order=reversed) -> GufArray

A view whose dimension `i` is dimension `order[i]` of `x`. By default the dimensions are reversed.
`permutedims(x, order)` returns a copy.
"""
function permuted_view(x::GufArray{T,N}, order=N:-1:1) where {T,N}
    axes = [library_axis(d, N) for d in reverse(Tuple(order))]
    return made_view() do out
        @check guf_array_transpose(x.handle, Int32(length(axes)), axes, out) N
    end
end
Base.permutedims(x::GufArray, order=ndims(x):-1:1) =
    with_temporary(permuted -> copy(permuted; order=:F), permuted_view(x, order))
Base.transpose(x::GufArray{T,2}) where {T} = permuted_view(x)
Base.adjoint(x::GufArray{T,2}) where {T<:Real} = permuted_view(x)

# Lazy transposes and adjoints of GufArrays, as Julia creates them. As operands they are converted
# to views, except that the adjoint of a complex array is copied.
const LazyTranspose = Union{Transpose{T,A} where {T,A<:GufArray},
                             Adjoint{T,A} where {T,A<:GufArray}}
const LibraryArray = Union{GufArray,LazyTranspose}
materialized(x::GufArray) = x
materialized(x::LazyTranspose) = has_memory(x) ? transposed_view(parent(x)) :
                              to_device(conj(Array(transposed_view(parent(x)))), parent(x).device)
has_memory(::Transpose) = true
has_memory(::Adjoint{T}) where {T} = !(T <: Complex)
transposed_view(x::GufArray{T,1}) where {T} = expand_dims(x; dims=1)
transposed_view(x::GufArray{T,2}) where {T} = permuted_view(x)

"""
    broadcast_to(x, dims…) -> GufArray

A read-only view in which dimensions of extent 1, and missing dimensions after the last one, are
broadcast to `dims`.
"""
broadcast_to(x::GufArray, dims::Integer...) = broadcast_to(x, map(Int, dims))
function broadcast_to(x::GufArray, dims::Dims)
    shape = Int64[reversed(dims)...]
    return made_view() do out
        @check guf_array_broadcast_to(x.handle, Int32(length(dims)), shape, out) length(dims)
    end
end

"Drops the dimensions `dims`, which must have extent 1. `squeeze` drops all dimensions of extent 1."
function Base.dropdims(x::GufArray; dims)
    axes = library_axes(dims, ndims(x))
    return made_view() do out
        @check guf_array_squeeze(x.handle, Int32(length(axes)), axes, out) ndims(x)
    end
end
squeeze(x::GufArray) =
    made_view(out -> @check guf_array_squeeze(x.handle, Int32(0), C_NULL, out))

"Inserts dimensions of extent 1. `dims` are their positions in the result."
function expand_dims(x::GufArray; dims)
    n = ndims(x) + length(dims)
    axes = library_axes(dims, n)
    return made_view() do out
        @check guf_array_expand_dims(x.handle, Int32(length(axes)), axes, out) n
    end
end

"""
    sliding_window_view(x, windows; dims=1:length(windows)) -> GufArray

A read-only view of all windows of these extents along `dims`. The dimensions of the windows are the
first dimensions of the result, like core dimensions. The extent of each dimension in `dims` becomes
`extent - window + 1`. For one dimension, `windows` and `dims` may be integers.
"""
function sliding_window_view(x::GufArray, windows; dims=1:length(windows))
    axes = reverse(library_axes(dims, ndims(x)))
    extents = reverse(vec(Int64[w for w in windows]))
    length(axes) == length(extents) ||
        throw(GufuncError(GUF_E_ARG,
            "windows: expected $(length(axes)) numbers, got $(length(extents))"))
    return made_view() do out
        @check guf_array_sliding_window(x.handle, Int32(length(axes)), axes, extents, out) ndims(x)
    end
end
