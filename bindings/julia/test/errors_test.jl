# SPDX-License-Identifier: Apache-2.0
e = try
    add(zeros(2, 3), zeros(2, 4))
catch caught
    caught
end
@test e isa GufuncError && e.status == Gufunc.GUF_E_SHAPE && e.argument == 1 && e.axis == 2
@test occursin("could not be broadcast", e.message) && e.cause === nothing
@test occursin("GUF_E_SHAPE", sprint(showerror, e))
@test Gufunc.status_name(300) == "GUF_E_SHAPE" && !isempty(Gufunc.status_text(300))
@test Gufunc.status_name(777) == "GUF_E_UNKNOWN"
@test Gufunc.version() >= v"0.1.0" && Gufunc.version_string() == string(Gufunc.version())

# Messages count dimensions from 1, as the caller does.
for (dims, text) in (-1 => "dimension -1 is out of bounds for an array of 2 dimensions",
                     0 => "dimension 0 is", 3 => "dimension 3 is", (1, 4) => "dimension 4 is",
                     1.0 => "dimension: expected an integer, got 1.0", :x => "got :x")
    @test occursin(text, text_of(() -> reduce(add, zeros(2, 3); dims=dims)))
end

repeated = GufArray(zeros(1, 3, 1))
for (call, text) in (
        (() -> reduce(add, zeros(2, 3, 4); dims=(1, 3, 1))) => "; dimension 1 is named twice",
        (() -> reduce(add, zeros(2, 3, 4); dims=(3, 3))) => "; dimension 3 is named twice",
        (() -> permutedims(repeated, (1, 1, 3))) => "; dimension 1 is named twice",
        (() -> dropdims(repeated; dims=(3, 3))) => "; dimension 3 is named twice",
        (() -> Gufunc.expand_dims(repeated; dims=(5, 5))) => "; dimension 5 is named twice",
        (() -> matmul(zeros(2, 3), zeros(3, 5); axes=((1, 2), (2, 2), (1, 2)))) =>
            "axes item 1 has value 2 repeated")
    @test occursin(text, text_of(call))
end

# The error's `axis` also counts from 1. It is a dimension of the operand at fault, although the
# library has the dimensions in reverse order.
axis_of(f) = (e = thrown_by(f); (e.argument, e.axis))
@test axis_of(() -> add(zeros(2, 3), zeros(4, 3))) == (1, 1)
@test axis_of(() -> add(zeros(2, 3, 5), zeros(2, 4))) == (1, 2)
@test axis_of(() -> add(GufArray(zeros(2, 3, 5)), GufArray(zeros(2, 3, 4)))) == (1, 3)
@test axis_of(() -> add!(zeros(2, 7), zeros(2, 3), 1)) == (2, 2)
@test axis_of(() -> add(zeros(2, 3), 1; where=trues(2, 4))) == (3, 2)
@test axis_of(() -> add!(zeros(2), zeros(2, 3), 1)) == (2, -1)   # the output lacks a dimension
for dims in (-2, 0, 3, (1, 7), typemax(Int))
    @test axis_of(() -> reduce(add, zeros(2, 3); dims=dims)) == (-1, last(dims))
end
@test axis_of(() -> reduce(add, zeros(2, 3, 4); dims=(1, 3, 1))) == (-1, 1)
@test axis_of(() -> accumulate(add, zeros(2, 3); dims=3)) == (-1, 3)
@test axis_of(() -> reduce(add, zeros(2, 3); where=trues(2, 4), dims=1)) == (3, 2)
@test axis_of(() -> reduceat(add, zeros(2, 3), [1, 9]; dims=2)) == (3, 2)
@test axis_of(() -> reduceat(add, zeros(2, 3), [1, 9]; dims=1)) == (3, 1)
@test axis_of(() -> at!(add, zeros(2, 3), ([1], [9]), 1)) == (3, 2)
@test axis_of(() -> outer!(add, zeros(2, 4), zeros(2), zeros(3))) == (2, 2)
@test axis_of(() -> outer!(add, GufArray(zeros(2, 4)), GufArray(zeros(2)), zeros(3))) == (2, 2)
@test axis_of(() -> matmul(zeros(2, 3), zeros(4, 5))) == (1, 1)
@test axis_of(() -> matmul(zeros(2, 3, 4), zeros(3, 5, 7))) == (1, 3)
@test axis_of(() -> matmul(zeros(2, 3), zeros(3, 5); axes=((1, 2), (1, 9), (1, 2)))) == (1, 9)
@test axis_of(() -> matmul(zeros(2, 3), zeros(3, 5); axes=((1, 2), (2, 2), (1, 2)))) == (1, 2)
@test axis_of(() -> Plan(add, zeros(2, 3), zeros(2, 4), 1.0)) == (2, 2)
@test axis_of(() -> Gufunc.explain(add, zeros(2, 3), zeros(2, 4))) == (1, 2)
@test axis_of(() -> Gufunc.explain(outer, add, zeros(2), zeros(3); out=zeros(2, 4))) == (2, 2)
@test axis_of(() -> Gufunc.resolve(add, zeros(2, 3), zeros(2, 4))) == (1, 2)
x = GufArray(zeros(2, 3))
@test axis_of(() -> Gufunc.broadcast_to(x, 2, 4)) == (-1, 2)
@test axis_of(() -> dropdims(x; dims=2)) == (-1, 2)
@test axis_of(() -> permutedims(x, (1, 3))) == (-1, 3)
@test axis_of(() -> Gufunc.expand_dims(x; dims=4)) == (-1, 4)
@test axis_of(() -> Gufunc.sliding_window_view(x, (4,); dims=(2,))) == (-1, 2)
@test axis_of(() -> Gufunc.alloc(Float64, (2, -3))) == (-1, 2)
@test occursin("dimension 5 is", text_of(() -> dropdims(GufArray(zeros(2)); dims=5)))
@test occursin("none for missing", text_of(() -> add([1.0, missing], 1)))
@test occursin("elements of type String", text_of(() -> add(zeros(1), ["a"])))
@test occursin("elements of type String", text_of(() -> add!(zeros(1), ["a"], 1)))

# Objects that are not streams, devices or outputs are rejected with a specific message.
for (refused, text) in (
    (() -> add([1.0], 1; stream="cpu")) => "stream: expected a Stream or nothing, got \"cpu\"",
    (() -> add([1.0], 1; device=1)) => "device: expected a Device or its name, got 1",
    (() -> add([1.0], 1; out=2)) => "cannot make an output of a Int64",
    (() -> add!(1, [1.0], 1)) => "cannot make an output of a Int64",
    (() -> call!(add, (), [1.0], 1)) => "out: expected the 1 of add, got no outputs",
    (() -> call!(add, (), [1.0], 1; where=true)) => "out: expected the 1 of add, got no outputs",
    (() -> add([1.0], 1; out=())) => "out: expected the 1 of add, got no outputs",
    (() -> outer(add, [1.0], [1.0]; out=())) => "out: expected the 1 of add, got no outputs",
    (() -> add([1.0], 1; threads=-1)) =>
        "threads: expected an integer from 0 to 4294967295, got -1",
    (() -> reduce(add, [1.0]; threads=2^32)) =>
        "threads: expected an integer from 0 to 4294967295, got 4294967296",
    (() -> add([1.0], 1; fp_flags=3)) => "fp_flags: expected a Ref{UInt32}, got 3",
    (() -> add([1.0], 1; signature="dd->d")) => "signature: expected types, got",
    (() -> call_chunked!(add, [1.0], [1.0], 1; chunk_bytes=-1)) =>
        "chunk_bytes: expected an integer from 0 to 18446744073709551615, got -1",
    (() -> call_chunked!(add, [1.0], [1.0], 1; depth=0.5)) =>
        "depth: expected an integer from -2147483648 to 2147483647, got 0.5")
    @test status_of(refused) == Gufunc.GUF_E_ARG && occursin(text, text_of(refused))
end

# Every public name, and every name mentioned in the documentation, has a docstring.
for name in (names(Gufunc)..., :novalue, :current_stream)
    @test !occursin("No documentation found", string(Docs.doc(Docs.Binding(Gufunc, name))))
end

# The use of a freed handle is reported, and freeing twice does nothing.
x = GufArray([1.0])
unsafe_free!(x)
unsafe_free!(x)
@test status_of(() -> add(x, 1)) != 0
@test status_of(() -> x[1]) == Gufunc.GUF_E_HANDLE
s, own = Stream(), Gufunc.Context()
unsafe_free!(s)
unsafe_free!(own)
@test status_of(() -> add([1.0], 1; stream=s)) == Gufunc.GUF_E_HANDLE # not on the default stream
@test status_of(() -> with_stream(() -> add!([1.0], [1.0], 1), s)) == Gufunc.GUF_E_HANDLE
@test status_of(() -> synchronize(s)) == Gufunc.GUF_E_HANDLE
@test status_of(() -> UFunc("add"; context=own)(1, 2)) == Gufunc.GUF_E_HANDLE
u = UFunc("nonsense")
@test status_of(() -> u(1)) == Gufunc.GUF_E_NOT_FOUND

# If several threads use a ufunc for the first time at the same time, all of them get the same
# ufunc.
v = UFunc("add")
results = fetch.([Threads.@spawn(v(i, 1)) for i in 1:100])
@test results == 2:101

# Finalizers may run in any order and on any thread. After a poll, the finalized objects are freed.
function made_and_dropped()
    for i in 1:200
        y = GufArray(rand(10))
        z = view(y, 2:5)
        Event(); Stream()
        i % 50 == 0 && GC.gc()
    end
end
made_and_dropped()
GC.gc()
@test poll() >= 0
