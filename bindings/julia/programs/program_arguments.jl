# SPDX-License-Identifier: Apache-2.0
# The command line of every program, MODULES_FOLDER INPUTS_FOLDER OUTPUTS_FOLDER [DEVICE], and the
# files that it reads and writes.
using Gufunc

# Reads and writes .npy files of version 1.0 in C order. NumPy's axes are Julia's dimensions in
# reverse order. The reader makes the programs independent of NumPy: they use only the public
# interface of the package.
module NpyFiles

export read_npy, write_npy

const TYPES = Dict("<f4" => Float32, "<f8" => Float64, "<i8" => Int64, "|b1" => Bool)
const SPELLINGS = Dict(T => text for (text, T) in TYPES)

"The array of a file, with dimensions reversed."
function read_npy(path)
    bytes = read(path)
    length_of_head = Int(bytes[9]) | Int(bytes[10]) << 8
    head = String(bytes[11:10+length_of_head])
    T = TYPES[match(r"'descr': '([^']+)'", head).captures[1]]
    occursin("'fortran_order': False", head) || error("$path: not in C order")
    shape = [parse(Int, m.match) for m in eachmatch(r"\d+", match(r"\(([^)]*)\)", head).match)]
    return copy(reshape(reinterpret(T, bytes[11+length_of_head:end]), reverse(shape)...))
end

"Writes an array, whose dimensions NumPy will see reversed."
function write_npy(path, x::AbstractArray{T}) where {T}
    shape = reverse(size(x))
    text = "(" * join(shape, ", ") * (length(shape) == 1 ? ",)" : ")")
    head = "{'descr': '$(SPELLINGS[T])', 'fortran_order': False, 'shape': $text, }"
    head *= " "^(63 - (length(head) + 10) % 64) * "\n"
    open(path, "w") do file
        write(file, UInt8[0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0], UInt16(length(head)), head)
        write(file, collect(x))
    end
end

end

using .NpyFiles

const PLACE = length(ARGS) > 3 ? ARGS[4] : "cpu"
ufunc_of(name) = getproperty(load(joinpath(ARGS[1], "$name.so")), Symbol(name))
input(name) = read_npy(joinpath(ARGS[2], "$name.npy"))
save(name, x) = write_npy(joinpath(ARGS[3], "$name.npy"), x)
