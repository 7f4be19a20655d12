# SPDX-License-Identifier: Apache-2.0
# DLPack: exchange of arrays with other libraries in the process, without a copy.

"A pointer to a tensor of DLPack 1.x (`DLManagedTensorVersioned *`) or 0.x (`DLManagedTensor *`)."
const DLPackPointer = Union{Ptr{guf_dlpack},Ptr{guf_dlpack_unversioned}}

const DLPACK_STREAMS = (legacy=GUF_DLPACK_LEGACY_STREAM, per_thread=GUF_DLPACK_PER_THREAD_STREAM)

# Converts the argument `ready_on` or `consumer` to a stream handle and a flag for the C interface.
# The vendor's default streams have a flag and no handle.
partner(::Nothing) = (guf_stream(C_NULL), UInt32(0))
partner(s::Stream) = (stream_handle(s), UInt32(0))
partner(name::Symbol) = (guf_stream(C_NULL), UInt32(chosen(DLPACK_STREAMS, name, "a stream")))

"""
    from_dlpack(managed::Ptr; ready_on=nothing) -> GufArray
    from_dlpack(managed::Ptr{Cvoid}; versioned, ready_on=nothing) -> GufArray

An array over a tensor of another library. `managed` points to a `DLManagedTensorVersioned`
(`Ptr{Gufunc.guf_dlpack}`) or a `DLManagedTensor` (`Ptr{Gufunc.guf_dlpack_unversioned}`); for an
untyped pointer, `versioned` selects the type of the tensor. The dimensions of the tensor are
reversed, as everywhere in this package.

The call takes ownership of the tensor, even if it throws. The deleter of the tensor runs once, when
no array, view or queued work uses the memory. It runs on any thread that calls the library,
possibly in a finalizer.

`ready_on` is the stream whose work fills the memory: a `Stream`, or `:legacy` or `:per_thread` for
the vendor's streams without a handle. Work that is queued later on the default stream of the device
runs after the work of `ready_on`. The call itself does not wait. `nothing` means that the values
are complete. For host memory, `ready_on` must be `nothing`.
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

A tensor over the memory of `x`, a `GufArray` or a strided Julia array, for another library. The
result is a `Ptr{Gufunc.guf_dlpack}`, which points to a `DLManagedTensorVersioned`, or with
`versioned=false` a `Ptr{Gufunc.guf_dlpack_unversioned}`, which points to a `DLManagedTensor`. The
dimensions of the tensor are the dimensions of `x`, reversed. The caller owns the tensor until
another library consumes it or `delete_dlpack` is called. `x` is kept alive until then.

`consumer` is the stream that will read the memory; it accepts the same values as `ready_on` of
`from_dlpack`. The consumer stream waits for the work that is already queued on the default stream
of the device. With `nothing`, no stream waits. `copied` informs the other library that the memory
is a copy for its exclusive use.
Errors: `GUF_E_DTYPE` for datetime types, structured dtypes and elements in non-native byte order;
`GUF_E_UNSUPPORTED` for strides that are not multiples of the element size; `GUF_E_READ_ONLY` for
read-only arrays with `versioned=false`.
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

"Calls the deleter of a tensor that no library consumed, which is allowed at most once."
function delete_dlpack(managed::DLPackPointer)
    managed == C_NULL && return nothing
    deleter = unsafe_load(managed).deleter
    deleter == C_NULL || ccall(deleter, Cvoid, (Ptr{Cvoid},), managed)
    return nothing
end
