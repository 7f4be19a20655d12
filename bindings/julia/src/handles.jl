# SPDX-License-Identifier: Apache-2.0
# References to objects of the library: how Julia releases them, which objects of Julia the library
# keeps alive, and what serialization and deepcopy do with them.

using Serialization: AbstractSerializer, Serialization

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

# Julia objects to which the library refers by a number. ROOTS keeps an object alive until the
# library releases the number.

const ROOTS = Dict{UInt,Any}()
const ROOTS_LOCK = Threads.SpinLock()
const LAST_ROOT = Ref(UInt(0))

# Returns the number of an object as a pointer, which is passed as the `user` pointer of callbacks.
function root!(object)
    lock(ROOTS_LOCK) do
        LAST_ROOT[] += 1
        ROOTS[LAST_ROOT[]] = object
        return Ptr{Cvoid}(LAST_ROOT[])
    end
end

rooted(user::Ptr{Cvoid}) = lock(() -> ROOTS[UInt(user)], ROOTS_LOCK)

function unroot!(user::Ptr{Cvoid})
    lock(() -> delete!(ROOTS, UInt(user)), ROOTS_LOCK)
    return nothing
end

unroot_memory(user::Ptr{Cvoid}, ::UInt64) = unroot!(user)

# Callbacks of the library run inside a call of the program and on the thread of the call. No thread
# that Julia did not create runs Julia code, because Julia before 1.9 would crash.
release_callback() = @cfunction(unroot_memory, Cvoid, (Ptr{Cvoid}, UInt64))
destroy_callback() = @cfunction(unroot!, Cvoid, (Ptr{Cvoid},))

# Serialization of objects of the library. It writes values or names, and never handles, because
# handles are valid only in this process.

# A deserialized array is in host memory, because the device may not exist on the machine that reads
# it.
function Serialization.serialize(s::AbstractSerializer, x::GufArray)
    Serialization.serialize_type(s, typeof(x))
    Serialization.serialize(s, Array(x))
end
Serialization.deserialize(s::AbstractSerializer, ::Type{<:GufArray}) =
    GufArray(Serialization.deserialize(s))

# Ufuncs and devices are written by name.
function Serialization.serialize(s::AbstractSerializer, f::UFunc)
    f.context === nothing || refuse_serial(f)
    Serialization.serialize_type(s, UFunc)
    Serialization.serialize(s, f.name)
end
Serialization.deserialize(s::AbstractSerializer, ::Type{UFunc}) =
    UFunc(Serialization.deserialize(s))

function Serialization.serialize(s::AbstractSerializer, d::Device)
    Serialization.serialize_type(s, Device)
    Serialization.serialize(s, device_info(d).spec)
end
Serialization.deserialize(s::AbstractSerializer, ::Type{Device}) =
    device(Serialization.deserialize(s))

refuse_serial(x) = throw(GufuncError(GUF_E_UNSUPPORTED,
                                     "a $(nameof(typeof(x))) belongs to this process: it cannot " *
                                     "be serialized"))
const OfProcess = Union{Context,Event,Graph,GufModule,Kernel,Plan,Stream,Tensor}
Serialization.serialize(::AbstractSerializer, x::OfProcess) = refuse_serial(x)

# Objects of these types are not copied, so deepcopy returns the object itself.
Base.deepcopy_internal(x::Union{OfProcess,UFunc}, ::IdDict) = x
