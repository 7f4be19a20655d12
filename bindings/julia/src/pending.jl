# SPDX-License-Identifier: Apache-2.0
# What queued work uses. A program may drop a stream while its work runs: what that work reads and
# writes is kept here, not by the Stream.

# A stream that may have work, with a reference of its own, and the Julia objects that this work
# uses. `kept` grows behind a call: all of it belongs to work that is queued already.
mutable struct Pending
    stream::guf_stream
    kept::Vector{Any}
    dropped::Bool
    blind::Bool # the library was given addresses alone, and does not know whose they are
end

# One entry for every stream that is not known to be both dropped and idle. Finalizers take no lock:
# they only mark an entry.
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

# Lets go of streams that were dropped and have done their work.
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

# What is told of an object that is given back.
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

# Those from number `first` on.
kept_from(entry::Pending, first) = lock(() -> entry.kept[min(first, end + 1):end], PENDING_LOCK)

# Whether work runs of which the library does not know what memory it uses.
blind_work() = STREAMS[] != 0 && lock(() -> any(runs_blind, PENDING), PENDING_LOCK)
runs_blind(entry::Pending) =
    entry.blind && LibGufunc.guf_stream_query(entry.stream, C_NULL) == GUF_NOT_READY

# Waits for it. Its failures are left to `synchronize`.
function settle_blind()
    while blind_work()
        yield()
    end
end

# Lets go of the first `count` objects, whose work is done.
function let_go!(entry::Pending, count)
    lock(PENDING_LOCK) do
        deleteat!(entry.kept, 1:min(count, length(entry.kept)))
    end
    return nothing
end

# Makes resize!, push! and the like refuse the vectors among these: they would move memory away
# from work that uses it. An array that shares its memory with a reshaped one is such. Julia 1.11
# lets it move; the reshaped one, which is what this gives, has the memory then.
fix_size!(x) = nothing
fix_size!(x::Vector) = reshape(x, length(x), 1)
fix_size!(x::Union{Tuple,Vector{Any}}) = Any[fix_size!(part) for part in x]
fix_size!(x::AbstractArray) = parent(x) === x ? nothing : fix_size!(parent(x))
