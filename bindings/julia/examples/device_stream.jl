# SPDX-License-Identifier: Apache-2.0
# Arrays that stay on a device, and a stream. device_stream.jl FOLDER_OF_MODULES [DEVICE]
using Gufunc
using Gufunc.Standard: add

place = length(ARGS) > 1 ? ARGS[2] : "cpu"
x = GufArray(collect(1.0:5.0); device=place)
y = Stream(place) do s
    z = 2 .* x .+ 1             # queued on s, which is the block's stream
    z .= z .* z
    add(z, x)
end                             # synchronized here
println(Array(y))
println(Array(reduce(add, y)))
unsafe_free!(x)                 # now, not when the collector finds it
