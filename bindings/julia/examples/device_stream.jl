# SPDX-License-Identifier: Apache-2.0
# Queues work on a stream with arrays in device memory. Usage: device_stream.jl FOLDER_OF_MODULES
# [DEVICE]
using Gufunc
using Gufunc.Standard: add

place = length(ARGS) > 1 ? ARGS[2] : "cpu"
x = GufArray(collect(1.0:5.0); device=place)
y = Stream(place) do s
    z = 2 .* x .+ 1             # queued on s, the current stream of the block
    z .= z .* z
    add(z, x)
end                             # synchronized here
println(Array(y))
println(Array(reduce(add, y)))
unsafe_free!(x)                 # frees x now; the garbage collector would free it later
