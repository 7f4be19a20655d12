# SPDX-License-Identifier: Apache-2.0
# Processes 100 000 elements in chunks, first with one chunked call, then with a loop of calls on a
# stream.
include("program_arguments.jl")

f = ufunc_of("discriminant")
a, b, c = (input("chunked_stream_$x") for x in ("a", "b", "c"))
x, report = similar(a), Int64[0, 0]
call_chunked!(f, x, a, b, c; chunk_bytes=65536, device=PLACE,
              progress=(done, items) -> (report .= (done, report[2] + 1); true))
save("chunked_stream_x", x)
save("chunked_stream_progress", report)

pieces = [first:min(first + 29_999, length(a)) for first in 1:30_000:length(a)]
results = [Vector{Float64}(undef, length(piece)) for piece in pieces]
Stream(PLACE) do s
    for (piece, result) in zip(pieces, results)
        part = f((to_device(v[piece], PLACE) for v in (a, b, c))...)
        Gufunc.copy_to_host!(result, part)
    end
end
save("chunked_stream_by_hand", vcat(results...))
