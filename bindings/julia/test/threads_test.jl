# SPDX-License-Identifier: Apache-2.0
# Eight tasks make 10^5 calls that fail for different reasons, and every message must belong to its
# call. Then the garbage collector releases objects while other threads make calls. Started with -t
# 8. Julia 1.5 creates at most as many threads as the machine has cores, so the tasks may share
# threads.
using Gufunc
using Gufunc.Standard: add

const TASKS = 8

on_all_threads(run) = foreach(wait, [Threads.@spawn(run(t)) for t in 1:TASKS])

function wrong_messages(calls)
    wrong = zeros(Int, TASKS)
    on_all_threads() do t
        a, b, out = zeros(t + 1), zeros(t + 20), zeros(2)
        expected = "shapes ($(t + 1),) ($(t + 20),)"
        for _ in 1:calls÷TASKS
            try
                call!(add, out, a, b)
                wrong[t] += 1  # the call must not succeed
            catch e
                e isa GufuncError && e.status == Gufunc.GUF_E_SHAPE &&
                    occursin(expected, e.message) || (wrong[t] += 1)
            end
        end
    end
    return sum(wrong)
end

function released_anywhere(rounds)
    sums = zeros(TASKS)
    on_all_threads() do t
        for i in 1:rounds
            x = GufArray(fill(Float64(t), 16))
            y = add(view(x, 1:8), 1)
            sums[t] += y[1]
            i % 100 == 0 && t == 1 && GC.gc(false)
        end
    end
    return sums == [(t + 1.0) * rounds for t in 1:TASKS]
end

function main()
    wrong = wrong_messages(100_000)
    println("100000 failing calls of $TASKS tasks on $(Threads.nthreads()) threads: $wrong wrong")
    return wrong == 0 && released_anywhere(2000)
end

exit(main() ? 0 : 1)
