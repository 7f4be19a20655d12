# SPDX-License-Identifier: Apache-2.0
# Calls a generalized ufunc (examples/kernels/matmulcore.guf.cpp). Core dimensions are the first
# dimensions of an array, and the dimensions of a stack follow. Nothing is copied. Usage:
# core_dimensions.jl FOLDER_OF_MODULES
using Gufunc

product = load(joinpath(ARGS[1], "matmulcore.so")).matmulcore
stack = reshape(collect(1.0:12.0), 2, 3, 2)
ones_of = [1.0 0.0; 1.0 1.0; 0.0 1.0]
println(product(stack, ones_of))
println(product(stack, ones_of) == cat(stack[:, :, 1] * ones_of, stack[:, :, 2] * ones_of; dims=3))
println(product(ones_of, ones_of; axes=((2, 1), (1, 2), (1, 2))))
