# SPDX-License-Identifier: Apache-2.0
cpu = device("cpu")
@test Gufunc.device_info(cpu).spec == "cpu" && Gufunc.device_info(cpu).host_memory
@test sprint(show, cpu) == "device(\"cpu\")"
@test "cpu" in [b.name for b in Gufunc.backends(; probe=true)]
@test status_of(() -> device("nonsense:0")) == Gufunc.GUF_E_NO_BACKEND
@test status_of(() -> device("cpu:7")) == Gufunc.GUF_E_NO_DEVICE
@test status_of(() -> Gufunc.load_backend("/nowhere.so")) == Gufunc.GUF_E_IO
@test synchronize(cpu)

for name in DEVICES
    d = device(name)
    x = GufArray(collect(1.0:1000.0); device=d)
    s, t = Stream(d), Stream(d)
    y = add(x, 1; stream=s)
    mark = Event(d)
    Gufunc.record(mark, s)
    Gufunc.wait_event(t, mark)
    z = multiply(y, 2; stream=t)
    host = zeros(1000)
    Gufunc.copy_to_host!(host, z; stream=t)
    @test wait(mark) && isready(mark)
    @test synchronize(t) && isready(t) && synchronize(s; timeout=10)
    @test host == 2 .* (1 .+ (1:1000)) && isempty(t.pending.kept)

    # Calls without stream= use the current stream of the block.
    w = Stream(d) do inner
        @test Gufunc.current_stream() === inner
        x .+ y
    end
    @test Gufunc.current_stream() === nothing
    @test Array(w) == 2 .* (1:1000) .+ 1
    with_stream(s) do
        negative(x; out=z)
    end
    synchronize(s)
    @test Array(z) == -(1:1000)

    # Julia arrays are kept alive until the queued work that uses them is done.
    for i in 1:20
        call!(add, z, x, fill(Float64(i), 1000); stream=s, host_policy=:copy)
        i % 5 == 0 && GC.gc()
    end
    synchronize(s)
    @test Array(z) == (1:1000) .+ 20

    pinned = Gufunc.alloc_host(Float64, (4,); device=d)
    pinned .= [1.0, 2, 3, 4]
    @test pinned[3] == 3 && Array(to_device(pinned, d)) == 1:4
    memory = zeros(512)
    Gufunc.with_registered(memory, d) do
        Gufunc.copy_to_host!(memory, view(x, 1:512))
    end
    @test memory == 1:512
    foreach(unsafe_free!, (s, t, mark))
    @test status_of(() -> synchronize(s)) != 0
end

@test status_of(() -> Gufunc.native_handle(cpu)) == Gufunc.GUF_E_UNSUPPORTED
@test status_of(() -> Gufunc.memory_info(cpu)) == Gufunc.GUF_E_UNSUPPORTED
@test status_of(() -> Gufunc.adopt_device("cpu", 1)) == Gufunc.GUF_E_UNSUPPORTED
@test status_of(() -> Gufunc.adopt_stream(cpu, 1)) == Gufunc.GUF_E_UNSUPPORTED
@test status_of(() -> capture(() -> nothing, Stream())) == Gufunc.GUF_E_UNSUPPORTED

if length(DEVICES) > 1
    d = device(DEVICES[2])
    # Host arrays are copied to the device and back. In a call that also has device arrays, they are
    # rejected.
    @test add([1.0, 2.0], 1; device=d) == [2.0, 3.0]
    x = GufArray([1.0, 2.0]; device=d)
    @test status_of(() -> add(x, [1.0, 2.0])) == Gufunc.GUF_E_DEVICE_MISMATCH
    mixed = add(x, [1.0, 2.0]; host_policy=:copy_and_warn)
    @test Array(mixed) == [2, 4] && Gufunc.read_log() isa Tuple{Symbol,String}
    @test status_of(() -> x[1]) == Gufunc.GUF_E_DEVICE_MISMATCH
    @test Gufunc.native_handle(Stream(d)) != 0
    info = Gufunc.memory_info(d)
    @test info.live_bytes > 0 && info.total_bytes >= info.live_bytes
    Gufunc.trim_memory(d)

    # A graph is recorded once and run many times.
    s = Stream(d)
    y, z = similar(x), similar(x)
    graph = capture(s) do
        add!(y, x, 1)
        multiply(y, 3; out=z)
    end
    for _ in 1:3
        launch!(graph)
    end
    synchronize(s)
    @test Array(z) == [6, 9]
    capture(() -> add!(y, x, 5), graph, s)
    launch!(graph, s)
    synchronize(s)
    @test Array(y) == [6, 7]
    @test status_of(() -> capture(() -> add(x, 1), s)) == Gufunc.GUF_E_CAPTURE
    @test synchronize(s) # the failed capture has ended
    from, to = Event(d), Event(d)
    Gufunc.record(from, s)
    Gufunc.record(to, s)
    synchronize(s)
    @test Gufunc.elapsed(from, to) >= 0
end

# synchronize of an array waits for the work that uses it, on any stream.
host, s = GufArray(zeros(3_000_000)), Stream()
for _ in 1:20
    add!(host, host, 1; stream=s)
end
@test synchronize(host) && host[1] == 20 && host[end] == 20
@test synchronize(host; timeout=0)
synchronize(s)
