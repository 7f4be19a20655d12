# SPDX-License-Identifier: Apache-2.0
# References to objects of the library. Each Julia object owns one reference, in its field `handle`.

"""
    unsafe_free!(x)

Releases an array, stream, event or other object of the library immediately, instead of when the
garbage collector runs. The object cannot be used afterwards. Queued work that uses it continues.
"""
function unsafe_free! end

# unsafe_free! also runs in finalizers. It therefore neither waits nor acquires a lock.
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
