# SPDX-License-Identifier: Apache-2.0
# The devices and backends of this machine, the memory pools of devices, and host memory that
# devices can copy or access directly.

"""
    Device

A device: `device("cpu")`, `device("cuda:0")`, `device("auto")`. Devices with equal handles are
equal. A device does not have to be freed.
"""
struct Device
    handle::guf_device
end

"""
    device(spec; context=nothing) -> Device

Finds a device: `"cpu"`, `"cuda:0"`, `"roc:1"`, or `"auto"` for the first usable device. The first
use of a backend opens its driver. `GUF_E_NO_BACKEND` and the other 9xx statuses report why a device
is not available.
"""
function device(spec::AbstractString; context=nothing)
    out = Ref{guf_device}(C_NULL)
    @check guf_device_get(handle(context), String(spec), out)
    return Device(out[])
end
device(d::Device) = d

device_handle(::Nothing) = guf_device(C_NULL)
device_handle(d::Device) = d.handle
device_handle(spec::AbstractString) = device(spec).handle
device_handle(x) =
    throw(GufuncError(GUF_E_ARG, "device: expected a Device or its name, got $(repr(x))"))

"""
    adopt_device(spec, native) -> Device

Opens a CUDA device over a context of the program (a `CUcontext`). The device must not be open yet.
The program owns the context, which must outlive all use of the device.
"""
function adopt_device(spec::AbstractString, native::Integer)
    out = Ref{guf_device}(C_NULL)
    @check guf_device_adopt(String(spec), UInt64(native), out)
    return Device(out[])
end

"""
    device_info(d)

`(spec, backend, name, target, index, units, host_memory, memory_bytes)` of a device. `target`
selects the kernels, and `host_memory` states whether the host can access the device's memory.
"""
function device_info(d::Device)
    info = sized(guf_device_info)
    @check guf_device_get_info(d.handle, info)
    i = info[]
    return (spec=text(i.spec), backend=text(i.backend), name=text(i.name), target=text(i.target),
            index=Int(i.index), units=Int(i.units), host_memory=i.host_memory != 0,
            memory_bytes=i.memory_bytes)
end

Base.show(io::IO, d::Device) = print(io, "device(\"", device_info(d).spec, "\")")

# Caches for each device whether the host can access the memory of the device's arrays.
const HOST_ACCESSIBLE = Dict{guf_device,Bool}()
const HOST_ACCESSIBLE_LOCK = Threads.SpinLock()
function is_host_accessible(d::guf_device)
    d == C_NULL && return true
    known = lock(() -> get(HOST_ACCESSIBLE, d, nothing), HOST_ACCESSIBLE_LOCK)
    known === nothing || return known
    found = device_info(Device(d)).host_memory
    lock(() -> HOST_ACCESSIBLE[d] = found, HOST_ACCESSIBLE_LOCK)
    return found
end

"""
    backends(; probe=false)

Describes every backend that was found. If `probe` is true, first opens the backends and their
drivers, so that `state`, `ndevices` and `driver` are final. `reason` states why a backend cannot be
used.
"""
function backends(; probe::Bool=false)
    count = Ref(UInt32(0))
    @check guf_backend_count(count)
    return [backend_info(index, probe) for index in 0:Int(count[])-1]
end

function backend_info(index, probe)
    info = sized(guf_backend_info)
    @check guf_backend_get_info(UInt32(index), Int32(probe), info)
    i = info[]
    return (name=text(i.name), state=i.state, ndevices=Int(i.ndevices),
            priority=Int(i.priority), version=text(i.version), driver=text(i.driver),
            path=text(i.path), reason=text(i.reason), native_code=Int(i.native_code),
            abi_minor=Int(i.abi_minor))
end

"Loads a backend plugin by its absolute path, in addition to the search path."
function load_backend(path::AbstractString)
    @check guf_backend_load(String(path))
    return nothing
end

"Allows work on `d` to access the memory of `peer`, a device of the same backend."
function enable_peer(d::Device, peer::Device)
    @check guf_device_enable_peer(d.handle, peer.handle)
    return nothing
end

# Waits are divided into slices of 1 ms. Between the slices, other tasks and the garbage collector
# can run.
const SLICE = UInt64(1_000_000)

function wait_in_slices(wait, timeout::Real)
    finish = time() + timeout
    while true
        left = min(SLICE, nanoseconds(max(0.0, finish - time())))
        wait(left) == GUF_OK && return true
        time() >= finish && return false
        yield()
    end
end

"""
    synchronize(d::Device; timeout=Inf) -> Bool

Waits for the work on the default stream of `d`, which runs the calls without a stream. Returns
`false` if work is still running after `timeout` seconds. Throws the first failure of that work.
Other tasks run meanwhile.
"""
synchronize(d::Device; timeout::Real=Inf) =
    wait_in_slices(left -> @check(guf_device_synchronize(d.handle, left)), timeout)

# Host memory that devices can copy or access directly, and the memory pools of devices.

const HOST_MEMORY = (pinned=GUF_HOST_PINNED, mapped=GUF_HOST_MAPPED, managed=GUF_HOST_MANAGED)

"""
    alloc_host(T, dims; device, memory=:pinned, order=:F) -> GufArray

An array in host memory for use with a device: `:pinned` (page-locked, copied without staging),
`:mapped` (the device reads and writes it in place) or `:managed` (the driver migrates it to the
processor that accesses it).
"""
function alloc_host(T, dims::Dims{N}; device, memory::Symbol=:pinned,
                    order::Symbol=:F) where {N}
    shape = Int64[reversed(dims)...]
    place = device_handle(device)
    return allocated() do out
        @check guf_array_alloc_host(place, chosen(HOST_MEMORY, memory, "memory"), dtype(T),
                                    Int32(N), shape, C_NULL, chosen(ORDERS, order, "order"), out)
    end
end

"""
    with_registered(f, A::Array, device)

Runs `f()` with the memory of `A` page-locked for a device, so that copies need no staging.
"""
function with_registered(f::Function, A::Array, device)
    register_host(A, device)
    try
        return f()
    finally
        unregister_host(A, device)
    end
end

"Page-locks the memory of `A` until `unregister_host`. `A` must be kept alive until then."
function register_host(A::Array, device)
    @check guf_host_register(device_handle(device), UInt64(pointer(A)), UInt64(sizeof(A)))
    return nothing
end

"Ends the page-locking that `register_host` began."
function unregister_host(A::Array, device)
    @check guf_host_unregister(device_handle(device), UInt64(pointer(A)))
    return nothing
end

"""
    memory_info(device)

Statistics of the memory of arrays on a device: the sizes `live_bytes`, `peak_bytes`,
`cached_bytes`, `limit_bytes`, `free_bytes` and `total_bytes`, and the numbers of `allocations` and
`driver_allocations` so far. There are no statistics for the cpu.
"""
function memory_info(d)
    info = sized(guf_device_memory)
    @check guf_device_get_memory(device_handle(d), info)
    i = info[]
    requested = filter(n -> !(n in (:struct_size, :reserved)), fieldnames(guf_device_memory))
    return NamedTuple{requested}(map(n -> getfield(i, n), requested))
end

"Returns cached memory to the driver until at most `keep_bytes` are left."
function trim_memory(d, keep_bytes::Integer=0)
    @check guf_device_trim_memory(device_handle(d), UInt64(keep_bytes))
    return nothing
end

"Allocations beyond `limit_bytes` fail with `GUF_E_DEVICE_MEMORY`. `nothing` removes the limit."
function limit_memory(d, limit_bytes)
    @check guf_device_limit_memory(device_handle(d),
                                   limit_bytes === nothing ? typemax(UInt64) : UInt64(limit_bytes))
    return nothing
end
