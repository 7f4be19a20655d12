# SPDX-License-Identifier: Apache-2.0
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
