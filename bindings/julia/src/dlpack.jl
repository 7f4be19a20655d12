# SPDX-License-Identifier: Apache-2.0
# DLPack: arrays from and for other libraries of the process, without a copy.

"A pointer to a tensor of DLPack 1.x (`DLManagedTensorVersioned *`) or 0.x (`DLManagedTensor *`)."
const DLPackPointer = Union{Ptr{guf_dlpack},Ptr{guf_dlpack_unversioned}}

const DLPACK_STREAMS = (legacy=GUF_DLPACK_LEGACY_STREAM, per_thread=GUF_DLPACK_PER_THREAD_STREAM)

# The stream of another library, and the flag for one that has no handle.
partner(::Nothing) = (guf_stream(C_NULL), UInt32(0))
partner(s::Stream) = (stream_handle(s), UInt32(0))
partner(name::Symbol) = (guf_stream(C_NULL), UInt32(chosen(DLPACK_STREAMS, name, "a stream")))

"""
    from_dlpack(managed::Ptr; ready_on=nothing) -> GufArray
    from_dlpack(managed::Ptr{Cvoid}; versioned, ready_on=nothing) -> GufArray

An array over a tensor of another library. `managed` points to a `DLManagedTensorVersioned`
(`Ptr{Gufunc.guf_dlpack}`) or a `DLManagedTensor` (`Ptr{Gufunc.guf_dlpack_unversioned}`); of an
untyped pointer `versioned` says which. Dimensions are the tensor's reversed, as everywhere.

The tensor is taken in every case, also when this throws: its deleter runs once, when no array, view
or queued work uses the memory, on any thread that calls the library, in a finalizer as well.

`ready_on` is the stream whose work fills the memory: a `Stream`, or `:legacy` or `:per_thread` for
the vendor's streams without a handle. What the device is given without a stream later comes behind
it; nothing waits here. `nothing`: the values are there. Host memory takes no stream.
"""
function from_dlpack(managed::DLPackPointer; ready_on=nothing)
    stream, flags = try
        partner(ready_on)
    catch
        delete_dlpack(managed)
        rethrow()
    end
    out = Ref{guf_array}(C_NULL)
    GC.@preserve ready_on import_dlpack(managed, stream, flags, out)
    return GufArray(out[])
end

from_dlpack(managed::Ptr{Cvoid}; versioned::Bool, ready_on=nothing) =
    from_dlpack(versioned ? Ptr{guf_dlpack}(managed) : Ptr{guf_dlpack_unversioned}(managed);
                ready_on=ready_on)

import_dlpack(managed::Ptr{guf_dlpack}, stream, flags, out) =
    @check guf_array_from_dlpack(managed, stream, flags, out)
import_dlpack(managed::Ptr{guf_dlpack_unversioned}, stream, flags, out) =
    @check guf_array_from_dlpack_unversioned(managed, stream, flags, out)

"""
    to_dlpack(x; versioned=true, consumer=nothing, copied=false) -> Ptr

A tensor over the memory of `x`, a `GufArray` or a strided array of Julia, for another library: a
`Ptr{Gufunc.guf_dlpack}`, which points to a `DLManagedTensorVersioned`, or with `versioned=false` a
`Ptr{Gufunc.guf_dlpack_unversioned}`, to a `DLManagedTensor`. Its dimensions are those of `x`
reversed. It is the caller's until it is given away or `delete_dlpack` was called; `x` lives that
long.

`consumer` is the stream that will read it, as `ready_on` of `from_dlpack`: it waits for what the
device was given without a stream so far. `nothing`: nobody waits. `copied` tells the other library
that nobody else sees the memory. Refused: times, records and elements in the other byte order
(`GUF_E_DTYPE`), strides that are no multiples of the element (`GUF_E_UNSUPPORTED`), read-only
arrays without a version (`GUF_E_READ_ONLY`).
"""
function to_dlpack(x; versioned::Bool=true, consumer=nothing, copied::Bool=false)
    stream, flags = partner(consumer)
    flags |= copied ? GUF_DLPACK_COPIED : UInt32(0)
    out = versioned ? Ref(Ptr{guf_dlpack}(C_NULL)) : Ref(Ptr{guf_dlpack_unversioned}(C_NULL))
    GC.@preserve consumer with_array(array -> export_dlpack(array.handle, stream, flags, out), x)
    return out[]
end

export_dlpack(array, stream, flags, out::Ref{Ptr{guf_dlpack}}) =
    @check guf_array_to_dlpack(array, stream, flags, out)
export_dlpack(array, stream, flags, out::Ref{Ptr{guf_dlpack_unversioned}}) =
    @check guf_array_to_dlpack_unversioned(array, stream, flags, out)

"Calls the deleter of a tensor that nobody else has taken, once."
function delete_dlpack(managed::DLPackPointer)
    managed == C_NULL && return nothing
    deleter = unsafe_load(managed).deleter
    deleter == C_NULL || ccall(deleter, Cvoid, (Ptr{Cvoid},), managed)
    return nothing
end
