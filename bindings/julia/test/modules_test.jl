# SPDX-License-Identifier: Apache-2.0
m = named_module("discriminant")
@test m.discriminant([0, 0.25, 0.5, 0.75, 1], [10, 10.1, 10.5, 10.7, 11],
                     [1, 0.9, 0.3, 0.6, 0.1]) ==
      [10, 10.055346836385107, 10.471389592599447, 10.615554625171498, 10.981803130633876]
@test Gufunc.function_names(m) == ["discriminant:discriminant"]
@test :discriminant in propertynames(m) && Gufunc.module_info(m).nfunctions == 1
@test status_of(() -> m.nothing_there) == Gufunc.GUF_E_NOT_FOUND
@test status_of(() -> load("/nowhere.so")) == Gufunc.GUF_E_IO
@test "add" in Gufunc.ufunc_names() && "discriminant:discriminant" in Gufunc.ufunc_names()
listed = Set(string(n) for n in names(Gufunc.Standard; all=true)
             if getfield(Gufunc.Standard, n) isa UFunc)
@test issubset((n for n in Gufunc.ufunc_names() if !occursin(r":|^julia_", n)), listed)
@test all(n -> Gufunc.ufunc_info(UFunc(n)).nin > 0, listed)

own = Gufunc.create("julia_same"; nin=3, nout=1)
Gufunc.add_module_loop!(own, m, "discriminant", (Float32, Float32, Float32, Float32))
@test own(1.0f0, 3.0f0, 2.0f0) === 1.0f0

private = Gufunc.Context()
@test status_of(() -> UFunc("julia_same"; context=private)(1, 2, 3)) == Gufunc.GUF_E_NOT_FOUND
@test load(joinpath(MODULES, "discriminant.so"); context=private).discriminant(1.0, 3.0, 2.0) == 1

foo = named_module("foo")
@test foo.foo([1.0, 2.0], 4) == [1 2; 2 4; 3 8; 4 16]
@test foo.foo_any(2.0, 0; sizes=(n=4,)) == [2, 4, 8, 16]

product = named_module("matmulcore").matmulcore
@test product(reshape(collect(0.0:5), 3, 2)', reshape(collect(0.0:11), 4, 3)' .- 5) ==
      [5 8 11 14; -4 8 20 32]

powers = named_module("cumulative_power").cumulative_power
rows = Float32[1 2 3; 9 9 9; 9 9 9; 9 9 9]
call!(powers, (), rows)
@test rows == [1 2 3; 2 6 12; 3 14 39; 4 30 120]
row = Float32[2, 9, 9, 9]
out = zeros(Float32, 4)
call!(powers, view(out, 4:-1:1), row)
@test out == [30, 14, 6, 2]

# Raw kernels: (i, j) of a view is [i+1, j+1] of the array.
raw = named_module("raw_matmul")
@test "matmul_tiled_f" in Gufunc.kernel_names(raw)
k = Kernel(raw, "matmul_naive_d")
@test [p.kind for p in Gufunc.parameters(k)] == [:view, :view, :view]
@test Gufunc.kernel_info(k).nparameters == 3
for device in DEVICES
    A, B = rand(20, 30), rand(30, 25)
    a, b, c = (GufArray(x; device=device) for x in (A, B, zeros(20, 25)))
    launch!(k, a, b, c; grid=(2, 2), block=(16, 16))
    device == "cpu" || synchronize(Gufunc.device(device))
    @test Array(c) ≈ A * B
    Stream(device) do s
        Kernel(raw, "matmul_tiled_d")[(2, 2), (16, 16), s](a, b, fill!(c, 0))
    end
    @test Array(c) ≈ A * B
    @test Gufunc.kernel_info(k, device).max_threads >= 256
end
C = zeros(3, 5)
launch!(k, rand(3, 4), ones(4, 5), C; grid=1, block=(16, 16))
@test all(C[:, 1] .== C[:, 5]) && all(C .> 0)
@test status_of(() -> launch!(k, 1, 2; grid=1, block=1)) == Gufunc.GUF_E_ARG
@test status_of(() -> launch!(k, C, C, zeros(Float32, 3, 5); grid=1, block=1)) == Gufunc.GUF_E_DTYPE
@test status_of(() -> Kernel(raw, "none")) == Gufunc.GUF_E_NOT_FOUND
for (grid, block, shared) in ((-1, 1, 0), (2^32, 1, 0), (1.5, 1, 0), ((1, 1, 1, 1), 1, 0),
                              (1, 1, -1))
    @test status_of(() -> k[grid, block, nothing, shared](C, C, C)) == Gufunc.GUF_E_ARG
end

counting = named_module("raw_counting")
total = zeros(UInt64, 1)
launch!(Kernel(counting, "count_in_circle"), UInt64(7), 100, total; grid=2, block=256)
@test 0.7 < total[1] / 51200 < 0.87
