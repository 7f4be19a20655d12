# SPDX-License-Identifier: Apache-2.0
# Compares results of the binding with the expected results.

struct Wrong <: Exception
    text::String
end
demand(holds, text) = holds || throw(Wrong(text))

# A result in NumPy's terms: type, shape, elements in C order, and the strides of an allocated
# array.
struct Found
    type::DataType
    shape::Vector{Int}
    bytes::Vector{UInt8}
    strides::Vector{Int}
end

function judge_result(found::Found, expected, data)
    T = Gufunc.element_type(expected["dtype"])
    demand(found.type === T, "type: expected $T, got $(found.type)")
    demand(found.shape == expected["shape"],
           "shape: expected $(expected["shape"]), got $(found.shape)")
    bytes = data[expected["at"]+1:expected["at"]+expected["nbytes"]]
    demand(length(bytes) == length(found.bytes), "$(length(found.bytes)) bytes")
    mask = haskey(expected, "defined") ?
           data[expected["defined"]+1:expected["defined"]+length(bytes)÷sizeof(T)] .!= 0 :
           trues(length(bytes) ÷ sizeof(T))
    found_elements, expected_elements = reinterpret(T, found.bytes), reinterpret(T, bytes)
    for i in eachindex(mask)
        mask[i] || continue
        demand(equal(found_elements[i], expected_elements[i], expected["ulp"]),
               "element $i: expected $(expected_elements[i]), got $(found_elements[i])")
    end
    haskey(expected, "strides") || return
    long = [s for (s, extent) in zip(found.strides, found.shape) if extent > 1]
    demand(isempty(bytes) || long == expected["strides"],
           "strides: expected $(expected["strides"]), got $long")
end

bits_of(x::T) where {T} = reinterpret(UInt8, [x])
same_bits(a, b) = bits_of(a) == bits_of(b)

equal(a, b, ulp) = bits_of(a) == bits_of(b)
equal(a::T, b::T, ulp) where {T<:AbstractFloat} =
    (isnan(a) && isnan(b)) || (ulp == 0 ? same_bits(a, b) : !isnan(a) && !isnan(b) &&
        (a == b || abs(place(a) - place(b)) <= ulp))

# Returns the ordinal of a floating-point number. Adjacent numbers have adjacent ordinals, and 0 has
# the ordinal 0.
place(x::T) where {T} = (bits = reinterpret(signed_of(T), x);
                         Int128(bits < 0 ? typemin(bits) - bits : bits))
signed_of(::Type{T}) where {T} = (Int8, Int16, Int32, Int64)[trailing_zeros(sizeof(T))+1]

function equal(a::Complex{T}, b::Complex{T}, ulp) where {T}
    ulp == 0 && return equal(real(a), real(b), 0) && equal(imag(a), imag(b), 0)
    eps = T === Float32 ? 2.0^-23 : 2.0^-52
    m = max(abs(Float64(real(b))), abs(Float64(imag(b))))
    tolerance = ulp * eps * (m > 0 && isfinite(m) ? 2.0^floor(log2(m)) : 0.0)
    return all(((x, y),) -> (isnan(x) && isnan(y)) || x == y ||
                            abs(Float64(x) - Float64(y)) <= tolerance,
               ((real(a), real(b)), (imag(a), imag(b))))
end

# Checks that bytes outside the elements of written operands are unchanged.
function judge_buffers(memory, before, written)
    free = [trues(m.nbytes) for m in memory]
    for spec in written
        size = sizeof(Gufunc.element_type(spec["dtype"]))
        for place in c_order(spec["shape"])
            at = spec["offset"] + offset_of(place, spec["strides"])
            free[spec["buffer"]+1][at+1:at+size] .= false
        end
    end
    for (i, m) in enumerate(memory)
        demand(all(contents(m)[free[i]] .== before[i][free[i]]),
               "buffer $(i - 1) changed outside of the outputs")
    end
end
