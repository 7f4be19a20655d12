# SPDX-License-Identifier: Apache-2.0
# References to objects of the library: each Julia object has one, in its field `handle`.

"""
    unsafe_free!(x)

Gives an array, stream, event or other object of the library back now, not when the collector finds
it. It cannot be used afterwards. Work that uses it goes on.
"""
function unsafe_free! end

# It runs in finalizers as well: it neither waits nor takes a lock.
for (Owner, release) in
    ((Context, :guf_context_release), (Stream, :guf_stream_release), (Event, :guf_event_release),
     (GufArray, :guf_array_release), (UFunc, :guf_ufunc_release), (Plan, :guf_plan_release),
     (Graph, :guf_graph_release), (GufModule, :guf_module_release), (Kernel, :guf_kernel_release))
    @eval function unsafe_free!(@nospecialize(x::$Owner))
        freed = getfield(x, :handle)
        setfield!(x, :handle, typeof(freed)(C_NULL))
        dropped!(x)
        freed == C_NULL || LibGufunc.$release(freed, C_NULL)
        return nothing
    end
end
