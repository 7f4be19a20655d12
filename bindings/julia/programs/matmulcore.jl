# SPDX-License-Identifier: Apache-2.0
# Computes products of stacks of matrices. The files are row-major, so the first two dimensions of
# an array are (columns, rows). `axes` selects these dimensions in the order (rows, columns).
include("program_arguments.jl")

f = ufunc_of("matmulcore")
a, b = input("matmulcore_a"), input("matmulcore_b") # (4, 3, 2) and (5, 4)
rows = (2, 1)
save("matmulcore_c", f(a, b; axes=(rows, rows, rows), device=PLACE))
# The product of b and NumPy's a[0], both with exchanged axes.
save("matmulcore_transposed", f(b, a[:, :, 1]; axes=((1, 2), (1, 2), rows), device=PLACE))
