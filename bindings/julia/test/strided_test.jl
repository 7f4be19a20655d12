# SPDX-License-Identifier: Apache-2.0
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
