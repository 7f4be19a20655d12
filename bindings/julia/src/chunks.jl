# SPDX-License-Identifier: Apache-2.0
# Calls in chunks, on arrays that are larger than the memory of a device or of the host.

# The program's progress function.
struct Progress
    step::Any
end

function progress_entry(user::Ptr{Cvoid}, done::Int64, items::Int64)
    try
        return Int32(rooted(user).step(Int(done), Int(items)) === false)
    catch exception
        catch_for_caller(exception)
        return Int32(1)
    end
end

"""
    call_chunked!(f, out, inputs…; chunk_bytes=0, depth=0, first_item=0, done=nothing,
                  progress=nothing, keywords…) -> out

Applies a ufunc as `call!` does, in chunks along the last dimension that is longer than 1; an item
is one index of this dimension. Operands must be in host memory, which includes mapped files
(`Mmap.mmap`). Copies to the device, computation and copies to the host overlap.

- `chunk_bytes`: the size in bytes of the largest operand in a chunk; 0 means 8 MiB, or less if the
  device has less memory.
- `depth`: the number of chunks in progress at once, 1 to 16; 0 means 3.
- `progress`: called as `progress(done, items)` on the calling thread after each chunk, with the
  number of completed items and the number of all items. If it returns `false` or throws, the call
  stops with `GUF_E_CANCELLED`. An exception becomes the error's `cause`.
- `done`: a `Ref{Int64}` that receives the number of items whose outputs are complete, even if the
  call fails. To resume the call, pass this number as `first_item`.

The call is complete on return. The function accepts the keywords of `UFunc`, except `stream`.
"""
function call_chunked!(f::UFunc, out, inputs...; chunk_bytes=0, depth=0, first_item=0,
                       done=nothing, progress=nothing, keywords...)
    r = request(OF_CHUNKED, pairs_of(keywords))
    r.stream = nothing # also in a block with a current stream
    found(f)
    given, outputs, fp_flags = operands_of(inputs), outputs_of(out), r.fp_flags
    o = options(f, given, outputs, r)
    user = progress === nothing ? Ptr{Cvoid}(C_NULL) : root!(Progress(progress))
    entry = progress === nothing ? Ptr{Cvoid}(C_NULL) :
            @cfunction(progress_entry, Int32, (Ptr{Cvoid}, Int64, Int64))
    cut = Ref(guf_chunk_options(sizeof(guf_chunk_options), 0,
                                whole(UInt64, chunk_bytes, :chunk_bytes),
                                whole(Int32, depth, :depth), 0,
                                whole(Int64, first_item, :first_item), entry, user))
    items = done === nothing ? Ref(Int64(0)) : done
    try
        GC.@preserve fp_flags prepared(given, outputs, mask_of(r), r.stream, o) do args, slots
            @check guf_call_chunked(f.handle, args, cut, items) args
        end
    finally
        progress === nothing || unroot!(user)
    end
    return out
end
