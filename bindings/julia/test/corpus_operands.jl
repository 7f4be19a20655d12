# SPDX-License-Identifier: Apache-2.0
# Converts the operands of the corpus to Julia. NumPy's axes are mapped to dimensions in three ways:
#   reversed  dimension d is axis -d, as in the library's view of Julia arrays
#   core      core dimensions in order, followed by loop dimensions reversed; for generalized calls
#   natural   dimension d is axis d-1; for outer and at, which align dimensions from the first one

struct Memory
    bytes::Vector{UInt8}
    first::Int  # index of the buffer's first byte
    nbytes::Int
end

function Memory(data::Vector{UInt8}, spec)
    bytes = zeros(UInt8, spec["nbytes"] + 32)
    first = Int(-(UInt(pointer(bytes))) & 15) + spec["shift"] + 1
    copyto!(bytes, first, data, spec["at"] + 1, spec["nbytes"])
    return Memory(bytes, first, spec["nbytes"])
end
address(m::Memory) = UInt64(pointer(m.bytes, m.first))
contents(m::Memory) = m.bytes[m.first:m.first+m.nbytes-1]

reversed_dimensions(n, core) = collect(n:-1:1)
core_places(n, core) = core > n ? collect(n:-1:1) : vcat(n-core+1:n, n-core:-1:1)
natural_dimensions(n, core) = collect(1:n)

integer(x::Integer) = Int128(x)
integer(x::String) = parse(Int128, x)

# Returns the dimension for NumPy's axis a of n, for reversed operands. If the axis is out of range,
# the dimension is too.
function dimension(a, n)
    found = integer(a) < 0 ? -integer(a) : n - integer(a)
    return typemin(Int) <= found <= typemax(Int) ? Int(found) : found
end

check_keys(d, known) = for key in keys(d)
    key in known || error("unknown key $key")
end

const ARRAY_KEYS = ("kind", "buffer", "offset", "dtype", "shape", "strides", "swapped", "read_only")

# Converts an operand. With `pad`, prepends extents of 1 until the operand has that many dimensions.
function julia_operand(spec, memory, places, core; pad=0)
    kind = spec["kind"]
    kind == "array" && return julia_tensor(spec, memory, places, core, pad)
    check_keys(spec, ("kind", "dtype", "bytes", "value", "bits"))
    kind == "scalar" && return scalar(spec)
    kind == "weak_int" && return something(tryparse(Int, spec["value"]),
                                           parse(BigInt, spec["value"]))
    kind == "weak_float" && return double(spec["bits"])
    kind == "weak_complex" && return complex(double.(spec["bits"])...)
    error("unknown kind $kind")
end

double(bits) = reinterpret(Float64, parse(UInt64, bits; base=16))

function scalar(spec)
    T = Gufunc.element_type(spec["dtype"])
    return Scalar(reinterpret(T, hex2bytes(spec["bytes"]))[1])
end

function julia_tensor(spec, memory, places, core, pad)
    check_keys(spec, ARRAY_KEYS)
    m = memory[spec["buffer"]+1]
    shape, strides = Int[spec["shape"]...], Int[spec["strides"]...]
    while length(shape) < pad
        pushfirst!(shape, 1)
        pushfirst!(strides, 0)
    end
    order = places(length(shape), core)
    return Tensor{Gufunc.element_type(spec["dtype"])}(
        m.bytes, address(m) + spec["offset"], Tuple(shape[order]), Tuple(strides[order]);
        read_only=get(spec, "read_only", false), swapped=get(spec, "swapped", false))
end

# Returns a Julia array that uses the same memory, if possible.
dense(@nospecialize(x)) = x
function dense(t::Tensor)
    T = eltype(t)
    t.flags == 0 && t.byte_strides == Gufunc.packed(t.size, sizeof(T)) || return t
    t.address % Base.datatype_alignment(T) == 0 || return t
    return unsafe_wrap(Array, Ptr{T}(t.address), t.size)
end

function dense_or_wrapped(@nospecialize(x))
    found = dense(x)
    return found isa Tensor ? Gufunc.wrap(found) : found
end

# Returns indices that count from 1. Negative indices and indices of other types are unchanged.
from_one(@nospecialize(x)) = x
function from_one(t::Tensor{Int64})
    indices = Array(Gufunc.wrap(t))
    return all(i -> 0 <= i < typemax(Int64), indices) ? indices .+ 1 : t
end

# Returns the elements of strided memory as bytes, in C order of NumPy's axes and in native byte
# order.
function gathered(base, T, shape, strides, swapped)
    bytes = UInt8[]
    for place in c_order(shape)
        from = Ptr{UInt8}(base + offset_of(place, strides))
        element = [unsafe_load(from, i) for i in 1:sizeof(T)]
        append!(bytes, swapped ? swapped_element(T, element) : element)
    end
    return bytes
end

swapped_element(::Type{<:Complex}, bytes) =
    vcat(reverse(bytes[1:end÷2]), reverse(bytes[end÷2+1:end]))
swapped_element(::Type, bytes) = reverse(bytes)

offset_of(place, strides) = isempty(place) ? 0 : sum(place .* strides)

# Returns all index vectors, counted from 0. The last axis varies fastest.
function c_order(shape)
    n = prod(Int[shape...])
    places = Vector{Vector{Int}}(undef, n)
    for k in 0:n-1
        place, rest = zeros(Int, length(shape)), k
        for axis in length(shape):-1:1
            place[axis] = rest % shape[axis]
            rest ÷= shape[axis]
        end
        places[k+1] = place
    end
    return places
end
