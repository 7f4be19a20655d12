# SPDX-License-Identifier: Apache-2.0
hypotenuse = Gufunc.create("julia_hypotenuse"; nin=2, nout=1, doc="sqrt(a^2 + b^2)")
Gufunc.add_loop!((a, b) -> Base.sqrt(a^2 + b^2), hypotenuse, (Float64, Float64) => (Float64,))
@test hypotenuse.([3.0 6.0], [4.0 8.0; 0 0]) == [5.0 10.0; 3.0 6.0]
@test hypotenuse(Float32[3], 4) == [5.0]
@test UFunc("julia_hypotenuse")([3.0], 4.0) == [5.0]
@test Gufunc.ufunc_info(hypotenuse).doc == "sqrt(a^2 + b^2)"
@test Gufunc.loop_types(hypotenuse) == [(Float64, Float64, Float64)]
@test status_of(() -> Gufunc.create("julia_hypotenuse"; nin=1, nout=1)) == Gufunc.GUF_E_EXISTS

both = Gufunc.create("julia_divrem"; nin=2, nout=2)
Gufunc.add_loop!(divrem, both, (Int64, Int64) => (Int64, Int64))
@test both([7, 9], [2, 4]) == ([3, 2], [1, 1])
q, r = zeros(Int, 2), zeros(Int, 2)
@test call!(both, (q, r), [7, 9], [2, 4]) === (q, r) && q == [3, 2]
@test both([7], [2]; out=(nothing, r[1:1]))[1] == [3]

# The call throws the exception of a loop, and the process remains usable.
const FAILING_SUM = Gufunc.create("julia_failing_sum"; nin=2, nout=1, identity=:zero)
Gufunc.add_loop!((a, b) -> b > 2 ? error("too much") : a + b, FAILING_SUM,
                 (Float64, Float64) => (Float64,))
failing = Gufunc.create("julia_failing"; nin=1, nout=1)
Gufunc.add_loop!(x -> x > 2 ? error("too much") : x, failing, (Float64,) => (Float64,))
thrown_by(f) =
    try
        f()
    catch e
        e
    end
thrown = thrown_by(() -> failing([1.0, 3.0]))
@test thrown.status == Gufunc.GUF_E_LOOP && thrown.cause == ErrorException("too much")
@test thrown.message == "too much" && thrown.argument == -1
@test failing([1.0]) == [1.0]
@test occursin("too much", thrown_by(() -> reduce(FAILING_SUM, [1.0, 2.0, 3.0])).message)

# A GufuncError of a loop is thrown with all its fields. Exceptions whose text cannot be shown, is
# empty or is too long are also reported.
struct Unshowable <: Exception end
Base.showerror(io::IO, ::Unshowable) = error("no text")
struct Silent <: Exception end
Base.showerror(io::IO, ::Silent) = nothing
throwing = Gufunc.create("julia_throwing"; nin=1, nout=1)
const THROWN = Any[]
Gufunc.add_loop!(x -> throw(THROWN[end]), throwing, (Float64,) => (Float64,))
report(exception) = (push!(THROWN, exception); thrown_by(() -> throwing([1.0])))
e = report(GufuncError(Gufunc.GUF_E_VALUE, "wrong", 1, 2, 3, nothing))
@test (e.status, e.message, e.argument, e.axis, e.native_code) ==
      (Gufunc.GUF_E_VALUE, "wrong", 1, 2, 3)
@test report(GufuncError(7, "odd")).status == Gufunc.GUF_E_LOOP
@test report(Unshowable()).message == "Unshowable, which cannot be shown"
@test report(Silent()).message == "an exception without a text"
@test report(ErrorException("")).cause == ErrorException("")
@test report(ErrorException("ä" ^ 400)).message == "ä" ^ 243 # 486 of 488 bytes, and a NUL
@test report(ErrorException("b" ^ 400)).message == "b" ^ 400

# A loop must return as many results as there are outputs.
for (i, results) in enumerate(((1, 2), ()))
    f = Gufunc.create("julia_results_$i"; nin=1, nout=1)
    Gufunc.add_loop!(x -> results, f, (Float64,) => (Float64,))
    @test occursin("expected 1, got $(length(results))", text_of(() -> f([1.0])))
    @test status_of(() -> f([1.0])) == Gufunc.GUF_E_LOOP
end

# Generalized ufuncs: the loop receives one array per operand, and a hook receives the core sizes.
seen = Vector{Int}[]
function square_only(sizes)
    push!(seen, copy(sizes))
    sizes[1] == sizes[2] || throw(ArgumentError("not square"))
end
trace = Gufunc.create("julia_trace"; signature="(m,n)->()", core_dims=square_only)
Gufunc.add_loop!(trace, (Float64,) => (Float64,)) do a, t
    t[] = sum(a[i, i] for i in 1:size(a, 1))
end
M = reshape(collect(1.0:18.0), 3, 3, 2)
@test trace(M) == [sum(M[i, i, k] for i in 1:3) for k in 1:2] && seen[end] == [3, 3]
refused = thrown_by(() -> trace(zeros(2, 3)))
@test refused.cause == ArgumentError("not square") && occursin("not square", refused.message)

scale = Gufunc.create("julia_scale"; signature="(n)", roles=(:inout,))
Gufunc.add_loop!((row) -> (row .= 2 .* row), scale, (Float64,) => ())
rows = [1.0 10; 2 20]
call!(scale, (), rows)
@test rows == [2.0 20; 4 40]
@test status_of(() -> Gufunc.add_loop!(+, scale, (Int, Int) => (Int,))) == Gufunc.GUF_E_ARG

# A reduction with a Julia loop, and a reduction with a user-defined accumulator, which computes the
# maximum and its index.
gcd_of = Gufunc.create("julia_gcd"; nin=2, nout=1, identity=:zero,
                       flags=Gufunc.GUF_FUNCTION_ASSOCIATIVE)
Gufunc.add_loop!(gcd, gcd_of, (Int64, Int64) => (Int64,))
@test reduce(gcd_of, [12, 18, 30]) === 6
block_function = Gufunc.create("julia_argmax"; signature="(n),()->(),()")
Gufunc.add_loop!(block_function, (Float64, Int64) => (Float64, Int64)) do a, first, value, place
    value[], at = findmax([a[i] for i in 1:length(a)])
    place[] = first[] + at - 1
end
merge_two = Gufunc.create("julia_argmax_merge"; nin=4, nout=2)
Gufunc.add_loop!((a, i, b, j) -> b > a ? (b, j) : (a, i), merge_two,
                 (Float64, Int64, Float64, Int64) => (Float64, Int64))
Gufunc.set_reduction!(block_function; merge=merge_two)
values = [sin(1.7i) for i in 1:1000]
@test reduce(block_function, values) == (findmax(values)[1], findmax(values)[2] - 1)

# The loop of a call on a stream also runs on the calling thread.
thread = Threads.threadid()
threads_seen = Set{Int}()
noted = Gufunc.create("julia_noted"; nin=1, nout=1)
Gufunc.add_loop!(x -> (push!(threads_seen, Threads.threadid()); x + 1), noted,
                 (Float64,) => (Float64,))
wide = GufArray(zeros(300_000))
Stream("cpu") do s
    result = noted(wide)
    synchronize(s)
    @test all(Array(result) .== 1)
end
@test threads_seen == Set([thread])
if length(DEVICES) > 1
    @test status_of(() -> noted(GufArray([1.0]; device=DEVICES[2]))) == Gufunc.GUF_E_NO_IMAGE
end

# A compiled loop is added by its address, which is the address of a @cfunction here.
function doubled(args::Ptr{Ptr{Float64}}, dims::Ptr{Int64}, steps::Ptr{Int64}, user::Ptr{Cvoid})
    for i in 0:unsafe_load(dims)-1
        from = unsafe_load(args, 1) + i * unsafe_load(steps, 1)
        unsafe_store!(unsafe_load(args, 2) + i * unsafe_load(steps, 2), 2 * unsafe_load(from))
    end
end
twice = Gufunc.create("julia_twice"; nin=1, nout=1)
Gufunc.add_loop!(twice, (Float64, Float64),
                 @cfunction(doubled, Cvoid,
                            (Ptr{Ptr{Float64}}, Ptr{Int64}, Ptr{Int64}, Ptr{Cvoid})))
@test twice([1.0, 4.0]) == [2.0, 8.0]
refusing(args, dims, steps, user, record) =
    (unsafe_store!(Ptr{UInt32}(record + 24), UInt32('n') | UInt32('o') << 8); Gufunc.GUF_E_VALUE)
never = Gufunc.create("julia_never"; nin=1, nout=1)
Gufunc.add_loop!(never, (Float64, Float64),
                 @cfunction(refusing, Int32, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid},
                                              Ptr{Cvoid})); kind=:error)
e = thrown_by(() -> never([1.0]))
@test e.status == Gufunc.GUF_E_VALUE && e.message == "no"
