# SPDX-License-Identifier: Apache-2.0
# Streams, in-order queues of a device's work, and events, marks in them.

"""
    Stream(device="cpu")
    Stream(f, device="cpu")

An in-order queue of a device's work. With a function (a `do` block) it is the current stream of the
block, is synchronized at its end, then freed:

    Stream("cuda:0") do s
        C = add.(A, B)
    end

Work on a stream keeps Julia arrays and results that it uses alive until `synchronize`.
"""
mutable struct Stream
    handle::guf_stream
    device::Device
    kept::Vector{Any}
    guard::Threads.SpinLock
    Stream(handle::guf_stream, d::Device) =
        finalizer(unsafe_free!, new(handle, d, Any[], Threads.SpinLock()))
end

function Stream(d::Union{Device,AbstractString}="cpu")
    chosen = device(d)
    out = Ref{guf_stream}(C_NULL)
    @check guf_stream_create(chosen.handle, 0x00000000, out)
    return Stream(out[], device_of(out[]))
end

# Of "auto" it is the device that was chosen.
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
    finally
        unsafe_free!(s)
    end
end

"""
    adopt_stream(device, native) -> Stream

Makes a stream of a `CUstream` or `hipStream_t`, which stays the program's and has to outlive it.
"""
function adopt_stream(d::Device, native::Integer)
    out = Ref{guf_stream}(C_NULL)
    @check guf_stream_adopt(d.handle, UInt64(native), 0x00000000, out)
    return Stream(out[], d)
end

"The vendor's handle of a stream, or of a device's own one: borrowed, as a number."
function native_handle(x::Union{Stream,Device})
    out = Ref(UInt64(0))
    stream, d = x isa Stream ? (stream_handle(x), C_NULL) : (C_NULL, x.handle)
    GC.@preserve x @check guf_stream_get_native(d, stream, out)
    return out[]
end

"""
    unsafe_free!(x)

Gives an array, stream, event or other object of the library back now, not when the collector finds
it. It cannot be used afterwards. Work that uses it goes on.
"""
function unsafe_free!(s::Stream)
    freed, s.handle = s.handle, C_NULL
    freed == C_NULL || finish!(Unfinished(freed, s.kept))
    return nothing
end

# A stream that the program has let go of: what its work uses stays until that is done.
mutable struct Unfinished
    handle::guf_stream
    kept::Vector{Any}
end

# A finalizer may neither wait nor take locks: one that comes too early comes again.
function finish!(u::Unfinished)
    if !isempty(u.kept) && LibGufunc.guf_stream_query(u.handle, C_NULL) == GUF_NOT_READY
        finalizer(finish!, u)
    else
        LibGufunc.guf_stream_release(u.handle, C_NULL)
    end
    return nothing
end

# Julia objects that queued work uses, told behind the call that queued it; dropped when the stream
# is seen idle. What another thread is about to queue is not among them yet.
function keep!(s::Stream, objects...)
    lock(s.guard) do
        length(s.kept) > 64 && LibGufunc.guf_stream_query(s.handle, C_NULL) == GUF_OK &&
            empty!(s.kept)
        push!(s.kept, objects)
    end
    return nothing
end
keep!(::Nothing, objects...) = nothing

"""
    synchronize(s::Stream; timeout=Inf) -> Bool

Waits until everything queued so far is done; `false` after `timeout` seconds, and then nothing is
lost. Throws the first failure of the stream's work since the last report. Other tasks run
meanwhile.
"""
function synchronize(s::Stream; timeout::Real=Inf)
    before = lock(() -> length(s.kept), s.guard)
    done = wait_in_slices(left -> @check(guf_stream_synchronize(stream_handle(s), left)), timeout)
    done && lock(() -> deleteat!(s.kept, 1:min(before, length(s.kept))), s.guard)
    return done
end

"Whether all queued work is done. Reports no failure of it."
Base.isready(s::Stream) = @check(guf_stream_query(stream_handle(s))) == GUF_OK

# How many blocks with a current stream there are: none is the usual case, and costs no look-up.
const SCOPED = Threads.Atomic{Int}(0)

@inline current_stream() = SCOPED[] == 0 ? nothing : scoped_stream()
# Its type is told: what is given the stream would else be called by a look-up of its types.
@noinline scoped_stream() =
    get(task_local_storage(), :gufunc_stream, nothing)::Union{Nothing,Stream}

"""
    with_stream(f, s::Stream)

Runs `f()` with `s` as the stream of all calls of this task that name none.
"""
function with_stream(f::Function, s::Stream)
    Threads.atomic_add!(SCOPED, 1)
    try
        return task_local_storage(f, :gufunc_stream, s)
    finally
        Threads.atomic_sub!(SCOPED, 1)
    end
end

@inline stream_handle(::Nothing) = guf_stream(C_NULL)
# A freed stream would be none: work would go on without its order.
@inline stream_handle(s::Stream) = s.handle == C_NULL ? freed("stream") : s.handle
@noinline freed(what) = throw(GufuncError(GUF_E_HANDLE, "the $what was freed"))

"""
    Event(device="cpu")

A mark in a stream: `record(e, s)` places it, `wait_event(s, e)` makes another stream wait for it,
`wait(e)` the program.
"""
mutable struct Event
    handle::guf_event
    function Event(d::Union{Device,AbstractString}="cpu")
        out = Ref{guf_event}(C_NULL)
        @check guf_event_create(device(d).handle, 0x00000000, out)
        return finalizer(unsafe_free!, new(out[]))
    end
end

function unsafe_free!(e::Event)
    freed, e.handle = e.handle, C_NULL
    freed == C_NULL || LibGufunc.guf_event_release(freed, C_NULL)
    return nothing
end

"Marks the present end of a stream. A second record moves the mark."
function record(e::Event, s::Stream)
    @check guf_event_record(e.handle, stream_handle(s))
    return e
end

"Makes later work of `s` wait for `e`; returns at once."
function wait_event(s::Stream, e::Event)
    @check guf_stream_wait_event(stream_handle(s), e.handle)
    return s
end

"Whether the mark is reached. Throws the stream's failure if it had failed before the record."
Base.isready(e::Event) = @check(guf_event_query(e.handle)) == GUF_OK

"""
    wait(e::Event; timeout=Inf) -> Bool

Waits for the mark; `false` after `timeout` seconds. Other tasks run meanwhile.
"""
Base.wait(e::Event; timeout::Real=Inf) =
    wait_in_slices(left -> @check(guf_event_wait(e.handle, left)), timeout)

"""
    elapsed(from::Event, to::Event) -> Float64

Milliseconds between two recorded events of one device; `NaN` while one of them is not reached.
"""
function elapsed(from::Event, to::Event)
    out = Ref(0.0)
    return @check(guf_event_elapsed(from.handle, to.handle, out)) == GUF_OK ? out[] : NaN
end
