# SPDX-License-Identifier: Apache-2.0
# Tests operands that only a call refers to. The garbage collector runs during the call, and freed
# memory is overwritten immediately. Optimization is on, because it could release operands early.
using Gufunc
using Gufunc: record

const COUNT = 1000

# Runs at the first item of a call. Overwrites memory that the call does not keep alive.
function collect_and_overwrite()
    GC.gc()
    for _ in 1:200
        push!(FILLERS, fill(NaN, COUNT))
    end
    poll()
end
const FILLERS = Vector{Float64}[]

function collecting(name, nin, function_of)
    f = Gufunc.create(name; nin=nin, nout=1)
    seen = Ref(0)
    body(numbers...) = ((seen[] += 1) % COUNT == 1 && collect_and_overwrite(); function_of(numbers))
    Gufunc.add_loop!(body, f, ntuple(_ -> Float64, nin) => (Float64,))
    return f
end

const ONE = collecting("collecting_one", 1, sum)
const TWO = collecting("collecting_two", 2, sum)
const FIVE = collecting("collecting_five", 5, sum)

made(value) = fill(Float64(value), COUNT)
parts(value) = view(fill(Float64(value), 2, 2COUNT), 1, 1:2:2COUNT)
# Returns an array of size (1, COUNT).
transposed(value) = PermutedDimsArray(fill(Float64(value), COUNT, 1), (2, 1))
wrapped(value) = GufArray(made(value))
shared(value) = Gufunc.wrap(made(value))
tensor(value) = Tensor(made(value))
const KINDS = (made, parts, wrapped, shared, tensor)

# The call is the last use of its operands, and a view is the only owner of the output.
@noinline one(kind) = (out = made(0); call!(ONE, view(out, :), kind(1)); out)
@noinline two(kind, other) = (out = made(0); call!(TWO, out, kind(1), other(2)); out)
@noinline five(kind, other) =
    (out = made(0); call!(FIVE, (out,), kind(1), other(2), kind(3), other(4), kind(5)); out)
@noinline wide() = (out = zeros(1, COUNT); call!(TWO, out, transposed(1), transposed(1)); out)
@noinline queued(kind, s) = with_stream(() -> two(kind, kind), s)
@noinline keywords(kind) = (out = made(0); call!(TWO, out, kind(1), kind(2); threads=1); out)
@noinline allocated(kind) = Array(TWO(kind(1), kind(2)))
@noinline planned(kind) = (out = made(0); p = Plan(TWO, out, kind(1), kind(2)); launch!(p); out)

# The stream is dropped or freed while its work runs. An event reports when the work is complete.
@noinline function left_behind(free, rounds)
    size, out = 2_000_000, zeros(2_000_000)
    e = Event()
    (function ()
        s, inputs = Stream(), [fill(log(value), size) for value in 1:20]
        for _ in 1:rounds, a in inputs
            call!(Gufunc.Standard.exp, out, a; stream=s)
        end
        record(e, s)
        free && unsafe_free!(s)
    end)()
    foreach(_ -> GC.gc(), 1:3)  # the first collection only finalizes the stream
    early = !isready(e)
    fillers = [fill(NaN, size) for _ in 1:20]
    wait(e)
    GC.gc()
    return early, all(x -> abs(x - 20) < 1e-9, out)
end

all_are(values, expected) = (empty!(FILLERS); all(isequal(expected), values))

function kept_alive()
    s = Stream()
    for kind in KINDS
        results = [one(kind) => 1, keywords(kind) => 3, allocated(kind) => 3, planned(kind) => 3]
        push!(results, two(kind, kind) => 3, five(kind, wrapped) => 15, two(made, kind) => 3)
        push!(results, (synchronize(s); queued(kind, s)) => 3)
        synchronize(s)
        for (i, (values, expected)) in enumerate(results)
            all_are(values, expected) || (println("$kind, result $i: $(values[end])"); return false)
        end
    end
    for free in (true, false)
        early, right, rounds = false, true, 10
        while right && !early && rounds < 1000
            early, right = left_behind(free, rounds)
            rounds *= 4
        end
        early && right || (println("stream left behind: $early, $right"); return false)
    end
    return all_are(wide(), 2) && nothing_allocated()
end

# A call without keywords must not allocate, whatever kind of operands it has.
@noinline repeated(f!, out, a, b, count) =
    for _ in 1:count
        f!(out, a, b)
    end

function nothing_allocated()
    add! = Gufunc.Standard.add!
    matmul! = Gufunc.Standard.matmul!
    a, m = ones(4), ones(2, 2)
    calls = [(add!, ones(4), a, a), (add!, GufArray(a), GufArray(a), a), (add!, ones(4), a, 2),
             (add!, view(ones(8), 1:2:8), view(a, :), a), (add!, (ones(4),), a, a),
             (add!, PermutedDimsArray(ones(2, 2), (2, 1)), m, m), (matmul!, ones(2, 2), m, m)]
    for (i, (f!, out, x, y)) in enumerate(calls)
        repeated(f!, out, x, y, 1)
        bytes = @allocated repeated(f!, out, x, y, 1000)
        bytes == 0 || (println("call $i allocated $bytes bytes in 1000 turns"); return false)
    end
    return true
end

exit(kept_alive() ? 0 : 1)
