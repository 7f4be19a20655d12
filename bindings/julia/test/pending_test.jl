# SPDX-License-Identifier: Apache-2.0
# Tests work that outlives the program's references to its stream and arrays, and results that are
# read before the work is done.
const WIDE = 2_000_000

# Streams are dropped while their work runs. The work continues, and the memory that it uses stays
# valid.
function thrown_out_of(device)
    Stream(device) do s
        R, A = zeros(WIDE), ones(WIDE)
        for _ in 1:20
            call!(add, R, R, A; stream=s, host_policy=:copy)
        end
        error("on purpose")
    end
end
function forgotten(device)
    s, R, A = Stream(device), zeros(WIDE), ones(WIDE)
    for _ in 1:20
        call!(add, R, R, A; stream=s, host_policy=:copy)
    end
    return WeakRef(R)
end
for device in DEVICES
    @test_throws ErrorException thrown_out_of(device)
    poll()
    streams = Gufunc.STREAMS[]
    result = forgotten(device)
    GC.gc()
    # The result is still kept alive, or the work is done.
    @test result.value !== nothing || Gufunc.STREAMS[] == streams
    for _ in 1:1000
        (GC.gc(false); poll(); Gufunc.STREAMS[] <= streams) && break
        sleep(0.01)
    end
    @test Gufunc.STREAMS[] <= streams
end

# Results of a stream are read in the block of the stream.
for device in DEVICES
    x = GufArray(fill(1.0, WIDE); device=device)
    Stream(device) do s
        @test Array(add(x, 1))[end] == 2
        @test Gufunc.printed(view(add(x, 1), WIDE:WIDE))[1:3] == "[2."
        y = add.(fill(1.0, WIDE), 2.0)
        @test y isa Vector && y[end] == 3
        add!(y, y, 1)
        @test y[end] == 4
        y .= add.(y, 1.0)
        @test y[end] == 5
        Gufunc.copy_to_host!(y, add(x, 7))
        @test y[end] == 8
        at!(add, y, [WIDE], 1)
        @test y[end] == 9 && reduce(add, y) == 8.0 * WIDE + 1
        @test reduce(add, add(x, 1); dims=1)[1:1] isa GufArray
        g = GufArray(y; device=device)
        y[end] = 0
        @test Array(g)[end] == 9
    end
end
Stream() do s
    z = add(GufArray(fill(1.0, WIDE)), 1)
    @test z[end] == 2
    @test sum(add(z, 1)) == 3.0 * WIDE
    z = add(z, 1)
    z[end] = 100
    @test z[end] == 100 && Array(z)[end] == 100
end

# Vectors whose memory is shared cannot be resized.
v = collect(1.0:1000.0)
x = Gufunc.wrap(v)
@test_throws ErrorException resize!(v, 10^6)
w = collect(1.0:1000.0)
GufArray(w)
@test length(resize!(w, 2000)) == 2000
Stream() do s
    call!(add, zeros(1000), view(w, 1:1000), 1; stream=s)
end
@test_throws ErrorException push!(w, 1.0)
# If Julia permits the resize, as 1.11 does, an array that owns the memory is kept with the vector.
holds(x, v) = x isa Matrix && pointer(x) == pointer(v)
holds(x::Union{Tuple,Vector{Any}}, v) = any(part -> holds(part, v), x)
@test any(root -> holds(root[2], v), collect(Gufunc.ROOTS))
for borrows in (Tensor, u -> Tensor(view(u, 1:2)),
              u -> Tensor{Float64}(u, pointer(u), (4,), (8,)))
    u = ones(4)
    t = borrows(u)
    @test_throws ErrorException resize!(u, 10^6)
    @test holds(t.owner, u) && add(t, 1)[1] == 2
end
let s = Stream()
    call!(add, w, w, 1; stream=s)
    @test holds(s.pending.kept, w)
    synchronize(s)
end

# Copied and deserialized objects have separate memory.
for device in DEVICES
    a = GufArray([1.0, 2.0]; device=device)
    b, both = deepcopy(a), deepcopy([a, a])
    through = IOBuffer()
    serialize(through, (a, add, Gufunc.device(device)))
    unsafe_free!(a)
    @test Array(b) == [1, 2] && Gufunc.array_info(b).device == b.device && both[1] === both[2]
    seekstart(through)
    c, f, d = deserialize(through)
    @test Array(c) == [1, 2] && f(1, 2) === 3 && d == Gufunc.device(device)
    @test deepcopy(add) === add
end
@test status_of(() -> serialize(IOBuffer(), Stream())) == Gufunc.GUF_E_UNSUPPORTED
