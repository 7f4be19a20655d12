# SPDX-License-Identifier: Apache-2.0
# The methods of ufuncs.

# The methods reduce, accumulate and reduceat. docs/reductions.md describes the order in which they
# combine elements and the reproducibility of the results.

struct NoValue end
"With `init=novalue`, a reduction starts without an initial value, instead of with the identity."
const novalue = NoValue()

"""
    reduce(f::UFunc, A; dims=:, init=nothing, out=nothing, where=nothing, keywords…)

Reduces an array along `dims`: one dimension, several dimensions, `()` (none) or `:` (all). Reduced
dimensions keep the extent 1, unless `keepdims=false`. The reduction over all dimensions returns a
number for a Julia array, and a 0-dimensional array for a `GufArray`. `init` is the initial value of
the reduction. With `init=novalue`, the reduction starts with the first element instead of the
identity. `where` is a mask that selects the elements. A reduction with a user-defined accumulator
returns a tuple of its results. `parameters` is its parameter, such as `ddof` of `var`, or a tuple
of its parameters. Further keywords: `dtype`, `order`, `device`, `stream`, `threads`, `fp_flags`,
`fp_report`, `fp_fail`. `reduce!(f, out, A; …)` writes into `out`, which must have the size of the
result. Without `dims`, `reduce!` reduces the dimensions that `out` lacks and those that
have extent 1 in `out`, as `sum!` does.
"""
Base.reduce(f::UFunc, @nospecialize(A::AbstractArray); keywords...) =
    folded(f, A, request(OF_REDUCE, pairs_of(keywords)))
# Base has a method for numbers. A single method for all types of operands would be ambiguous with
# Base's method.
for kind in (:Number, :(Union{Tensor,Scalar,Encoded,Time64}))
    @eval Base.reduce(f::UFunc, @nospecialize(A::$kind); keywords...) =
        folded(f, A, request(OF_REDUCE, pairs_of(keywords)))
end

function folded(f::UFunc, @nospecialize(A), r::Request)
    whole = r.dims === nothing || r.dims isa Colon
    r.dims === nothing && (r.dims = Colon())
    number = whole && r.keepdims !== true && !(A isa LibraryArray)
    r.keepdims === nothing && (r.keepdims = !whole)
    given = r.out
    outputs = outputs_of(given, max(1, ufunc_info(f).nresults))
    found = given_outputs(outputs, given)
    # The closures below are compiled for the types of the variables that they capture. They capture
    # `input` and `on_host` instead of A, so that they are not compiled again for every type of A.
    input, on_host = Any[operand(A)], !(A isa LibraryArray)
    with_collection() do
        with_reduce_args(f, input[1], outputs, r) do args, slots
            @check guf_reduce(f.handle, args) args
            for (i, x) in enumerate(outputs)
                x === nothing && (found[i] = to_host_if(on_host, taken(slots, i)))
            end
        end
    end
    given isa Tuple && return Tuple(found)
    given === nothing && number && (found = map(x -> x[], found))
    return length(found) == 1 ? found[1] : Tuple(found)
end

"Writes `reduce(f, A; …)` into `out`, an array or a tuple with one array per result."
function reduce!(f::UFunc, @nospecialize(out), @nospecialize(A); keywords...)
    r = into(out, request(OF_REDUCE, pairs_of(keywords)))
    r.dims === nothing && (r.dims = folded_for(outputs_of(out)[1], operand(A)))
    r.keepdims === nothing &&
        (r.keepdims = rank(outputs_of(out)[1]) == rank(operand(A)) && rank(operand(A)) > 0)
    folded(f, A, r)
    return out
end

# The dimensions that must be reduced for a result of the size of `out`.
folded_for(@nospecialize(out), @nospecialize(A)) =
    rank(out) == 0 ? Colon() :
    Tuple(d for d in 1:rank(A) if d > rank(out) || size(out)[d] == 1 && size(A)[d] != 1)

# Converts a result that the library allocated to a Julia array if the input is a Julia array.
function to_host_if(on_host::Bool, result::GufArray)
    on_host || return result
    made = Array(result)
    unsafe_free!(result)
    return made
end

# The number of axes of a reduction, and the axes.
folded_axes(::Colon, n) = (Int32(GUF_ALL_AXES), Int64[])
folded_axes(d::Union{Number,Symbol,AbstractString}, n) = (Int32(1), [library_axis(d, n)])
folded_axes(dims, n) = (Int32(length(dims)), library_axes(dims, n))

initial_operand(::Nothing) = Any[]
initial_operand(::NoValue) = Any[nothing]
initial_operand(x) = Any[operand(x)]

parameter_operands(@nospecialize(x::Tuple)) = operands_of(x)
parameter_operands(@nospecialize(x)) = Any[operand(x)]

function with_reduce_args(act, f, @nospecialize(input), outputs, r)
    found(f)
    naxis, axes = folded_axes(r.dims, rank(input))
    state, mask, fp_flags = length(outputs) > 1, mask_of(r), r.fp_flags
    # NULL means the default axis. For an empty list of axes, the pointer must therefore not be
    # NULL.
    named = isempty(axes) ? [Int64(0)] : axes
    parameters = parameter_operands(r.parameters)
    groups = (Any[input], outputs, initial_operand(r.init), mask, parameters)
    result = framed_groups(groups...) do slots, places
        args = Ref(guf_reduce_args(
            sizeof(guf_reduce_args), r.keepdims === true ? GUF_CALL_KEEPDIMS : 0, places[1],
            state ? NULL_OPERAND : places[2], pointer(named), places[3], places[4],
            shared_options(r), naxis, chosen(ORDERS, r.order, "order"), dtype(r.dtype),
            state ? length(outputs) : 0, state ? places[2] : NULL_OPERAND, places[5],
            length(parameters), 0))
        GC.@preserve r args named fp_flags begin
            act(Ptr{guf_reduce_args}(pointer_from_objref(args)), slots)
        end
    end
    queued!(r, Any[input], outputs, mask)
    return result
end

# Fills the argument structure of accumulate or reduceat, which is the same type for both.
function with_accumulate_args(act, f, @nospecialize(input), indices::Vector{Any},
                              @nospecialize(output), r)
    found(f)
    r.dims === nothing && (r.dims = only_dimension(rank(input)))
    axis, fp_flags = library_axis(r.dims, rank(input)), r.fp_flags
    result = framed_groups(Any[input], indices, Any[output]) do slots, places
        args = Ref(guf_accumulate_args(
            sizeof(guf_accumulate_args), 0, places[1], places[2], places[3],
            shared_options(r), axis, dtype(r.dtype), chosen(ORDERS, r.order, "order")))
        GC.@preserve r args fp_flags act(Ptr{guf_accumulate_args}(pointer_from_objref(args)), slots)
    end
    queued!(r, Any[input, output], indices)
    return result
end

only_dimension(n) = n == 1 ? 1 :
    throw(GufuncError(GUF_E_AXIS, "an array of $n dimensions needs dims="))

function along(method, f, @nospecialize(A), indices::Vector{Any}, r)
    given = r.out
    input, made = Any[operand(A)], Any[output(given)]
    result = with_collection() do
        with_accumulate_args(f, input[1], indices, made[1], r) do args, slots
            checked(method, f, args)
            return made[1] === nothing ? taken(slots, 1 + length(indices)) : nothing
        end
    end
    return result === nothing ? given : to_host_if(!(A isa LibraryArray), result)
end

"""
    accumulate(f::UFunc, A; dims, out=nothing, keywords…)

All partial results of a reduction along a dimension. `accumulate!(f, out, A; …)` writes into `out`.
"""
Base.accumulate(f::UFunc, @nospecialize(A); keywords...) =
    along(LibGufunc.guf_accumulate, f, A, Any[], request(OF_ALONG, pairs_of(keywords)))

"Writes `accumulate(f, A; …)` into `out`."
Base.accumulate!(f::UFunc, @nospecialize(out), @nospecialize(A); keywords...) =
    along(LibGufunc.guf_accumulate, f, A, Any[], into(out, request(OF_ALONG, pairs_of(keywords))))

"""
    reduceat(f, A, indices; dims, out=nothing, keywords…)

Reduces the segments of a dimension that begin at `indices`, as NumPy's `ufunc.reduceat`. The
indices count from 1 and are in host memory. Indices in a `Tensor` count from 0 and are used without
a copy. `reduceat!(f, out, A, indices; …)` writes into `out`.
"""
reduceat(f::UFunc, @nospecialize(A), @nospecialize(indices); keywords...) =
    along(LibGufunc.guf_reduceat, f, A, Any[operand(from_zero(indices))],
          request(OF_ALONG, pairs_of(keywords)))

"Writes `reduceat(f, A, indices; …)` into `out`."
function reduceat!(f::UFunc, @nospecialize(out), @nospecialize(A), @nospecialize(indices);
                   keywords...)
    r = into(out, request(OF_ALONG, pairs_of(keywords)))
    return along(LibGufunc.guf_reduceat, f, A, Any[operand(from_zero(indices))], r)
end

# Copies indices that count from 1 and converts them to the library's indices, which count from 0.
# Other objects are returned unchanged.
from_zero(i::Integer) = from_zero(fill(i))
function from_zero(indices::AbstractArray{<:Integer})
    all(i -> 1 <= i <= typemax(Int64), indices) ||
        throw(GufuncError(GUF_E_INDEX, "indices count from 1"))
    return Array{Int64}(indices) .- 1
end
from_zero(x) = x

# The guf_operation of each method.
const OPERATIONS = (reduce=GUF_OPERATION_REDUCE, accumulate=GUF_OPERATION_ACCUMULATE,
                    reduceat=GUF_OPERATION_REDUCEAT, outer=GUF_OPERATION_OUTER,
                    at=GUF_OPERATION_AT)

for (method, args) in ((:reduce, :with_reduce_args), (:accumulate, :with_accumulate_args),
                       (:reduceat, :with_accumulate_args))
    allowed = method === :reduce ? :OF_REDUCE : :OF_ALONG
    more = method === :reduceat ? (:indices,) : ()
    places = method === :reduce ? :(outputs_of(r.out, max(1, ufunc_info(f).nresults))) :
             method === :accumulate ? :(Any[]) : :(Any[operand(from_zero(indices))])
    for (act, by) in ((:resolve, :resolve_by), (:explain, :explain_by))
        operation = OPERATIONS[method]
        count = act === :resolve ? (:(max(1, ufunc_info(f).nresults)),) : ()
        last = method === :reduce ? () : (:(output(r.out)),)
        @eval function $act(::typeof($method), f::UFunc, A, $(more...); keywords...)
            r = request($allowed, pairs_of(keywords))
            $(method === :reduce ? :(r.dims === nothing && (r.dims = Colon())) : nothing)
            $args(f, operand(A), $places, $(last...), r) do args, slots
                $by($operation, f, args, $(count...))
            end
        end
    end
end

# The methods outer and at, which align dimensions from the first. The library therefore receives
# their operands in Julia's order: dimension 1 is axis 0.

natural(x::GufArray{T,N}) where {T,N} = N < 2 ? x : permuted_view(x)
natural(x::Tensor) = Natural(x)
natural(x) = x

"""
    outer(f, A, B; out=nothing, keywords…)

Applies a binary ufunc to all pairs of elements. The result has the size `(size(A)...,
size(B)...)`. `outer` accepts the keywords of a call, except `axes`, `dims`, `keepdims` and `sizes`.
`outer!(f, out, A, B; …)` writes into `out`.
"""
outer(f::UFunc, @nospecialize(operands...); keywords...) =
    outer_of(f, operands_of(operands), request(OF_OUTER, pairs_of(keywords)))

function outer_of(f::UFunc, given::Vector{Any}, r::Request)
    found(f)
    outputs = outputs_of(r.out, f.nout)
    check_outputs(f, outputs)
    results = given_outputs(outputs, r.out)
    with_collection() do
        with_outer_args(f, given, outputs, r) do args, slots
            @check guf_outer(f.handle, args) args
            for (i, x) in enumerate(outputs)
                x === nothing && (results[i] = outer_result(taken(slots, 1 + i), given))
            end
        end
    end
    return length(results) == 1 && !(r.out isa Tuple) ? results[1] : Tuple(results)
end

function outer_result(made, given)
    permuted = ndims(made) < 2 ? made : with_temporary(permuted_view, made)
    any(x -> x isa GufArray, given) && return permuted
    copied = with_temporary(Array, permuted)
    return all(x -> x isa Encoded, given) ? copied[] : copied
end

const TRANSPOSED_ORDERS = Dict(:F => :C, :C => :F)

function with_outer_args(act, f, given, results, r)
    # Dimension 1 is the library's first axis here, so C and F order are exchanged.
    r.order = get(TRANSPOSED_ORDERS, r.order, r.order)
    outputs, fp_flags = Any[natural(x) for x in results], r.fp_flags
    inputs, mask = Any[natural(x) for x in given], Any[natural(x) for x in mask_of(r)]
    o = options(f, inputs, outputs, r)
    result = GC.@preserve fp_flags given prepared(inputs, outputs, mask, r.stream, o) do args, slots
        act(Natural(args), slots)
    end
    queued!(r, given, results, mask)
    return result
end

"Writes `outer(f, A, B; …)` into `out`."
outer!(f::UFunc, @nospecialize(out), @nospecialize(operands...); keywords...) =
    outer_of(f, operands_of(operands), into(out, request(OF_OUTER, pairs_of(keywords))))

"""
    at!(f, A, indices[, B]; keywords…) -> A

Computes `A[indices] = f(A[indices], B)` once per occurrence of an index, as NumPy's `ufunc.at`.
`indices` is an integer, an array of integers, or a tuple with an integer or array for each leading
dimension of `A`. The indices count from 1, are in host memory, and are broadcast to one size. `B`
is broadcast to the indexed elements, whose size is the size of the indices followed by the other
dimensions of `A`. Keywords: `device`, `stream`, `threads`, `fp_flags`, `fp_report`, `fp_fail`.
Indices in a `Tensor` count from 0 and are used without a copy.
"""
at!(f::UFunc, @nospecialize(A), @nospecialize(indices), @nospecialize(B...); keywords...) =
    at_of(f, A, from_zero_all(indices), Any[B...], request(OF_ALL, pairs_of(keywords)))

function at_of(f::UFunc, @nospecialize(A), indices::Vector{Any}, others::Vector{Any}, r::Request)
    with_at_args(args -> @check(guf_at(f.handle, args), args), f, A, indices, others, r)
    return A
end

from_zero_all(@nospecialize(indices)) =
    Any[from_zero(i) for i in (indices isa Tuple ? indices : (indices,))]

function with_at_args(act, f, @nospecialize(A), indices::Vector{Any}, others::Vector{Any}, r)
    found(f)
    array, fp_flags = output(A), r.fp_flags
    kept = Any[array]
    index_operands = Any[operand(i) for i in indices]
    wide = reduce(max, Int[rank(x) for x in index_operands]; init=0)
    full = wide + rank(array) - length(index_operands)
    stretched = Any[natural(padded(x, wide)) for x in index_operands]
    aligned = Any[natural(padded(operand(x), full)) for x in others]
    result = framed_groups(Any[natural(kept[1])], stretched, aligned) do slots, (at, indexed, added)
        args = Ref(guf_at_args(
            sizeof(guf_at_args), 0, at, indexed, added, shared_options(r), length(stretched), 0))
        GC.@preserve r args fp_flags kept act(Ptr{guf_at_args}(pointer_from_objref(args)))
    end
    queued!(r, Any[array], stretched, aligned)
    return result
end

# Appends dimensions of extent 1 until there are n dimensions. The library's alignment from the last
# dimension is then equal to Julia's alignment from the first.
function padded(x::Tensor{T,N,O}, n) where {T,N,O}
    0 < N < n || return x
    more = n - N
    return Tensor{T,n,O}(x.owner, x.address, (x.size..., ntuple(_ -> 1, more)...),
                         (x.byte_strides..., ntuple(_ -> 0, more)...), x.flags, x.device)
end
padded(x::GufArray{T,N}, n) where {T,N} = 0 < N < n ? expand_dims(x; dims=Tuple(N+1:n)) : x
padded(x, n) = x

for (act, by, count) in ((:resolve, :resolve_by, (1,)), (:explain, :explain_by, ()))
    @eval function $act(::typeof(outer), f::UFunc, A, B; keywords...)
        found(f)
        r = request(OF_OUTER, pairs_of(keywords))
        with_outer_args(f, operands_of((A, B)), outputs_of(r.out, f.nout), r) do args, _
            $by($(OPERATIONS.outer), f, args, $(count...))
        end
    end
    @eval $act(::typeof(at!), f::UFunc, A, indices, B...; keywords...) =
        with_at_args(f, A, from_zero_all(indices), Any[B...],
                     request(OF_ALL, pairs_of(keywords))) do args
            $by($(OPERATIONS.at), f, args, $(count...))
        end
end
