# SPDX-License-Identifier: Apache-2.0
A, B = [1.0 2; 3 4; 5 6], [10.0, 20, 30]
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
    @test status_of(() -> x .+ GufArray([1.0, 2.0]; device=device)) == Gufunc.GUF_E_SHAPE
    @test status_of(() -> cbrt.(x)) == Gufunc.GUF_E_NOT_FOUND
end
shaped = Gufunc.create("julia_cbrt"; nin=1, nout=1)
Gufunc.add_loop!(cbrt, shaped, (Float64,) => (Float64,))
Gufunc.stands_for!(cbrt, shaped)
@test Array(cbrt.(GufArray([8.0, 27.0]))) == [2, 3]
