# SPDX-License-Identifier: Apache-2.0
A, B = [1.0 2; 3 4; 5 6], [10.0, 20, 30]

# Dimensions are aligned as in Julia, from the first.
@test add(A, B) == A .+ B && add(A, B) isa Matrix{Float64}
@test add([1.0, 2.0], [10.0 20.0]) == [11.0 21.0; 12.0 22.0]
@test status_of(() -> add(A, [1.0, 2.0])) == Gufunc.GUF_E_SHAPE

# A ufunc shows its name, however it is printed.
@test sprint(show, add) == sprint(print, add) == string(add) == "$add" == "UFunc(\"add\")"
@test occursin("UFunc(\"add\")", string(add!)) && !occursin("Ptr", string(add!))

# Result types are equal to NumPy's; Int and Float64 numbers are weak.
@test add(Float32[1], 2) isa Vector{Float32} && add(Float32[1], 2.5) isa Vector{Float32}
@test add(Float32[1], Scalar(2.5)) isa Vector{Float64}
@test add(Int8[1], Int16(1)) isa Vector{Int16} && add(Int8[1], 1) isa Vector{Int8}
@test status_of(() -> add(Int8[1], 300)) == Gufunc.GUF_E_OVERFLOW
@test add(UInt64[1], typemax(UInt64) - big(1)) == [typemax(UInt64)]
@test add(1, 2) === 3 && add(Int8(1), Int8(2)) === Int8(3) && add(1.0, 2im) === 1.0 + 2.0im
@test add(fill(1.0), fill(2.0)) == fill(3.0)
@test add(1:3, [10, 20, 30]) == [11, 22, 33] && add(trues(2), [1, 2]) == [2, 3]

# Outputs.
R = zeros(3, 2)
@test add!(R, A, B) === R && R == A .+ B
@test call!(add, view(R, 3:-1:1, :), A, 1) == A .+ 1 && R == reverse(A .+ 1; dims=1)
@test add(A, 1; out=R) === R && R == A .+ 1
@test status_of(() -> add!(zeros(2, 2), A, B)) == Gufunc.GUF_E_SHAPE
@test status_of(() -> add!(1:3, B, B)) == Gufunc.GUF_E_READ_ONLY
@test status_of(() -> add!(zeros(Int, 3), B, B)) == Gufunc.GUF_E_CASTING
@test add(B, B; out=zeros(Int, 3), casting=:unsafe) == [20, 40, 60]
masked = fill(7.0, 3)
@test add(B, 1; out=masked, where=[true, false, true]) == [11, 7, 31]
x = collect(1.0:7.0)
add!(view(x, 2:7), view(x, 1:6), 0)
@test x == [1, 1, 2, 3, 4, 5, 6] # the result is as if the input had been copied first

# Functions with several outputs return tuples.
divmod = Gufunc.Standard.divmod
@test divmod([7.5, -2.25], 2) == ([3.0, -2.0], [1.5, 1.75]) && divmod(7, 2) === (3, 1)
@test Gufunc.Standard.modf([7.5, -2.25]) == ([0.5, -0.25], [7.0, -2.0])
fraction, exponent = zeros(2), zeros(Int32, 2)
call!(Gufunc.Standard.frexp, (fraction, exponent), [6.0, 0.25])
@test fraction == [0.75, 0.5] && exponent == [3, -1]

@test add([1, 2], 1; dtype=Float32) isa Vector{Float32}
@test add([1, 2], 1; signature=(Float64, Float64, nothing)) isa Vector{Float64}
@test status_of(() -> add([1], 2; nonsense=1)) == Gufunc.GUF_E_ARG

# The core dimensions are the first dimensions, and the loop dimensions are the last. Nothing is
# copied.
M, N = rand(2, 3, 4), rand(3, 5, 4)
@test matmul(M, N) ≈ cat((M[:, :, k] * N[:, :, k] for k in 1:4)...; dims=3)
@test matmul(M[:, :, 1], N) ≈ cat((M[:, :, 1] * N[:, :, k] for k in 1:4)...; dims=3)
@test matmul(M[:, :, 1], [1.0, 2, 3]) ≈ M[:, :, 1] * [1, 2, 3]
@test matmul([1.0, 2], M[:, :, 1]) ≈ vec([1 2] * M[:, :, 1])
@test matmul([1.0, 2], [3.0, 4]) == fill(11.0)
P = zeros(2, 5, 4)
@test call!(matmul, P, M, N) === P && P ≈ matmul(M, N)
@test matmul(PermutedDimsArray(M, (2, 1, 3)), M) ≈
      cat((M[:, :, k]' * M[:, :, k] for k in 1:4)...; dims=3)
@test Array(matmul(GufArray(M), N)) ≈ P
@test vecdot(M, M; dims=2) ≈ dropdims(sum(M .* M; dims=2); dims=2)
@test vecdot(M, M; dims=2, keepdims=true) ≈ sum(M .* M; dims=2)
@test matmul(N, M; axes=((2, 1), (2, 1), (1, 2))) ≈
      cat((N[:, :, k]' * M[:, :, k]' for k in 1:4)...; dims=3)
@test status_of(() -> matmul(M, M)) == Gufunc.GUF_E_SHAPE
@test status_of(() -> vecdot(M, M; dims=4)) == Gufunc.GUF_E_AXIS
@test status_of(() -> vecdot(M, M; dims=0)) == Gufunc.GUF_E_AXIS

# Floating-point flags.
fp_flags = Ref(UInt32(0))
divide([1.0, 0.0], 0.0; fp_flags=fp_flags, fp_report=31)
@test fp_flags[] == Gufunc.GUF_FP_DIVIDE | Gufunc.GUF_FP_INVALID
@test status_of(() -> divide([1.0], 0.0; fp_fail=Gufunc.GUF_FP_DIVIDE)) ==
      Gufunc.GUF_E_FLOATING_POINT

@test Gufunc.resolve(add, Int8[1], Float32[1]).loop_types == (Float32, Float32, Float32)
@test Gufunc.resolve(matmul, M, N).sizes == ((2, 5, 4),)
@test occursin("dd->d", Gufunc.explain(add, A, B))

# Calls in chunks, for arrays larger than memory.
big_x, big_r = rand(1000, 50), zeros(1000, 50)
seen = Int[]
call_chunked!(add, big_r, big_x, 1; chunk_bytes=65536,
              progress=(done, items) -> (push!(seen, done); @assert items == 50))
@test big_r == big_x .+ 1 && issorted(seen) && seen[end] == 50 && length(seen) > 3
done = Ref(Int64(0))
stopped = try
    call_chunked!(add, big_r, big_x, 2; chunk_bytes=65536, done=done, depth=1,
                  progress=(done, items) -> done < 20)
catch e
    e
end
@test stopped.status == Gufunc.GUF_E_CANCELLED && 0 < done[] < 50
@test big_r[:, 1:done[]] == big_x[:, 1:done[]] .+ 2
call_chunked!(add, big_r, big_x, 2; first_item=done[])
@test big_r == big_x .+ 2
thrown = try
    call_chunked!(add, big_r, big_x, 2; progress=(_, _) -> error("enough"))
catch e
    e
end
@test thrown.cause == ErrorException("enough")

# The number of axes is checked for each operand. Too many axes of one operand do not make up for
# too few of another.
let a = [1.0 2; 3 4], b = [5.0 6; 7 8]
    for (f, axes) in ((vecdot, ((), (), (1, 2))), (vecdot, ((), (1,), (1,))),
                      (matmul, ((1,), (2, 1, 2), (1, 2))), (matmul, ((1, 2), (1,), (2, 1, 2))))
        @test status_of(() -> f(a, b; axes=axes)) == Gufunc.GUF_E_AXIS
    end
    for (f, axes) in ((matmul, ((1, 2, 1, 2, 1, 2),)), (matmul, ((1, 2), (1, 2))),
                      (vecdot, ((1,), (1,), (), ())), (matmul, ()), (vecdot, ()))
        @test status_of(() -> f(a, b; axes=axes)) == Gufunc.GUF_E_ARG
    end
    @test text_of(() -> vecdot(a, b; axes=((), (1,), (1,)))) ==
          "vecdot: operand 0 has 1 core dimensions, but 0 dimensions are specified by axes tuple."
    @test vecdot(a, b; axes=((1,), (1,))) == vecdot(a, b; axes=((1,), (1,), ())) == [26, 44]
    @test matmul(a, b; axes=((1, 2), (1, 2), (1, 2))) == matmul(a, b)
    @test matmul(a, [1.0, 1]; axes=((1, 2), (1,), (1,))) == [3, 7]
end
