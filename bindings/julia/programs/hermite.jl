# SPDX-License-Identifier: Apache-2.0
# Computes Hermite polynomials along rows, into a separate output and then in place. Device work
# runs on a stream.
include("program_arguments.jl")

f = ufunc_of("hermite")
rows, long = input("hermite_rows"), input("hermite_long")
Stream(PLACE) do s
    x = to_device(rows, PLACE)
    out = to_device(fill(9.0f0, size(rows)), PLACE)
    call!(f, out, x)
    call!(f, (), x)
    y = to_device(long, PLACE)
    call!(f, (), y)
    synchronize(s)
    save("hermite_out", Array(out))
    save("hermite_in_place", Array(x))
    save("hermite_long", Array(y))
end
