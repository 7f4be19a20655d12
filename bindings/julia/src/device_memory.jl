# SPDX-License-Identifier: Apache-2.0
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
