# SPDX-License-Identifier: Apache-2.0

A = reshape(collect(1.0:24.0), 2, 3, 4)
for device in DEVICES
    x = GufArray(A; device=device)
    @test Array(x) == A && size(x) == (2, 3, 4) && strides(x) == (1, 2, 6)
    @test Gufunc.is_f_contiguous(x) && !Gufunc.is_c_contiguous(x)
    @test Gufunc.array_info(x).shape == (4, 3, 2)
    @test Array(view(x, 1, :, 4:-2:2)) == A[1, :, 4:-2:2]
    @test Array(x[:, 2:3, 1]) == A[:, 2:3, 1]
    @test Array(reshape(x, 6, :)) == reshape(A, 6, 4) && Array(vec(x)) == vec(A)
    @test Array(Gufunc.permuted_view(x, (3, 1, 2))) == permutedims(A, (3, 1, 2))
    @test Array(permutedims(x, (2, 3, 1))) == permutedims(A, (2, 3, 1))
    @test Array(Gufunc.expand_dims(view(x, 1, 1, :); dims=1)) == reshape(A[1, 1, :], 1, 4)
    @test size(dropdims(view(x, 1:1, :, :); dims=1)) == (3, 4)
    @test size(Gufunc.squeeze(view(x, 1:1, :, 2:2))) == (3,)
    wide = Gufunc.broadcast_to(view(x, :, 1, 1), 2, 5)
    @test Array(wide) == repeat(A[:, 1, 1], 1, 5) && Gufunc.read_only(wide)
    row = GufArray(collect(1:6); device=device)
    windows = Gufunc.sliding_window_view(row, (3,))
    @test Array(windows) == [i + j - 1 for i in 1:3, j in 1:4]
    @test Array(Gufunc.sliding_window_view(row, 3)) == Array(windows)
    pairs = Gufunc.sliding_window_view(view(x, :, :, 1), 2; dims=2)
    @test Array(pairs) == [A[i, j+k-1, 1] for k in 1:2, i in 1:2, j in 1:2]
    @test status_of(() -> Gufunc.sliding_window_view(x, (2, 1); dims=2)) == Gufunc.GUF_E_ARG
    both = Gufunc.sliding_window_view(view(x, :, :, 1), (2, 1))
    @test size(both) == (2, 1, 1, 3) && Array(both)[:, 1, 1, :] == A[:, :, 1]
    @test Array(Gufunc.astype(row, Float32)) isa Vector{Float32}
    @test Array(fill!(Gufunc.alloc(Int8, (3,); device=device), 7)) == Int8[7, 7, 7]
    y = similar(x)
    @test Array(Gufunc.assign!(y, x)) == A
    y[:, :, 1] = 0
    @test Array(y)[:, :, 1] == zeros(2, 3) && Array(y)[:, :, 2] == A[:, :, 2]
    @test Array(to_device(x, "cpu")) == A
    @test occursin("float64", Gufunc.printed(x))
    @test Array(copy(x; order=:C)) == A && Gufunc.is_c_contiguous(copy(x; order=:C))
    @test occursin("2×3×4 GufArray{Float64,3}", sprint(show, MIME"text/plain"(), x))
    unsafe_free!(x)
    @test status_of(() -> Array(x)) != 0
end

# A wrapped Julia array shares its memory: columns, strides, permutations, swapped bytes.
B = collect(reshape(1:12, 3, 4))
w = Gufunc.wrap(B)
w[2, 3] = 100
@test B[2, 3] == 100 && w[2, 3] == 100
@test Array(Gufunc.wrap(view(B, 3:-1:1, 2:2:4))) == B[3:-1:1, 2:2:4]
@test Array(Gufunc.wrap(PermutedDimsArray(B, (2, 1)))) == permutedims(B)
@test Array(add(Gufunc.wrap(bswap.([1, 2]); swapped=true), 1)) == [2, 3]
@test Gufunc.wrap(bswap.([1, 2]); swapped=true)[2] == 2
@test status_of(() -> Gufunc.wrap([1]; read_only=true)[1] = 2) == Gufunc.GUF_E_READ_ONLY
@test_throws BoundsError w[4, 1]

# Every integer type except Bool can be an index.
@test w[Int32(2), UInt8(3)] === 100 && w[big(2), 3] === 100 && w[2, Int8(3)] + 1 == 101
w[Int16(2), 3] = 50
@test w[UInt(5)] == 5 && w[2, :][Int8(3)] === 50
for index in ((true, 1), (1, true), (true, :), (true:true, 1), (:, true))
    @test_throws ArgumentError Gufunc.wrap(ones(2, 2))[index...]
    @test_throws ArgumentError Gufunc.wrap(ones(2, 2))[index...] = 1
    @test_throws ArgumentError view(Gufunc.wrap(ones(2, 2)), index...)
end

# Stored values are converted by Julia's rules, through an index, a range, a dot and fill!.
for device in DEVICES
    g = GufArray(Int8[1, 2]; device=device)
    for unfit in (2.7, 300, NaN, 1im, big(300), 1 // 2)
        @test_throws InexactError g[1:2] = unfit
        @test_throws InexactError g .= unfit
        @test_throws InexactError g[1:1] .= unfit
        @test_throws InexactError fill!(g, unfit)
    end
    @test Array(g) == [1, 2]
    @test copyto!(zeros(2), g) == [1, 2] && copyto!(zeros(1, 2), g) == [1 2]
    g .= 3.0
    @test Array(g) == [3, 3]
    g[1:1] = 4 // 1
    @test Array(g) == [4, 3]
    @test Array(fill!(g, Scalar(2.7))) == [2, 2] # cast
    @test_throws InexactError GufArray{Bool}(undef, 1; device=device) .= 2
    @test Array(fill!(GufArray{BFloat16}(undef, 1; device=device), pi)) == [BFloat16(pi)]
    @test Array(fill!(GufArray{Float32}(undef, 1; device=device), 1e300)) == [Inf]
end
g = GufArray(Int8[1, 2])
for unfit in ([300, 2], [1.5, 2], [NaN, 2], [1, 2im])
    @test_throws InexactError g .= unfit
    @test_throws InexactError g[1:2] = unfit
end
g .= [3.0, 4]
@test g == [3, 4]
g[1:2] = 5:6
@test g == [5, 6]
g .= GufArray([300, 2]) # an array of the library is cast
@test g == [44, 2]
@test status_of(() -> Gufunc.wrap(1:3)) == Gufunc.GUF_E_ARG
@test status_of(() -> reshape(Gufunc.permuted_view(w), 12)) == Gufunc.GUF_E_UNSUPPORTED

# Wrapped memory stays alive as long as a view of the memory.
function orphan()
    memory = fill(5.0, 1000)
    return view(Gufunc.wrap(memory), 1:2:999)
end
kept = orphan()
GC.gc()
@test all(Array(kept) .== 5.0)
roots = length(Gufunc.ROOTS)
unsafe_free!(kept)
GC.gc()
poll()
@test length(Gufunc.ROOTS) < roots

# Adjoints and transposes share the memory of their parents and are read and written without a copy.
A, B, R, v = rand(3, 2), rand(2, 3), zeros(2, 3), rand(3)
for lazy in (transpose, adjoint)
    @test add(lazy(A), B) == lazy(A) .+ B && add(lazy(v), B) == lazy(v) .+ B
    @test pointer(A) === Ptr{Float64}(Gufunc.borrow(lazy(A)).address)
    @test Gufunc.borrow(lazy(A)).owner === lazy(A)
    lazy(R) .= add.(A, lazy(B))
    @test lazy(R) == A .+ lazy(B)
    add!(lazy(R), A, 1)
    @test lazy(R) == A .+ 1
    @test Array(Gufunc.wrap(lazy(v))) == lazy(v)
    wide = view(rand(4, 6), 1:2:3, 2:2:6)
    @test add(lazy(wide), A) == lazy(wide) .+ A
    # Views of adjoints and transposes also share the memory.
    whole = zeros(4, 6)
    for ranges in ((2:5, 1:4), (1:2:5, 4:-1:1), (3, :), (:, 2), (6, 4))
        part = view(lazy(whole), ranges...)
        fill!(whole, 0)
        @test call!(add, part, fill(1.0, size(part)), 2) === part
        @test all(part .== 3) && sum(whole) == 3 * length(part)
        @test all(add(part, 1) .== 4)
    end
    row = view(lazy(v), 1:1, 2:3)
    @test call!(add, row, fill(1.0, 1, 2), 2) == [3.0 3.0] && v[2:3] == [3.0, 3.0]
end
C = rand(ComplexF64, 2, 3)
@test add(C', 1) == C' .+ 1 && add(transpose(C), 1) == transpose(C) .+ 1
call!(add, transpose(C), copy(transpose(C)), 1im)
@test status_of(() -> call!(add, C', C', 1)) == Gufunc.GUF_E_READ_ONLY
@test occursin("transpose(A) has", text_of(() -> call!(add, C', C', 1)))
