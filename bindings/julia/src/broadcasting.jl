# SPDX-License-Identifier: Apache-2.0
# Dotted expressions: f.(A, B), A .+ B .* C, R .= f.(A, B). In an expression that contains a
# GufArray or a ufunc, every function becomes a call of a ufunc, and the last call writes into R. If
# a function has no corresponding ufunc and all its operands are arrays and numbers of Julia, Julia
# evaluates it. A function with several outputs, such as modf, returns a tuple of arrays.

import Base.Broadcast: Broadcasted, BroadcastStyle, broadcasted, materialize!

"The broadcast style of dotted expressions with ufuncs or GufArrays."
struct GufStyle <: BroadcastStyle end
BroadcastStyle(::Type{<:LibraryArray}) = GufStyle()
BroadcastStyle(::GufStyle, ::BroadcastStyle) = GufStyle()

# A ufunc selects GufStyle also for Julia arrays.
broadcasted(f::UFunc, arguments...) = Broadcasted{GufStyle}(f, map(broadcastable, arguments))
broadcastable(x) = Base.Broadcast.broadcastable(x)
broadcastable(x::Union{Scalar,Encoded,Tensor}) = x

# The library checks the sizes instead of Julia, because the library knows the core dimensions and
# reports NumPy's messages.
Base.Broadcast.instantiate(bc::Broadcasted{GufStyle}) = bc

# The functions of Base that have the name of a ufunc, but apply to a whole array.
const FUNCTIONS_OF_ARRAYS = (:maximum, :minimum, :argmax, :argmin, :sort, :diff, :inv)

# The ufuncs that correspond to Julia functions. A ufunc corresponds to Base's function of the same
# name, except for functions of whole arrays.
const UFUNCS_OF_FUNCTIONS = IdDict{Any,UFunc}()
for name in STANDARD_NAMES
    if Base.isexported(Base, name) && !(name in FUNCTIONS_OF_ARRAYS)
        UFUNCS_OF_FUNCTIONS[getfield(Base, name)] = getfield(Standard, name)
    end
end
for (name, functions) in ((:add, (+,)), (:subtract, (-,)), (:multiply, (*,)), (:divide, (/,)),
                          (:power, (^,)), (:absolute, (abs,)), (:square, (abs2,)),
                          (:reciprocal, (inv,)), (:maximum, (max,)), (:minimum, (min,)),
                          (:equal, (==,)), (:not_equal, (!=,)), (:less, (<,)),
                          (:less_equal, (<=,)), (:greater, (>,)), (:greater_equal, (>=,)),
                          (:bitwise_and, (&,)), (:bitwise_or, (|,)), (:bitwise_xor, (xor,)),
                          (:invert, (~,)), (:logical_not, (!,)), (:left_shift, (<<,)),
                          (:right_shift, (>>,)), (:floor_divide, (fld,)), (:remainder, (mod,)),
                          (:divmod, (fldmod,)), (:isnat, (isnat,)))
    for f in functions
        UFUNCS_OF_FUNCTIONS[f] = getfield(Standard, name)
    end
end

"""
    register_broadcast!(f, g::UFunc)

Makes dotted expressions call the ufunc `g` for the function `f`.
"""
register_broadcast!(f, g::UFunc) = (UFUNCS_OF_FUNCTIONS[f] = g; nothing)

# The ufunc that corresponds to f, or nothing.
ufunc_of(f::UFunc, count) = f
ufunc_of(f, count) =
    f === (-) && count == 1 ? Standard.negative :
    f === atan && count == 2 ? Standard.arctan2 : get(UFUNCS_OF_FUNCTIONS, f, nothing)

evaluated(x) = x
evaluated(x::Base.RefValue) = x[]
evaluated(x::Tuple) = [x...]
evaluated(bc::Broadcasted) = applied_to(bc.f, map(evaluated, bc.args))

function applied_to(f, given)
    g, arguments = simplified(f, given)
    g === identity && return arguments[1]
    g isa Type && arguments[1] isa LibraryArray && return astype(materialized(arguments[1]), g)
    h = ufunc_of(g, length(arguments))
    return h === nothing ? by_julia(f, given) : h(arguments...)
end

# Julia's own broadcasting. Operands whose elements Julia cannot read are rejected.
function by_julia(f, arguments)
    any(x -> x isa Union{LibraryArray,Tensor,Scalar,Encoded}, arguments) &&
        throw(GufuncError(GUF_E_NOT_FOUND, "no ufunc is registered for $f in a dotted expression " *
            "of a GufArray: make one (create, add_loop!, register_broadcast!), or compute on " *
            "Array(x)"))
    return Base.materialize(broadcasted(f, arguments...))
end

# Rewrites functions without a ufunc in terms of other functions, for example literal powers such as
# x^2 and sums of more than two operands. Returns the new function and its arguments.
simplified(f, arguments) = f, arguments
simplified(::typeof(+), arguments::Tuple{Any}) = identity, arguments
simplified(::typeof(\), arguments::Tuple{Any,Any}) = /, reverse(arguments)
simplified(::typeof(Base.literal_pow), arguments) = simplified_power(arguments[2:end]...)
# NumPy's reciprocal of an integer is an integer, but Julia's inv of an integer is not.
simplified(::typeof(inv), arguments) =
    eltype(arguments[1]) <: Integer ? (/, (1, arguments[1])) : (inv, arguments)
simplified(::typeof(abs2), arguments) =
    eltype(arguments[1]) <: Complex ? (abs2_of_complex, arguments) : (abs2, arguments)
abs2_of_complex(x) = abs2(x)
function simplified(f::Union{typeof(+),typeof(*),typeof(max),typeof(min),typeof(&),typeof(|)},
                    arguments::Tuple{Any,Any,Any,Vararg{Any}})
    g = ufunc_of(f, 2)
    return f, (foldl(g, arguments[1:end-1]), arguments[end])
end
# A negative power is computed as a power of 1/x, so that it also works for integers.
simplified_power(x, ::Val{N}) where {N} =
    N == 1 ? (identity, (x,)) : N == 2 ? (Standard.square, (x,)) : N == -1 ? simplified(inv, (x,)) :
    N < 0 ? (^, (applied_to(inv, (x,)), -N)) : (^, (x, N))

# If all operands are tuples and numbers, the result is a tuple, as in Julia.
function Base.copy(bc::Broadcasted{GufStyle})
    result = evaluated(bc)
    return result isa Vector && all(of_tuples, bc.args) ? Tuple(result) : result
end
of_tuples(x) = x isa Union{Tuple,Number,Scalar,Encoded,Base.RefValue}
of_tuples(bc::Broadcasted) = all(of_tuples, bc.args)

Base.copyto!(destination::AbstractArray, bc::Broadcasted{GufStyle}) =
    written!(destination, bc.f, map(evaluated, bc.args))

function written!(destination, f, given)
    g, arguments = simplified(f, given)
    h = ufunc_of(g, length(arguments))
    h === nothing || return call!(h, destination, arguments...)
    return assigned!(destination, applied_to(f, given))
end

# Assignments to a GufArray, also of expressions without a ufunc.
Base.copyto!(destination::LibraryArray, bc::Broadcasted{GufStyle}) = assigned_all!(destination, bc)
Base.copyto!(destination::LibraryArray, bc::Broadcasted) = assigned_all!(destination, bc)
Base.copyto!(destination::LibraryArray, bc::Broadcasted{<:Base.Broadcast.AbstractArrayStyle{0}}) =
    assigned_all!(destination, bc)
function assigned_all!(destination, bc)
    written!(output(destination), bc.f, map(evaluated, bc.args))
    return destination
end

# Numbers and arrays of Julia are converted by Julia, which throws if a value does not fit. Arrays
# of the library are cast as in a call.
assigned!(destination, x) = assign!(destination, x)
assigned!(destination, x::Number) = fill!(destination, x)
assigned!(destination::GufArray, x::Union{Scalar,Encoded,Time64}) = fill!(destination, x)
assigned!(destination::GufArray{T}, x::AbstractArray{S}) where {T<:Number,S<:Number} =
    assign!(destination, S === T || x isa LibraryArray ? x : convert(Array{T}, x))
