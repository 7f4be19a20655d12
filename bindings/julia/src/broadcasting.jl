# SPDX-License-Identifier: Apache-2.0
# Dots: f.(A, B), A .+ B .* C, R .= f.(A, B). Every function of a dotted expression that has a
# GufArray or a ufunc in it becomes the call of a ufunc; the last one writes into R.

import Base.Broadcast: Broadcasted, BroadcastStyle, broadcasted, materialize!

"How dotted expressions with ufuncs or GufArrays are computed."
struct GufStyle <: BroadcastStyle end
BroadcastStyle(::Type{<:GufArray}) = GufStyle()
BroadcastStyle(::GufStyle, ::BroadcastStyle) = GufStyle()

# A ufunc brings its style along, for arrays of Julia as well.
broadcasted(f::UFunc, arguments...) = Broadcasted{GufStyle}(f, map(broadcastable, arguments))
broadcastable(x) = Base.Broadcast.broadcastable(x)
broadcastable(x::Union{Scalar,Encoded,Tensor}) = x

# Sizes are the library's to check: it knows core dimensions, and its texts are NumPy's.
Base.Broadcast.instantiate(bc::Broadcasted{GufStyle}) = bc

# Functions of Julia that a ufunc stands for.
const MEANINGS = IdDict{Any,UFunc}()
for (name, functions) in ((:add, (+,)), (:subtract, (-,)), (:multiply, (*,)), (:divide, (/,)),
                          (:power, (^,)), (:absolute, (abs,)), (:square, (abs2,)), (:sqrt, (sqrt,)),
                          (:reciprocal, (inv,)), (:sign, (sign,)), (:exp, (exp,)), (:log, (log,)),
                          (:sin, (sin,)), (:cos, (cos,)), (:maximum, (max,)), (:minimum, (min,)),
                          (:equal, (==,)), (:not_equal, (!=,)), (:less, (<,)),
                          (:less_equal, (<=,)), (:greater, (>,)), (:greater_equal, (>=,)),
                          (:bitwise_and, (&,)), (:bitwise_or, (|,)), (:bitwise_xor, (xor,)),
                          (:invert, (~,)), (:logical_not, (!,)), (:left_shift, (<<,)),
                          (:right_shift, (>>,)), (:floor_divide, (fld,)), (:remainder, (mod,)))
    for f in functions
        MEANINGS[f] = getfield(Standard, name)
    end
end

"""
    stands_for!(f, g::UFunc)

Makes dotted expressions call the ufunc `g` where they name the function `f`.
"""
stands_for!(f, g::UFunc) = (MEANINGS[f] = g; nothing)

meaning(f::UFunc, count) = f
function meaning(f, count)
    f === (-) && count == 1 && return Standard.negative
    g = get(MEANINGS, f, nothing)
    g === nothing && throw(GufuncError(GUF_E_NOT_FOUND, "no ufunc stands for $f in a dotted " *
        "expression: make one (create, add_loop!, stands_for!), or compute on Array(x)"))
    return g
end

# |x|^2 of complex numbers, x^2 as Julia spells it, and identity are no ufuncs of their own.
evaluated(x) = x
evaluated(x::Base.RefValue) = x[]
function evaluated(bc::Broadcasted)
    f, arguments = simplified(bc.f, map(evaluated, bc.args))
    f === identity && return arguments[1]
    return meaning(f, length(arguments))(arguments...)
end

simplified(f, arguments) = f, arguments
simplified(::typeof(Base.literal_pow), arguments) = simplified_power(arguments[2:end]...)
simplified(::typeof(abs2), arguments) =
    eltype(arguments[1]) <: Complex ?
    throw(GufuncError(GUF_E_NOT_FOUND, "no ufunc stands for abs2 of complex numbers")) :
    (abs2, arguments)
function simplified(f::Union{typeof(+),typeof(*),typeof(max),typeof(min),typeof(&),typeof(|)},
                    arguments::Tuple{Any,Any,Any,Vararg{Any}})
    g = meaning(f, 2)
    return f, (foldl(g, arguments[1:end-1]), arguments[end])
end
simplified_power(x, ::Val{2}) = (Standard.square, (x,))
simplified_power(x, ::Val{1}) = (identity, (x,))
simplified_power(x, ::Val{N}) where {N} = (^, (x, N))

Base.copy(bc::Broadcasted{GufStyle}) = evaluated(bc)

function Base.copyto!(destination::AbstractArray, bc::Broadcasted{GufStyle})
    f, arguments = simplified(bc.f, map(evaluated, bc.args))
    f === identity && return assigned!(destination, arguments[1])
    return call!(meaning(f, length(arguments)), destination, arguments...)
end
Base.copyto!(destination::GufArray, bc::Broadcasted{GufStyle}) =
    invoke(copyto!, Tuple{AbstractArray,Broadcasted{GufStyle}}, destination, bc)

assigned!(destination, x::Number) = fill!(destination, x)
assigned!(destination, x) = assign!(destination, x)

# R .= x of a GufArray, for anything that no ufunc is in.
Base.copyto!(destination::GufArray, bc::Broadcasted) = assigned_all!(destination, bc)
Base.copyto!(destination::GufArray, bc::Broadcasted{<:Base.Broadcast.AbstractArrayStyle{0}}) =
    assigned_all!(destination, bc)
function assigned_all!(destination, bc)
    bc.f === identity && return assigned!(destination, evaluated(bc.args[1]))
    f, arguments = simplified(bc.f, map(evaluated, bc.args))
    return call!(meaning(f, length(arguments)), destination, arguments...)
end
