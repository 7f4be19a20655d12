# SPDX-License-Identifier: Apache-2.0
# Arrays of the library. For the library, their dimensions are in reverse order: Julia's dimension d
# is the library's axis -d. Julia aligns dimensions from the first, and the library from the last.

"""
    GufArray{T,N}

An array of the library: a reference-counted view of host or device memory. A finalizer or
`unsafe_free!` releases the array. The memory is column-major, unless the array is a view with other
strides.

    GufArray{T}(undef, dims...; device="cpu")    allocates
    GufArray(A; device="cpu")                    copies
    wrap(A)                                      shares the memory of a Julia array

`Array(x)` copies to the host. Single elements can be indexed only in host memory, and ranges also
in device memory.
"""
mutable struct GufArray{T,N} <: AbstractArray{T,N}
    handle::guf_array
    size::NTuple{N,Int}
    byte_strides::NTuple{N,Int}
    address::UInt64
    flags::UInt32
    device::Device
end

# Takes ownership of the caller's reference, even if the function throws. It throws if the dtype is
# a structured dtype without a Julia type, which another language registered.
function GufArray(handle::guf_array)
    try
        return adopt_array(handle)
    catch
        LibGufunc.guf_array_release(handle, C_NULL)
        rethrow()
    end
end

function adopt_array(handle::guf_array)
    info = Ref{guf_array_info}()
    GC.@preserve info begin
        address = Ptr{guf_array_info}(pointer_from_objref(info))
        unsafe_store!(Ptr{UInt32}(address), sizeof(guf_array_info) % UInt32)
        @check guf_array_get_info(handle, address)
        found = unsafe_load(Ptr{InfoHead}(address))
        shape = Ptr{Int64}(address + fieldoffset(guf_array_info, SHAPE_FIELD))
        strides = Ptr{Int64}(address + fieldoffset(guf_array_info, STRIDES_FIELD))
        adopt(element_type(found.dtype), Val(Int(found.ndim)), handle, found, shape, strides)
    end
end

# The first fields of guf_array_info. Reading only these fields avoids a copy of the long arrays
# after them.
struct InfoHead
    struct_size::UInt32
    dtype::UInt32
    ndim::Int32
    flags::UInt32
    address::UInt64
    size::UInt64
    nbytes::UInt64
    device::guf_device
end
const SHAPE_FIELD = findfirst(isequal(:shape), fieldnames(guf_array_info))
const STRIDES_FIELD = findfirst(isequal(:strides), fieldnames(guf_array_info))
@assert fieldoffset(InfoHead, 8) == fieldoffset(guf_array_info, SHAPE_FIELD - 1)

function adopt(::Type{T}, ::Val{N}, handle, found, shape, strides) where {T,N}
    made = GufArray{T,N}(handle, ntuple(d -> Int(unsafe_load(shape, N + 1 - d)), Val(N)),
                         ntuple(d -> Int(unsafe_load(strides, N + 1 - d)), Val(N)),
                         found.address, found.flags, Device(found.device))
    return finalizer(unsafe_free!, made)
end

# The garbage collector does not know the size of the library's memory. A collection is therefore
# started explicitly when that memory has grown by GROWTH_LIMIT bytes, or when an allocation fails.
const GROWTH_LIMIT = Ref(Int(min(Sys.total_memory() ÷ 8, 2^30)))
const GROWTH = Threads.Atomic{Int}(0)

function count_growth(bytes::Integer)
    Threads.atomic_add!(GROWTH, Int(bytes)) + bytes > GROWTH_LIMIT[] || return nothing
    GROWTH[] = 0
    GC.gc(false)
    poll()
    return nothing
end

# Runs `allocate`. If there is not enough memory, collects garbage and runs `allocate` once more.
function with_collection(allocate::Function)
    try
        return allocate()
    catch e
        e isa GufuncError && ran_out(e.status) || rethrow()
    end
    collect_all()
    return allocate()
end

reversed(dims::NTuple{N,<:Integer}) where {N} = ntuple(i -> Int64(dims[N+1-i]), Val(N))

const ORDERS = (K=GUF_ORDER_KEEP, F=GUF_ORDER_C, C=GUF_ORDER_F, A=GUF_ORDER_ANY)

"""
    alloc(T, dims; device="cpu", order=:F, strides=nothing) -> GufArray

Allocates an array of unspecified values. The `order` is `:F` (column-major) or `:C` (row-major).
`strides` (in bytes, one per dimension) may be negative or leave gaps.
"""
function alloc(T, dims::Dims{N}; device="cpu", order::Symbol=:F, strides=nothing) where {N}
    code, place, out = dtype(T), device_handle(device), Ref{guf_array}(C_NULL)
    shape = Int64[reversed(dims)...]
    steps = strides === nothing ? C_NULL : Int64[reversed(Tuple(strides))...]
    count_growth(sizeof(element_type(code)) * prod(map(Int, dims)))
    with_collection() do
        @check guf_array_alloc(place, code, Int32(N), shape, steps,
                               chosen(ORDERS, order, "order"), out) N
    end
    return GufArray(out[])
end

GufArray{T}(::UndefInitializer, dims::Dims; device="cpu") where {T} = alloc(T, dims; device=device)
GufArray{T}(::UndefInitializer, dims::Integer...; device="cpu") where {T} =
    alloc(T, map(Int, dims); device=device)
GufArray{T,N}(::UndefInitializer, dims::Dims{N}; device="cpu") where {T,N} =
    alloc(T, dims; device=device)

# A deep copy is on the same device and does not share memory with the original.
Base.deepcopy_internal(x::GufArray, known::IdDict) = get!(() -> copy(x), known, x)::typeof(x)

Base.size(x::GufArray) = x.size
Base.similar(x::GufArray, ::Type{S}, dims::Dims) where {S} = alloc(S, dims; device=where_of(x))
Base.elsize(::Type{<:GufArray{T}}) where {T} = sizeof(T)
function Base.strides(x::GufArray{T}) where {T}
    all(s -> s % sizeof(T) == 0, x.byte_strides) || throw(ArgumentError(
        "strides of $(x.byte_strides) bytes are not multiples of the element's $(sizeof(T))"))
    return map(s -> s ÷ sizeof(T), x.byte_strides)
end

# The device on which a similar array is allocated. For wrapped host memory this is the cpu.
where_of(x::GufArray) = x.device.handle == C_NULL ? nothing : x.device

"Whether `x` is in memory that the host can access."
on_host(x::GufArray) = is_host_accessible(x.device.handle)
read_only(x::GufArray) = x.flags & GUF_ARRAY_READ_ONLY != 0
"Whether `x` is contiguous and column-major."
is_f_contiguous(x::GufArray) = x.flags & GUF_ARRAY_C_CONTIGUOUS != 0
"Whether `x` is contiguous and row-major."
is_c_contiguous(x::GufArray) = x.flags & GUF_ARRAY_F_CONTIGUOUS != 0
"Whether `x` has non-native byte order."
swapped(x::GufArray) = x.flags & GUF_ARRAY_SWAPPED != 0

"""
    array_info(x)

`(dtype, ndim, flags, address, size, nbytes, device, shape, strides)` as the library stores them:
`shape` and `strides` (in bytes) are in the reverse of Julia's order.
"""
function array_info(@nospecialize(x::GufArray))
    info = sized(guf_array_info)
    @check guf_array_get_info(x.handle, info)
    i = info[]
    return (dtype=i.dtype, ndim=Int(i.ndim), flags=i.flags, address=i.address, size=Int(i.size),
            nbytes=Int(i.nbytes), device=Device(i.device), shape=i.shape[1:i.ndim],
            strides=i.strides[1:i.ndim])
end

"""
    synchronize(x::GufArray; timeout=Inf) -> Bool

Waits for all work of the library that uses the memory of `x`, on any stream, including the default
stream of the device. Afterwards the host may access the memory. Returns `false` if work is still
running after `timeout` seconds. Failures of the work are reported by `synchronize` of the stream or
device, and not by this function. Other tasks run meanwhile.
"""
synchronize(x::GufArray; timeout::Real=Inf) =
    wait_in_slices(timeout) do left
        untracked_work() ? GUF_TIMEOUT : @check(guf_array_synchronize(x.handle, left))
    end

function element_address(x::GufArray{T}, places) where {T}
    x.handle == C_NULL && throw(GufuncError(GUF_E_HANDLE, "the array was freed"))
    on_host(x) || throw(GufuncError(GUF_E_DEVICE_MISMATCH, "an element of an array on " *
        "$(x.device) cannot be indexed; Array(x) copies all of it, x[range] a part"))
    STREAMS[] == 0 || synchronize(x)
    return Ptr{T}(x.address + reduce(+, map((i, s) -> (i - 1) * s, places, x.byte_strides); init=0))
end

Base.@propagate_inbounds function Base.getindex(x::GufArray{T,N}, I::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(x, I...)
    value = GC.@preserve x unsafe_load(element_address(x, I))
    return swapped(x) ? swapped_bytes(value) : value
end

# Indices of other integer types. `to_indices` rejects Bool.
Base.@propagate_inbounds Base.getindex(x::GufArray{T,N}, I::Vararg{Integer,N}) where {T,N} =
    x[to_indices(x, I)...]
Base.@propagate_inbounds Base.setindex!(x::GufArray{T,N}, v, I::Vararg{Integer,N}) where {T,N} =
    setindex!(x, v, to_indices(x, I)...)

Base.@propagate_inbounds function Base.setindex!(x::GufArray{T,N}, v, I::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(x, I...)
    read_only(x) && throw(GufuncError(GUF_E_READ_ONLY, "the array is read-only"))
    value = convert(T, v)::T
    GC.@preserve x unsafe_store!(element_address(x, I), swapped(x) ? swapped_bytes(value) : value)
    return x
end

swapped_bytes(x::T) where {T<:Complex} = T(swapped_bytes(real(x)), swapped_bytes(imag(x)))
swapped_bytes(x::Time64) = typeof(x)(bswap(x.value))
swapped_bytes(x::Bool) = x
swapped_bytes(x::T) where {T} = bswap(x)

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

# Copies between arrays, element types, devices and the host.

"""
    copy(x::GufArray; order=:K, stream=current) -> GufArray

A copy on the same device. `order` is the memory order of the copy: `:K` for the order of `x`, `:F`
for column-major, `:C` for row-major, `:A` for column-major or row-major.
"""
function Base.copy(x::GufArray; order::Symbol=:K, stream=current_stream())
    count_growth(length(x) * sizeof(eltype(x)))
    return allocated() do out
        @check guf_array_copy(x.handle, chosen(ORDERS, order, "order"), stream_handle(stream), out)
    end
end

function allocated(make::Function)
    out = Ref{guf_array}(C_NULL)
    with_collection(() -> make(out))
    return GufArray(out[])
end

"""
    astype(x, T; casting=:unsafe, order=:K, stream=current) -> GufArray

A copy of `x` with another element type.
"""
function astype(x::GufArray, T; casting=:unsafe, order::Symbol=:K, stream=current_stream())
    return allocated() do out
        @check guf_array_astype(x.handle, dtype(T), chosen(CASTINGS, casting, "casting"),
                                chosen(ORDERS, order, "order"), stream_handle(stream), out)
    end
end

"""
    assign!(destination, source; casting=:same_kind, stream=current) -> destination

Copies elements, with the broadcasting and casting of a call. Both arrays must be on the same device
or both in host memory. If they overlap, the result is as if `source` had been copied first.
"""
function assign!(destination, source; casting=:same_kind, stream=UNNAMED)
    rule = chosen(CASTINGS, casting, "casting")
    with_array(destination) do to
        with_array(source) do from
            @check guf_array_assign(to.handle, from.handle, rule,
                                    stream_handle(named(stream)))
        end
    end
    plain(destination, source) && keep_or_wait!(named(stream), stream, destination, source)
    return destination
end

# Whether one of the operands uses memory of Julia.
plain(operands...) = any(x -> !(x isa GufArray), operands)

# Calls `act` with `x` as an array of the library. A temporary array is freed immediately, because
# its finalizer may run late. Queued work keeps the array and the memory of `x` alive.
function with_array(act, x)
    array = as_array(x)
    result = act(array)
    array === x || unsafe_free!(array)
    return result
end

as_array(x::LibraryArray) = materialized(x)
as_array(x::AbstractArray) = wrapped(strided(x))
as_array(x::Tensor) = wrapped(x)
strided(x::Union{Borrowable,Transposed,TransposedView}) = x
strided(x::AbstractArray) = Array(x)

"""
    fill!(x::GufArray, value; stream=current)

Sets every element to `value`. A number is converted to the element type by Julia's rules;
throws `InexactError` if the number does not fit. `Scalar(value)` is cast by NumPy's `unsafe`
casting.
"""
function Base.fill!(x::GufArray, value; stream=current_stream())
    frame = Ref{NTuple{6,UInt64}}()
    GC.@preserve frame begin
        slot = Ptr{UInt64}(pointer_from_objref(frame))
        put(slot, slot, operand(fitting(eltype(x), value)))
        @check guf_array_fill(x.handle, Ptr{guf_operand}(slot), stream_handle(stream))
    end
    return x
end

fitting(T, value) = value
fitting(::Type{T}, value::Number) where {T<:Number} = Scalar(convert(T, value))

"""
    to_device(x, device; stream=current, out=nothing) -> GufArray

Copies `x`, a `GufArray` or a Julia array, to a device, which may be `"cpu"`. Copies into `out` if
it is given. Without a stream, a copy from or to host memory is complete on return.
"""
function to_device(x, where_to; stream=UNNAMED, out=nothing)
    made = copied_to(device_handle(where_to), x, named(stream), out)
    plain(x) && keep_or_wait!(named(stream), stream, x)
    return made
end

function copied_to(place, x, stream, out)
    return with_array(x) do source
        out === nothing || return (copy_to_device!(source, place, stream, Ref(out.handle)); out)
        count_growth(length(source) * sizeof(eltype(source)))
        return allocated(made -> copy_to_device!(source, place, stream, made))
    end
end

copy_to_device!(source, place, stream, inout) =
    @check guf_array_to_device(source.handle, place, stream_handle(stream), inout)

GufArray(A::AbstractArray; device="cpu") = to_device(A, device)
GufArray{T}(A::AbstractArray; device="cpu") where {T} = to_device(convert(Array{T}, A), device)

"""
    copy_to_host!(A::Array, x; stream=current) -> A

Copies elements into a Julia array of the same size and element type. The copy is complete on
return, unless `stream=` names a stream. With a stream, the copy is complete when the stream is
synchronized, and `A` is kept alive until then.
"""
function copy_to_host!(A::Array{T,N}, x::GufArray{T,N}; stream=UNNAMED) where {T,N}
    equal_sizes(A, x)
    on = named(stream)
    on === nothing && wait_for_untracked_work()
    GC.@preserve A begin
        @check guf_array_copy_to_host(x.handle, Ptr{Cvoid}(pointer(A)), UInt64(sizeof(A)),
                                      GUF_ORDER_C, stream_handle(on))
        keep_or_wait!(on, stream, A)
    end
    return A
end

"Copies `x` to a new Julia array, as `Array(x)` and `collect(x)` do. Complete on return."
copy_to_host(x::GufArray{T,N}) where {T,N} = Array{T,N}(x)
function Base.Array{T,N}(x::GufArray{S,N}) where {T,S,N}
    copied = copy_to_host!(Array{S,N}(undef, size(x)), x; stream=nothing)
    return S === T ? copied : convert(Array{T,N}, copied)
end
Base.Array(x::GufArray{T,N}) where {T,N} = Array{T,N}(x)
Base.Array{T}(x::GufArray{S,N}) where {T,S,N} = Array{T,N}(x)
Base.collect(x::GufArray) = Array(x)

Base.copyto!(A::Array{T,N}, x::GufArray{T,N}) where {T,N} = copy_to_host!(A, x)
Base.copyto!(A::Array, x::GufArray) = copyto!(A, Array(x))
function Base.copyto!(x::GufArray, A::Union{Array,GufArray})
    equal_sizes(A, x)
    A isa GufArray && return assign!(x, A; casting=:unsafe)
    eltype(A) === eltype(x) && return to_device(A, x.device; out=x)
    return copyto!(x, convert(Array{eltype(x)}, A))
end

equal_sizes(A, x) = size(A) == size(x) ||
    throw(GufuncError(GUF_E_SHAPE, "size of the array: expected $(size(x)), got $(size(A))"))

"""
    printed(x) -> String

A text with the elements in NumPy's format and in the library's order of dimensions, followed by the
shape, dtype and device.
"""
function printed(x::GufArray)
    wait_for_untracked_work()
    return text_of((letters, length, kept) ->
        LibGufunc.guf_array_print(x.handle, letters, length, kept))
end

Base.show(io::IO, x::GufArray) = show(io, Array(x))
function Base.show(io::IO, kind::MIME"text/plain", x::GufArray{T,N}) where {T,N}
    if x.handle == C_NULL
        return print(io, "GufArray{$T,$N}, freed")
    end
    place = where_of(x)
    print(io, join(size(x), "×"), " GufArray{$T,$N} on ", place === nothing ? "host" :
                                                      device_info(place).spec, ":\n")
    Base.print_array(io, Array(x))
end
