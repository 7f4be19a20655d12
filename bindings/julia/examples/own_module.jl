# SPDX-License-Identifier: Apache-2.0
# Calls a ufunc that gufcc compiled from examples/kernels/discriminant.guf.cpp, and a ufunc whose
# loop is a Julia function. Usage: own_module.jl FOLDER_OF_MODULES
using Gufunc

m = load(joinpath(ARGS[1], "discriminant.so"))
a = [0, 0.25, 0.5, 0.75, 1]
b = [10, 10.1, 10.5, 10.7, 11]
foreach(println, m.discriminant.(a, b, [1, 0.9, 0.3, 0.6, 0.1]))

hypotenuse = Gufunc.create("hypotenuse"; nin=2, nout=1)
Gufunc.add_loop!((x, y) -> sqrt(x^2 + y^2), hypotenuse, (Float64, Float64) => (Float64,))
println(hypotenuse.([3.0 6.0], [4.0, 8.0]))
