# SPDX-License-Identifier: Apache-2.0
using Gufunc: delete_dlpack, from_dlpack, guf_dlpack, guf_dlpack_tensor, guf_dlpack_unversioned,
              to_dlpack

# Simulates another library, which makes tensors of two rows with three elements over its memory.
# DELETED counts the calls of the tensors' deleter, which may run in a finalizer.
const DELETED = Threads.Atomic{Int}(0)
deleted(::Ptr{Cvoid}) = (Threads.atomic_add!(DELETED, 1); nothing)
const ALL_MADE = Any[]

function produced(address, (type, index)=(Gufunc.GUF_DLPACK_CPU, 0); of=guf_dlpack,
                  dtype=Gufunc.GUF_F64, major=1, flags=0)
    shape = Int64[2, 3]
    tensor = guf_dlpack_tensor(Ptr{Cvoid}(address), type, index, 2, dtype, pointer(shape), C_NULL,
                               0)
    deleter = @cfunction(deleted, Cvoid, (Ptr{Cvoid},))
    made = Ref(of === guf_dlpack ? of(major, 0, C_NULL, deleter, flags, tensor) :
               of(tensor, C_NULL, deleter))
    push!(ALL_MADE, (made, shape))
    DELETED[] = 0
    return Ptr{of}(pointer_from_objref(made))
end

place_of(x) = (p = to_dlpack(x); t = unsafe_load(p).tensor; delete_dlpack(p);
               (t.device_type, t.device_id))
settled(d) = (synchronize(device(d)); poll(); DELETED[])

for d in DEVICES, of in (guf_dlpack, guf_dlpack_unversioned)
    memory = GufArray(collect(reshape(1.0:6.0, 3, 2)); device=d)
    address, place = Gufunc.array_info(memory).address, place_of(memory)
    @test (place[1] == Gufunc.GUF_DLPACK_CPU) == (d == "cpu")

    # Releasing the last view deletes the tensor exactly once.
    x = from_dlpack(produced(address, place; of=of))
    @test x isa GufArray{Float64,2} && size(x) == (3, 2) && Array(x) == [1 4; 2 5; 3 6]
    @test Gufunc.on_host(x) == (d == "cpu") && Gufunc.where_of(x) == device(d)
    last_row = view(x, 3, :)
    unsafe_free!(x)
    unsafe_free!(x)
    @test settled(d) == 0 && Array(last_row) == [3, 6]
    add!(last_row, last_row, 10)
    unsafe_free!(last_row)
    @test settled(d) == 1 && Array(memory)[3, :] == [13, 16]

    # If the views are not released explicitly, the garbage collector deletes the tensor.
    (() -> Array(from_dlpack(produced(address, place; of=of))))()
    GC.gc()
    @test settled(d) == 1

    # A tensor that cannot be imported is deleted before the call throws.
    pairs_of_floats = 0x00024002
    for (status, dtype, major, stream) in
        ((Gufunc.GUF_E_DTYPE, pairs_of_floats, 1, nothing),
         (of === guf_dlpack ? Gufunc.GUF_E_ABI : 0, Gufunc.GUF_F64, 2, nothing),
         (Gufunc.GUF_E_ARG, Gufunc.GUF_F64, 1, :nonsense),
         (d == "cpu" ? Gufunc.GUF_E_ARG : 0, Gufunc.GUF_F64, 1, :legacy))
        p = produced(address, place; of=of, dtype=dtype, major=major)
        @test status_of(() -> unsafe_free!(from_dlpack(p; ready_on=stream))) == status
        @test settled(d) == 1
    end

    # An exported array is imported again with the same strides, and the memory lives until the
    # tensor is deleted.
    part = view(memory, 1:2:3, :)
    p = to_dlpack(part; versioned=of === guf_dlpack, copied=true)
    @test p isa Ptr{of}
    tensor = unsafe_load(p).tensor
    @test unsafe_load.(tensor.shape, 1:2) == [2, 2] && unsafe_load.(tensor.strides, 1:2) == [3, 2]
    of === guf_dlpack && @test unsafe_load(p).flags == Gufunc.GUF_DLPACK_IS_COPIED
    expected = Array(part)
    unsafe_free!(part)
    back = from_dlpack(Ptr{Cvoid}(p); versioned=of === guf_dlpack)
    @test Array(back) == expected && Gufunc.array_info(back).address == address
    unsafe_free!(back)
end

# Read-only memory stays read-only. It is not exported as an unversioned tensor, which has no flag
# for it.
fixed = from_dlpack(produced(pointer(zeros(6)); flags=Gufunc.GUF_DLPACK_READ_ONLY))
@test Gufunc.read_only(fixed) && status_of(() -> add!(fixed, 1, 1)) == Gufunc.GUF_E_READ_ONLY
p = to_dlpack(fixed)
@test unsafe_load(p).flags == Gufunc.GUF_DLPACK_READ_ONLY
delete_dlpack(p)
@test status_of(() -> to_dlpack(fixed; versioned=false)) == Gufunc.GUF_E_READ_ONLY
unsafe_free!(fixed)
@test settled("cpu") == 1

# A Julia array stays alive as long as the tensor that was exported from it.
exported() = to_dlpack(Float32[1, 2, 3])
poll()
GC.gc()
rooted = length(Gufunc.ROOTS)
p = exported()
GC.gc()
@test length(Gufunc.ROOTS) == rooted + 1
passed_on = from_dlpack(p)
@test Array(passed_on) == [1, 2, 3]
unsafe_free!(passed_on)
poll()
@test length(Gufunc.ROOTS) == rooted
@test status_of(() -> to_dlpack([Datetime64{:s,1}(0)])) == Gufunc.GUF_E_DTYPE
@test status_of(() -> to_dlpack([1.0]; consumer=Stream())) == Gufunc.GUF_E_ARG
@test status_of(() -> from_dlpack(Ptr{guf_dlpack}(C_NULL))) == Gufunc.GUF_E_ARG
delete_dlpack(Ptr{guf_dlpack}(C_NULL))

# Streams of the producer and of the consumer.
for d in filter(!isequal("cpu"), DEVICES)
    memory, sums = GufArray(zeros(3, 2); device=d), GufArray(zeros(3, 2); device=d)
    filler, reader = Stream(d), Stream(d)
    fill!(memory, 7; stream=filler)
    x = from_dlpack(produced(Gufunc.array_info(memory).address, place_of(memory)); ready_on=filler)
    add!(sums, x, x) # has no stream, so it runs after the filler's work
    @test all(Array(sums) .== 14)
    delete_dlpack(to_dlpack(sums; consumer=reader))
    for name in (:legacy, :per_thread)
        delete_dlpack(to_dlpack(sums; consumer=name, versioned=false))
    end
    elsewhere = Stream("cpu")
    @test status_of(() -> to_dlpack(sums; consumer=elsewhere)) == Gufunc.GUF_E_DEVICE_MISMATCH
    unsafe_free!(x)
    @test settled(d) == 1
end
