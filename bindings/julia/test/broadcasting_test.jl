# SPDX-License-Identifier: Apache-2.0
A, B = [1.0 2; 3 4; 5 6], [10.0, 20, 30]
third(x) = x / 3  # a function without a ufunc
@test add.(A, B) == A .+ B && add.(A, B) isa Matrix
@test add.(A, 2 .* B) == A .+ 2 .* B
@test add.(1, 2) === 3
R = zeros(3, 2)
R .= add.(A, B)
@test R == A .+ B
R .= 2 .* add.(A, B) .- B
@test R == 2 .* (A .+ B) .- B
R[2:3, :] .= multiply.(A[1:2, :], 10)
@test R[2:3, :] == A[1:2, :] .* 10

for device in DEVICES
    x, y = GufArray(A; device=device), GufArray(B; device=device)
    z = x .+ y .* 2
    @test z isa GufArray{Float64,2} && Array(z) == A .+ B .* 2
    z .= x .* x .- 1
    @test Array(z) == A .* A .- 1
    z .+= 1
    @test Array(z) == A .* A
    z .= 3
    @test all(Array(z) .== 3)
    z .= y
    @test Array(z) == zeros(3, 2) .+ B
    @test Array(sin.(x)) ≈ sin.(A) && Array(abs.(.-x)) == A && Array(x .^ 2) == A .^ 2
    @test Array(x .+ y .+ 1 .+ x) == A .+ B .+ 1 .+ A
    @test Array((x .> 2) .& (x .< 5)) == (A .> 2) .& (A .< 5)
    @test map(Array, fldmod.(x, 2)) == (fld.(A, 2), mod.(A, 2)) && Array(atan.(x, 1)) ≈ atan.(A, 1)
    @test status_of(() -> x .+ GufArray([1.0, 2.0]; device=device)) == Gufunc.GUF_E_SHAPE
    @test status_of(() -> third.(x)) == Gufunc.GUF_E_NOT_FOUND
end

# Adjoints and transposes of a GufArray are operands without a copy.
for device in DEVICES, lazy in (adjoint, transpose)
    x, y = GufArray(A; device=device), GufArray(B; device=device)
    @test lazy(x) isa GufArray && Array(lazy(x)) == lazy(A)
    sum = lazy(x) .+ 1
    @test sum isa GufArray{Float64,2} && Array(sum) == lazy(A) .+ 1
    sum = lazy(y) .+ y
    @test sum isa GufArray{Float64,2} && Array(sum) == lazy(B) .+ B
    @test Array(add(lazy(y), y)) == lazy(B) .+ B && eltype(Float32.(lazy(y))) === Float32
    @test status_of(() -> third.(lazy(y))) == Gufunc.GUF_E_NOT_FOUND
    lazy(x) .= 2 .* lazy(x)
    lazy(y) .+= 1
    @test Array(x) == 2A && Array(y) == B .+ 1
    lazy(y) .= 7
    @test Array(y) == [7, 7, 7]
    z = GufArray([1.0im 2; 3 4im; 5 6]; device=device)
    sum = lazy(z) .+ 1
    @test sum isa GufArray{ComplexF64,2} && Array(sum) == lazy([1.0im 2; 3 4im; 5 6]) .+ 1
    sum = lazy(view(z, :, 1)) .- 1
    @test sum isa GufArray{ComplexF64,2} && Array(sum) == lazy([1.0im, 3, 5]) .- 1
end
@test status_of(() -> GufArray([1.0im 2])' .= 0) == Gufunc.GUF_E_READ_ONLY
@test GufArray(B)' * GufArray(B) === 1400.0 # a number, as in Julia

# Literal powers, inv, \\, conversions to types, and tuples behave as in Julia.
for device in DEVICES
    x = GufArray([1, 2, 4]; device=device)
    @test Array(x .^ -1) == [1, 0.5, 0.25] && Array(inv.(x)) == [1, 0.5, 0.25]
    @test Array(x .^ -2) == [1, 0.25, 0.0625] && Array(x .^ 0) == [1, 1, 1]
    @test Array(x .^ 3) == [1, 8, 64] && Array(x .^ 1) == [1, 2, 4] && Array(.+x) == [1, 2, 4]
    @test Array(2 .\ x) == [0.5, 1, 2] && eltype(Float32.(x)) === Float32
    @test Array(Float32.(x)) == [1, 2, 4]
    @test eltype(GufArray(Float32[2]; device=device) .^ -1) === Float32
    @test status_of(() -> abs2.(GufArray([1.0im]; device=device))) == Gufunc.GUF_E_NOT_FOUND
end
@test add.((1.0, 2.0), [3.0, 4.0]) == [4, 6] && add.((1, 2), (3, 4)) === (4, 6)

# Julia evaluates a function without a ufunc if its operands are Julia's.
@test add.(A, third.(B)) == A .+ third.(B) && add.([1, 2], ifelse.([true, false], 1, 2)) == [2, 4]
@test third.(add.(A, B)) == third.(A .+ B) && add.(B, Float32.([1, 2, 3])) == B .+ (1:3)
@test abs2.(add.([1.0im], 1)) == [2] && add.(BFloat16.([1.0f0, 2]), BFloat16(1)) == [2, 3]
R .= third.(add.(A, B))
@test R == third.(A .+ B)

# Every ufunc with an equivalent in Base is mapped to it. The ufuncs in `without` have no
# equivalent.
without = ("logical_and", "logical_or", "logical_xor", "fmax", "fmin", "matmul", "vecdot")
mapped = Set(g.name for (f, g) in Gufunc.UFUNCS_OF_FUNCTIONS)
push!(mapped, "negative") # the ufunc of - with one operand
unmapped = [n for n in Gufunc.ufunc_names() if !(n in mapped) && !occursin(":", n) &&
            !(Symbol(n) in Gufunc.FUNCTIONS_OF_ARRAYS) && isdefined(Gufunc.Standard, Symbol(n))]
@test issubset(without, unmapped) && !any(n -> Base.isexported(Base, Symbol(n)), unmapped)

shaped = Gufunc.create("julia_third"; nin=1, nout=1)
Gufunc.add_loop!(third, shaped, (Float64,) => (Float64,))
Gufunc.register_broadcast!(third, shaped)
@test Array(third.(GufArray([6.0, 9.0]))) == [2, 3]
