# SPDX-License-Identifier: Apache-2.0
# Streams, which are in-order queues of a device's work, events, which are points in streams, and
# graphs, which are work of a stream that is captured once and launched many times.

"""
    Stream(device="cpu")
    Stream(f, device="cpu")

An in-order queue of a device's work. With a function (a `do` block), the new stream is the current
stream of the block. At the end of the block, even if the block throws, the stream is synchronized
and freed:

    Stream("cuda:0") do s
        C = add.(A, B)
    end

A call that uses the current stream waits for the stream if one of its operands is a Julia array,
and is queued if all its arrays are `GufArray`s. With `stream=s`, every call is queued. Queued calls
may read and write Julia arrays until `synchronize(s)`. The arrays are kept alive until then, even
if the stream is dropped, and cannot be resized any more.
"""
mutable struct Stream
    handle::guf_stream
    device::Device
    pending::Pending
    Stream(handle::guf_stream, d::Device) =
        finalizer(unsafe_free!, new(handle, d, listed(handle)))
end

dropped!(s::Stream) = (s.pending.dropped = true; nothing)

function Stream(d::Union{Device,AbstractString}="cpu")
    chosen = device(d)
    out = Ref{guf_stream}(C_NULL)
    @check guf_stream_create(chosen.handle, 0x00000000, out)
    return Stream(out[], device_of(out[]))
end

# The device of a stream. For "auto" it is the device that the library chose.
function device_of(stream::guf_stream)
    out = Ref{guf_device}(C_NULL)
    @check guf_stream_get_device(stream, out)
    return Device(out[])
end

function Stream(f::Function, d::Union{Device,AbstractString}="cpu")
    s = Stream(d)
    try
        result = with_stream(() -> f(s), s)
        synchronize(s)
        return result
    catch
        finish(s)
        rethrow()
    finally
        unsafe_free!(s)
    end
end

# Waits for a stream and ignores failures, because an exception is already being thrown.
function finish(s::Stream)
    try
        synchronize(s)
    catch
    end
end

"""
    adopt_stream(device, native) -> Stream

Makes a stream over a `CUstream` or `hipStream_t`. The program owns the handle, which must outlive
the stream.
"""
function adopt_stream(d::Device, native::Integer)
    out = Ref{guf_stream}(C_NULL)
    @check guf_stream_adopt(d.handle, UInt64(native), 0x00000000, out)
    return Stream(out[], d)
end

"The vendor's handle of a stream or of a device's default stream, which the caller does not own."
function native_handle(x::Union{Stream,Device})
    out = Ref(UInt64(0))
    stream, d = x isa Stream ? (stream_handle(x), C_NULL) : (C_NULL, x.handle)
    GC.@preserve x @check guf_stream_get_native(d, stream, out)
    return out[]
end

# Keeps the objects alive that the most recently queued work uses; see Pending.
keep!(s::Stream, objects...) = keep!(s.pending, objects)
keep!(::Nothing, objects...) = nothing

"""
    synchronize(s::Stream; timeout=Inf) -> Bool

Waits until all work queued so far is done. Returns `false` if work is still running after `timeout`
seconds; the work continues. Throws the first failure of the stream's work since the last report.
Other tasks run meanwhile.
"""
function synchronize(s::Stream; timeout::Real=Inf)
    before = kept_count(s.pending)
    done = wait_in_slices(left -> @check(guf_stream_synchronize(stream_handle(s), left)), timeout)
    done && let_go!(s.pending, before)
    return done
end

"Whether all queued work is done. Does not report failures of the work."
Base.isready(s::Stream) = @check(guf_stream_query(stream_handle(s))) == GUF_OK

# The number of active blocks with a current stream. If it is 0, as usual, current_stream needs no
# look-up.
const SCOPED = Threads.Atomic{Int}(0)

"""
    current_stream()

The stream of the innermost `Stream(…) do` or `with_stream` block of this task, or `nothing`. Calls
without `stream=` use this stream.
"""
@inline current_stream() = SCOPED[] == 0 ? nothing : scoped_stream()
# The type assertion avoids dynamic dispatch in the functions that receive the stream.
@noinline scoped_stream() =
    get(task_local_storage(), :gufunc_stream, nothing)::Union{Nothing,Stream}

"""
    with_stream(f, s::Stream)

Runs `f()` with `s` as the current stream: the stream of all calls of this task without `stream=`.
"""
function with_stream(f::Function, s::Stream)
    Threads.atomic_add!(SCOPED, 1)
    try
        return task_local_storage(f, :gufunc_stream, s)
    finally
        Threads.atomic_sub!(SCOPED, 1)
    end
end

# The default of `stream=`: the caller did not pass a stream, and the current stream is used.
struct Unnamed end
const UNNAMED = Unnamed()
named(stream) = stream
named(::Unnamed) = current_stream()

# Called after work that uses memory of Julia. If the caller passed the stream, keeps the objects
# alive. Otherwise waits for the stream, because programs do not expect that a call accesses a Julia
# array after its return.
keep_or_wait!(stream, ::Unnamed, objects...) = stream === nothing || synchronize(stream)
keep_or_wait!(stream, _, objects...) = keep!(stream, objects...)

@inline stream_handle(::Nothing) = guf_stream(C_NULL)
# The null handle of a freed stream means "no stream", which would lose the order of the work.
@inline stream_handle(s::Stream) = s.handle == C_NULL ? freed("stream") : s.handle
stream_handle(x) =
    throw(GufuncError(GUF_E_ARG, "stream: expected a Stream or nothing, got $(repr(x))"))
@noinline freed(what) = throw(GufuncError(GUF_E_HANDLE, "the $what was freed"))

"""
    Event(device="cpu")

A point in a stream. `record(e, s)` records it, `wait_event(s, e)` makes another stream wait for it,
and `wait(e)` makes the program wait.
"""
mutable struct Event
    handle::guf_event
    function Event(d::Union{Device,AbstractString}="cpu")
        out = Ref{guf_event}(C_NULL)
        @check guf_event_create(device(d).handle, 0x00000000, out)
        return finalizer(unsafe_free!, new(out[]))
    end
end

"Records the event after the work already queued on a stream. It replaces an earlier record."
function record(e::Event, s::Stream)
    @check guf_event_record(e.handle, stream_handle(s))
    return e
end

"Makes work that is queued on `s` later wait for `e`. The call itself does not wait."
function wait_event(s::Stream, e::Event)
    @check guf_stream_wait_event(stream_handle(s), e.handle)
    return s
end

"Whether the event is reached. Throws the failure of a stream that failed before the record."
Base.isready(e::Event) = @check(guf_event_query(e.handle)) == GUF_OK

"""
    wait(e::Event; timeout=Inf) -> Bool

Waits for the event. Returns `false` if the event is not reached after `timeout` seconds. Other
tasks run meanwhile.
"""
Base.wait(e::Event; timeout::Real=Inf) =
    wait_in_slices(left -> @check(guf_event_wait(e.handle, left)), timeout)

"""
    elapsed(from::Event, to::Event) -> Float64

The milliseconds between two recorded events of one device; `NaN` if an event is not reached yet.
"""
function elapsed(from::Event, to::Event)
    out = Ref(0.0)
    return @check(guf_event_elapsed(from.handle, to.handle, out)) == GUF_OK ? out[] : NaN
end

# Graphs: work of a stream that is captured once and launched many times.

"Captured work. `capture` creates a graph, and `launch!` runs it."
mutable struct Graph
    handle::guf_graph
    stream::Stream
    kept::Vector{Any} # the Julia objects that the graph's work uses
end

"""
    capture(f, s::Stream) -> Graph
    capture(f, g::Graph, s::Stream) -> g

Records the work that `f()` queues on `s` instead of running it. `s` is the current stream during
`f()`. The work may be calls and copies that do not allocate, launches of plans, and events. Calls
with Julia arrays need `stream=s`. Without this keyword, a call with Julia arrays waits for the
stream, which is not possible during a capture. The second form replaces the work of a graph. The
cpu does not support graphs (`GUF_E_UNSUPPORTED`).
"""
function capture(f::Function, s::Stream)
    graph = Graph(C_NULL, s, Any[])
    capture(f, graph, s)
    return finalizer(unsafe_free!, graph)
end

function capture(f::Function, g::Graph, s::Stream)
    @check guf_stream_begin_capture(stream_handle(s))
    inout, before = Ref(g.handle), kept_count(s.pending)
    try
        with_stream(f, s)
    catch
        dropped = Ref{guf_graph}(C_NULL)
        LibGufunc.guf_stream_end_capture(stream_handle(s), dropped, C_NULL)
        LibGufunc.guf_graph_release(dropped[], C_NULL)
        rethrow()
    end
    @check guf_stream_end_capture(stream_handle(s), inout)
    g.handle = inout[]
    g.kept = kept_from(s.pending, before + 1)
    return g
end

"Queues a graph's work on a stream; the default is the stream on which it was captured."
function launch!(g::Graph, s::Stream=g.stream)
    @check guf_graph_launch(g.handle, stream_handle(s))
    isempty(g.kept) || keep!(s, g.kept)
    return nothing
end
