# SPDX-License-Identifier: Apache-2.0
# Tests that dropped memory is freed without explicit calls. Creates and drops 10^6 objects, and
# arrays with far more memory than a device has.
#   pressure_test.jl [objects]
using Gufunc
using Gufunc.Standard: add, add!

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

# Each step creates and drops an array of 1 MiB. `host` is a host array of the same size.
const COUNT = 131072
steps(host, result, work, d) = (
    "calls" => x -> add(x, 1), "copies" => copy, "casts" => x -> Gufunc.astype(x, Int64),
    "from the host" => x -> GufArray(host; device=d), "ranges" => x -> x[1:COUNT-1],
    "allocations" => x -> GufArray{Float64}(undef, COUNT; device=d),
    "partial sums" => x -> accumulate(add, x), "pairs" => x -> outer(add, x[1:512], x[1:256]),
    "reversals" => x -> permutedims(reshape(x, 512, 256)),
    # These calls allocate temporary memory in addition to the dropped arrays.
    "calls in place" => x -> (copy(x); add!(view(work, 2:COUNT), view(work, 1:COUNT-1), 0)),
    "calls on the host's" => x -> (copy(x); call!(add, result, host, host; device=d)),
)

# The device has memory for 64 arrays, because of its size or a limit. Without garbage collections
# the 65th allocation would fail.
function pressed(name)
    d = device(name)
    limit = 64 << 20
    small = Gufunc.memory_info(d).total_bytes <= limit
    small || Gufunc.limit_memory(d, limit)
    x, host = GufArray(ones(COUNT); device=d), ones(COUNT)
    for (what, step) in steps(host, similar(host), copy(x), d)
        for _ in 1:300
            step(x)
        end
        synchronize(d)
        live = Gufunc.memory_info(d).live_bytes
        println("$what: 300 arrays of 1 MiB on $name, none freed by hand: $(live >> 20) MiB live")
        live <= limit || return false
    end
    right = all(Array(x) .== 1)
    small || Gufunc.limit_memory(d, nothing)
    return right
end

function main(arguments)
    count = isempty(arguments) ? 1_000_000 : parse(Int, arguments[1])
    name = get(ENV, "GUFUNC_TEST_DEVICE", "")
    return (isempty(name) || pressed(name)) && flat_memory(count)
end

exit(main(ARGS) ? 0 : 1)
