# SPDX-License-Identifier: Apache-2.0
# Computes x ^ y / z of a column, a row and a number, then the sum of all elements and the maximum
# of each row.
include("program_arguments.jl")
using Gufunc.Standard: add, maximum

# An array with NumPy's shape (4, 1) has the size (1, 4) in Julia, so NumPy's rows are columns.
x, y = input("device_function_x"), input("device_function_y")
power_over = load(joinpath(ARGS[1], "device_function.so")).power_over
out = power_over(x, y, 7; device=PLACE)
save("device_function_out", out)
save("device_function_sum", fill(reduce(add, out; device=PLACE)))
save("device_function_most", reduce(maximum, out; dims=1, device=PLACE))
