# SPDX-License-Identifier: Apache-2.0
A = reshape(collect(1.0:24.0), 2, 3, 4)
@test reduce(add, A) === 300.0
@test reduce(add, A; dims=1) == sum(A; dims=1)
@test reduce(add, A; dims=(1, 3)) == sum(A; dims=(1, 3))
@test reduce(add, A; dims=2, keepdims=false) == dropdims(sum(A; dims=2); dims=2)
@test reduce(add, A; dims=()) == A
@test reduce(add, A; dims=3, init=100) == sum(A; dims=3) .+ 100
@test reduce(maximum, A; dims=1, where=A .< 20, init=-1.0)[1, 1, 4] == 19
@test status_of(() -> reduce(maximum, zeros(0))) == Gufunc.GUF_E_VALUE
@test reduce(add, zeros(0)) === 0.0
@test status_of(() -> reduce(add, zeros(0); init=Gufunc.novalue)) == Gufunc.GUF_E_VALUE
@test status_of(() -> reduce(add, A; dims=4)) == Gufunc.GUF_E_AXIS
@test reduce(Gufunc.Standard.var, [1.0, 2.0, 6.0]; parameters=1) == 7
@test reduce(Gufunc.Standard.var, [1.0, 2.0, 6.0]; parameters=(1,)) == 7
@test_throws GufuncError reduce(add, [1.0]; parameters=1)
R = zeros(1, 3, 4)
@test reduce!(add, R, A; dims=1) === R && R == sum(A; dims=1)
flat = zeros(3, 4)
@test reduce!(add, flat, A; dims=1) == dropdims(sum(A; dims=1); dims=1)
# Without `dims`, reduce! reduces the dimensions that `out` lacks or has with extent 1, as sum!
# does.
@test reduce!(add, fill(NaN, 1, 3, 4), A) == sum(A; dims=1)
@test reduce!(add, fill(NaN, 2, 1, 1), A) == sum(A; dims=(2, 3))
@test reduce!(add, fill(NaN, 2, 3), A) == dropdims(sum(A; dims=3); dims=3)
@test reduce!(add, fill(NaN, 2, 3, 4), A) == A
@test reduce!(add, fill(NaN), A)[] === 300.0
@test reduce!(add, fill(NaN, 1), [1.0, 2.0]) == [3.0]
@test status_of(() -> reduce!(add, zeros(5, 3), A)) == Gufunc.GUF_E_SHAPE
@test accumulate(add, A; dims=2) == cumsum(A; dims=2)
@test accumulate(multiply, [1, 2, 3]) == [1, 2, 6]
@test status_of(() -> accumulate(add, A)) == Gufunc.GUF_E_AXIS
S = similar(A)
@test accumulate!(add, S, A; dims=3) === S && S == cumsum(A; dims=3)
@test reduceat(add, collect(1:6), [1, 3, 4]) == [3, 3, 15]
@test reduceat(add, A, [1, 3]; dims=3)[:, :, 2] == A[:, :, 3] + A[:, :, 4]
@test status_of(() -> reduceat(add, [1, 2], [0])) == Gufunc.GUF_E_INDEX
@test status_of(() -> reduceat(add, [1, 2], [3])) == Gufunc.GUF_E_INDEX
@test outer(subtract, [1, 2, 3], [10 20]) == [a - b for a in 1:3, _ in 1:1, b in (10, 20)]
T = zeros(Int, 3, 2)
@test outer!(subtract, T, [1, 2, 3], [10, 20]) === T && T == [1, 2, 3] .- [10 20]
x = [1, 2, 3, 4]
@test at!(add, x, [1, 1, 3], [5, 6, 7]) === x && x == [12, 2, 10, 4]
y = zeros(3, 2)
at!(add, y, ([1, 3, 1], [1, 2, 1]), [1.0, 2, 4])
@test y == [5 0; 0 0; 0 2]
z = zeros(3, 2)
at!(add, z, [1, 1, 3], [1.0, 10, 100]) # adds to whole rows; B is aligned with the indices
@test z == [11 11; 0 0; 100 100]
at!(negative, x, 1)
@test x[1] == -12
@test status_of(() -> at!(add, x, [0], 1)) == Gufunc.GUF_E_INDEX

for device in DEVICES
    g = GufArray(A; device=device)
    @test Array(reduce(add, g)) == fill(300.0)
    @test Array(reduce(add, g; dims=2)) == sum(A; dims=2)
    @test Array(accumulate(add, g; dims=1)) == cumsum(A; dims=1)
    @test Array(outer(multiply, view(g, :, 1, 1), view(g, 1, :, 1))) == A[:, 1, 1] * A[1, :, 1]'
    @test Array(reduceat(add, g, [1, 2]; dims=2)) ==
          cat(A[:, 1:1, :], A[:, 2:2, :] + A[:, 3:3, :]; dims=2)
    h = GufArray(zeros(3, 2); device=device)
    at!(add, h, [1, 1, 3], GufArray([1.0, 10, 100]; device=device))
    @test Array(h) == z
end
@test Gufunc.resolve(reduce, add, A; dims=1).sizes == ((3, 4),)
@test occursin("add", Gufunc.explain(reduce, add, A))
@test Gufunc.resolve(accumulate, add, A; dims=1).types[1] === Float64
@test Gufunc.resolve(outer, add, [1, 2], [1.0]).types[3] === Float64
@test occursin("add", Gufunc.explain(at!, add, x, [1], 2))
@test occursin("add", Gufunc.explain(reduceat, add, x, [1]))
