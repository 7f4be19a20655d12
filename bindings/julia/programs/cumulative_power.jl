# SPDX-License-Identifier: Apache-2.0
# Computes x, x + x^2, … along rows: in place, into a reversed output, and along columns.
include("program_arguments.jl")

f = ufunc_of("cumulative_power")
rows, columns = input("cumulative_power_rows"), input("cumulative_power_columns")
turned = zeros(Float32, size(rows))
call!(f, view(turned, size(turned, 1):-1:1, :), rows; device=PLACE)
save("cumulative_power_reversed", turned)
call!(f, (), rows; device=PLACE)
save("cumulative_power_rows", rows)
call!(f, (), columns; dims=2, device=PLACE) # NumPy's axis 0
save("cumulative_power_columns", columns)
