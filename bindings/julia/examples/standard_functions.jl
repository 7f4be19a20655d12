# SPDX-License-Identifier: Apache-2.0
# Calls ufuncs of the standard library on Julia arrays.
using Gufunc
using Gufunc.Standard: add, add!, maximum, sqrt

A = [1.0 2.0; 3.0 4.0; 5.0 6.0]
b = [10.0, 20.0, 30.0]
println(add(A, b))                      # dimensions are aligned as in Julia: b is a column
println(sqrt.(add.(A, 2 .* b)))         # every function of a dotted expression is a ufunc

R = zeros(Float32, 3)
add!(R, Float32[1, 2, 3], 0.5)          # into R; a plain number adopts the type of the others
println(R)

println(reduce(add, A; dims=1), " ", reduce(maximum, A))
try
    add(A, [1.0, 2.0])
catch e
    println(Gufunc.status_name(e.status), ": ", e.message)
end
