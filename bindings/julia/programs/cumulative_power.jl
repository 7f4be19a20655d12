# SPDX-License-Identifier: Apache-2.0
# Computes x, x + x^2, … along rows. One call works in place, one call writes to a reversed output,
# and one call works along columns.
include("program_arguments.jl")

f = ufunc_of("cumulative_power")
rows, columns = input("cumulative_power_rows"), input("cumulative_power_columns")
reversed_rows = zeros(Float32, size(rows))
call!(f, view(reversed_rows, size(reversed_rows, 1):-1:1, :), rows; device=PLACE)
save("cumulative_power_reversed", reversed_rows)
call!(f, (), rows; device=PLACE)
save("cumulative_power_rows", rows)
call!(f, (), columns; dims=2, device=PLACE) # NumPy's axis 0
save("cumulative_power_columns", columns)
