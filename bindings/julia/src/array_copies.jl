# SPDX-License-Identifier: Apache-2.0
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
