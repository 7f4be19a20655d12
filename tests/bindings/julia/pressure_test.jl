# SPDX-License-Identifier: Apache-2.0
# Memory that nobody frees by hand: 10^6 objects made and dropped, and device memory under pressure,
# which a limit of the device turns into collections. pressure_test.jl [objects]
using Gufunc
using Gufunc.Standard: add

resident() = parse(Int, split(read("/proc/self/statm", String))[2]) * 4096

function make_and_drop(count)
    x = GufArray(ones(8))
    for i in 1:count
        view(x, 1:4)
        i % 10_000 == 0 && (GC.gc(false); poll())
    end
    GC.gc()
    poll()
end

function flat_memory(count)
    make_and_drop(count ÷ 10)
    before = resident()
    make_and_drop(count)
    grown = resident() - before
    println("$count views made and dropped: $(grown ÷ 1024) KiB more resident")
    return grown < 16 << 20
end

# Each array is 1 MiB; the device gives 64 MiB: without collections the 65th fails.
function pressed(name)
    d = device(name)
    Gufunc.limit_memory(d, 64 << 20)
    x = GufArray{Float64}(undef, 131072; device=d)
    fill!(x, 1)
    for _ in 1:1000
        x = add(x, 1)
    end
    synchronize(d)
    right = all(Array(x) .== 1001)
    live = Gufunc.memory_info(d).live_bytes
    Gufunc.limit_memory(d, nothing)
    println("1000 arrays of 1 MiB on $name, none freed by hand: $(live >> 20) MiB live of 64")
    return right && live <= 64 << 20
end

function main(arguments)
    count = isempty(arguments) ? 1_000_000 : parse(Int, arguments[1])
    name = get(ENV, "GUFUNC_TEST_DEVICE", "")
    return (isempty(name) || pressed(name)) && flat_memory(count)
end

exit(main(ARGS) ? 0 : 1)
