# SPDX-License-Identifier: Apache-2.0
# 8 threads fail 10^5 calls, each in a way of its own: every message is the call's. Then releases by
# the collector while other threads call. Started with JULIA_NUM_THREADS=8.
using Gufunc
using Gufunc.Standard: add

function wrong_messages(calls)
    wrong = zeros(Int, Threads.nthreads())
    Threads.@threads for t in 1:Threads.nthreads()
        a, b, out = zeros(t + 1), zeros(t + 20), zeros(2)
        wanted = "shapes ($(t + 1),) ($(t + 20),)"
        for _ in 1:calls÷Threads.nthreads()
            try
                call!(add, out, a, b)
                wrong[t] += 1
            catch e
                e isa GufuncError && e.status == Gufunc.GUF_E_SHAPE &&
                    occursin(wanted, e.message) || (wrong[t] += 1)
            end
        end
    end
    return sum(wrong)
end

function released_anywhere(rounds)
    sums = zeros(Threads.nthreads())
    Threads.@threads for t in 1:Threads.nthreads()
        for i in 1:rounds
            x = GufArray(fill(Float64(t), 16))
            y = add(view(x, 1:8), 1)
            sums[t] += y[1]
            i % 100 == 0 && t == 1 && GC.gc(false)
        end
    end
    return sums == [(t + 1.0) * rounds for t in 1:Threads.nthreads()]
end

function main()
    Threads.nthreads() == 8 || error("wants JULIA_NUM_THREADS=8")
    wrong = wrong_messages(100_000)
    println("100000 failing calls of 8 threads: $wrong wrong messages")
    return wrong == 0 && released_anywhere(2000)
end

exit(main() ? 0 : 1)
