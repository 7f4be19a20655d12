# SPDX-License-Identifier: Apache-2.0
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

