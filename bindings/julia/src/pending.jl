# SPDX-License-Identifier: Apache-2.0
# The objects that queued work uses. A program may drop a stream while the stream's work runs. The
# objects that the work reads and writes are therefore kept alive by the entries of PENDING and not
# by the Stream.

# A stream that may have work. The record holds its own reference to the stream, and the Julia
# objects that the work uses. Objects are added to `kept` after a call, so all objects in `kept`
# belong to work that is queued.
mutable struct Pending
    stream::guf_stream
    kept::Vector{Any}
    dropped::Bool
    untracked::Bool # a launch passed only addresses, whose arrays the library does not know
end

# PENDING has an entry for every stream. The entry is removed when the stream is known to be dropped
# and idle. Finalizers do not acquire the lock; they only mark an entry.
const PENDING = Pending[]
const PENDING_LOCK = Threads.SpinLock()
const STREAMS = Threads.Atomic{Int}(0) # length(PENDING)

function listed(stream::guf_stream)
    sweep()
    @check guf_stream_retain(stream)
    entry = Pending(stream, Any[], false, false)
    lock(() -> push!(PENDING, entry), PENDING_LOCK)
    Threads.atomic_add!(STREAMS, 1)
    return entry
end

# Releases streams that were dropped and whose work is done.
function sweep()
    finished = lock(PENDING_LOCK) do
        found = filter(is_over, PENDING)
        filter!(entry -> !(entry in found), PENDING)
        return found
    end
    for entry in finished
        Threads.atomic_sub!(STREAMS, 1)
        LibGufunc.guf_stream_release(entry.stream, C_NULL)
    end
    return nothing
end

# Marks the entry of a released stream as dropped. For other objects it does nothing.
dropped!(x) = nothing

is_over(entry::Pending) = entry.dropped &&
    !(LibGufunc.guf_stream_query(entry.stream, C_NULL) in (GUF_NOT_READY, GUF_E_CAPTURE))

function keep!(entry::Pending, objects)
    kept = (objects, fix_size!(objects))
    lock(PENDING_LOCK) do
        length(entry.kept) > 64 && LibGufunc.guf_stream_query(entry.stream, C_NULL) == GUF_OK &&
            empty!(entry.kept)
        push!(entry.kept, kept)
    end
    return nothing
end

kept_count(entry::Pending) = lock(() -> length(entry.kept), PENDING_LOCK)

# The objects in `kept` from index `first` to the end.
kept_from(entry::Pending, first) = lock(() -> entry.kept[min(first, end + 1):end], PENDING_LOCK)

# Whether work is running that uses memory unknown to the library, because the program passed only
# addresses for it.
untracked_work() = STREAMS[] != 0 && lock(() -> any(runs_untracked, PENDING), PENDING_LOCK)
runs_untracked(entry::Pending) =
    entry.untracked && LibGufunc.guf_stream_query(entry.stream, C_NULL) == GUF_NOT_READY

# Waits for the work that untracked_work reports. `synchronize` reports the failures of this work.
function wait_for_untracked_work()
    while untracked_work()
        yield()
    end
end

# Releases the first `count` objects in `kept`, because the work that uses them is done.
function let_go!(entry::Pending, count)
    lock(PENDING_LOCK) do
        deleteat!(entry.kept, 1:min(count, length(entry.kept)))
    end
    return nothing
end

# Makes resize!, push! and similar functions throw for the vectors among `x`, because they would
# move memory that queued work uses. fix_size! makes and returns arrays that are reshaped from the
# vectors, because a vector that shares its memory with a reshaped array cannot be resized. Julia
# 1.11 permits the resize, but the reshaped array keeps the memory alive.
fix_size!(x) = nothing
fix_size!(x::Vector) = reshape(x, length(x), 1)
fix_size!(x::Union{Tuple,Vector{Any}}) = Any[fix_size!(part) for part in x]
fix_size!(x::AbstractArray) = parent(x) === x ? nothing : fix_size!(parent(x))
