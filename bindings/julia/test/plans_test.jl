# SPDX-License-Identifier: Apache-2.0
for device in DEVICES
    x, y, r = (GufArray(collect(1.0:6.0); device=device) for _ in 1:3)
    plan = Plan(add, r, x, y)
    launch!(plan)
    device == "cpu" || synchronize(Gufunc.device(device))
    @test Array(r) == 2 .* (1:6)
    other = similar(r)
    launch!(plan, other, y, r)
    device == "cpu" || synchronize(Gufunc.device(device))
    @test Array(other) == 3 .* (1:6)
    Stream(device) do s
        launch!(plan, other, x, y)
    end
    @test Array(other) == [2, 4, 6, 8, 10, 12]
    @test occursin("add", Gufunc.explain(plan))
    @test Gufunc.workspace(plan)[1] >= 0
    @test status_of(() -> launch!(plan, other, other, x)) == Gufunc.GUF_E_PLAN_MISMATCH
    # This plan needs a workspace, because the output overlaps the input in reverse order.
    overlapping = Plan(add, x, view(x, 6:-1:1), 1)
    @test Gufunc.workspace(overlapping)[1] > 0
    launch!(overlapping)
    device == "cpu" || synchronize(Gufunc.device(device))
    @test Array(x) == 7:-1:2
    # Every function that reads a result waits for the stream that computes it.
    large, result = (GufArray(collect(1.0:1e6); device=device) for _ in 1:2)
    running = Plan(add, result, large, large)
    Stream(device) do s
        for _ in 1:5
            launch!(running)
        end
        @test Array(view(result, 1:2)) == [2, 4] && Array(result)[end] == 2e6
    end
    unsafe_free!(plan)
    @test status_of(() -> launch!(plan)) != 0
end
A = rand(3, 4)
R = zeros(3, 4)
masked = Plan(add, R, A, 1; where=A .> 0.5)
launch!(masked)
@test R == ifelse.(A .> 0.5, A .+ 1, 0)
@test status_of(() -> Plan(add, (nothing,), A, 1)) == Gufunc.GUF_E_ARG

# Other operands must have the layouts for which the plan was made.
x, r = collect(1.0:1000.0), zeros(1000)
made = Plan(add, r, x, 1.0)
for refused in (zeros(Float32, 1000), zeros(999), zeros(1000, 1), view(zeros(2000), 1:2:2000),
                Tensor(zeros(1000); swapped=true))
    @test status_of(() -> launch!(made, refused, x, 1.0)) == Gufunc.GUF_E_PLAN_MISMATCH
    @test status_of(() -> launch!(made, r, refused, 1.0)) == Gufunc.GUF_E_PLAN_MISMATCH
end
@test status_of(() -> launch!(made, r, x)) == Gufunc.GUF_E_PLAN_MISMATCH
@test status_of(() -> launch!(made, r, x, 2.0)) == Gufunc.GUF_E_PLAN_MISMATCH
@test status_of(() -> launch!(made, Tensor(r; read_only=true), x, 1.0)) == Gufunc.GUF_E_READ_ONLY
@test r == zeros(1000)
@test launch!(made, GufArray(r), x, 1.0) == x .+ 1 && launch!(made, r, x, 1.0) === r && r == x .+ 1

# A plan keeps its operands alive. Vectors among them cannot be resized, and launching a plan with a
# freed array throws.
v, y, z = zeros(1000), GufArray(fill(4.0, 1000)), GufArray(zeros(1000))
@test_throws ErrorException (p = Plan(negative, v, y); resize!(v, 10^6))
p = Plan(negative, z, y)
launch!(p)
@test z[1] == -4
unsafe_free!(y)
@test status_of(() -> launch!(p)) == Gufunc.GUF_E_HANDLE
unsafe_free!(z)
@test status_of(() -> launch!(p; stream=Stream())) == Gufunc.GUF_E_HANDLE
