# SPDX-License-Identifier: Apache-2.0
# Computes sqrt(b^2 - 4ac) of arrays, of an array and numbers, and with a mask.
include("program_arguments.jl")

f = ufunc_of("discriminant")
a, b, c, mask = (input("discriminant_$x") for x in ("a", "b", "c", "mask"))
save("discriminant_x", f(a, b, c; device=PLACE))
save("discriminant_numbers", f(a, 10.1, 1; device=PLACE))
masked = fill(7.0f0, 5)
save("discriminant_masked", f(a, b, c; out=masked, where=mask, device=PLACE))
