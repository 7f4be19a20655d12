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
