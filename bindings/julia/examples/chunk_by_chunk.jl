# SPDX-License-Identifier: Apache-2.0
# Runs a call in chunks with a mapped file as an operand. Usage: chunk_by_chunk.jl FOLDER_OF_MODULES
# [DEVICE]
using Gufunc, Mmap
using Gufunc.Standard: multiply

place = length(ARGS) > 1 ? ARGS[2] : "cpu"
mktempdir() do folder
    path = joinpath(folder, "numbers")
    write(path, collect(1.0:100_000.0))
    open(path) do file
        numbers = Mmap.mmap(file, Vector{Float64}, 100_000)
        out = similar(numbers)
        chunks = Ref(0)
        call_chunked!(multiply, out, numbers, 2; device=place, chunk_bytes=1 << 16,
                      progress=(done, items) -> (chunks[] += 1; true))
        println(chunks[], " chunks, the last element ", out[end])
    end
end
