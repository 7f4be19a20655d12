# SPDX-License-Identifier: Apache-2.0
# Products of stacks of matrices. Files hold rows; core dimensions here are the first two, rows
# first, so the files' matrices are read with their dimensions exchanged, by axes.
include("program_arguments.jl")

f = ufunc_of("matmulcore")
a, b = input("matmulcore_a"), input("matmulcore_b") # (4, 3, 2) and (5, 4)
rows = (2, 1)
save("matmulcore_c", f(a, b; axes=(rows, rows, rows), device=PLACE))
# b and a[0] of the files, each with exchanged axes.
save("matmulcore_turned", f(b, a[:, :, 1]; axes=((1, 2), (1, 2), rows), device=PLACE))
