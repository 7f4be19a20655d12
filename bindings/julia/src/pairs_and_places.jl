# SPDX-License-Identifier: Apache-2.0
# The methods outer and at. Both count dimensions from the first: the library sees their operands
# with dimension 1 as its axis 0.

natural(x::GufArray{T,N}) where {T,N} = N < 2 ? x : permuted_view(x)
natural(x::Tensor) = Natural(x)
natural(x) = x

"""
    outer(f, A, B; out=nothing, keywords…)

Applies a binary ufunc to all pairs: a result of size `(size(A)..., size(B)...)`. Keywords as of a
call, without `axes`, `dims` and `sizes`. `outer!(f, out, A, B; …)` writes into `out`.
"""
function outer(f::UFunc, A, B; out=nothing, where=nothing, stream=current_stream(),
               order=:F, keywords...)
    given = (operand(A), operand(B))
    # Row-major for the library, which sees the result with dimension 1 first, is :C here too.
    o = options(f, given; order=order === :C ? :F : order === :F ? :C : order, keywords...)
    outputs = (out === nothing ? nothing : natural(output(out)),)
    inputs, mask = map(natural, given), map(natural, mask_of(where))
    stream === nothing || keep!(stream, inputs, outputs, mask, get(keywords, :fp_events, nothing))
    GC.@preserve keywords given result = with_collection() do
        prepared(inputs, outputs, mask, stream, o) do args, slots
            @check guf_outer(found(f), args)
            return taken(slots, 2, outputs[1])
        end
    end
    out === nothing || return out
    made = natural(result)
    return any(x -> x isa GufArray, given) ? made : unwrapped((Array(made),), (A, B))
end

"`outer(f, A, B; …)` into `out`."
outer!(f::UFunc, out, A, B; keywords...) = outer(f, A, B; out=out, keywords...)

"""
    at!(f, A, indices[, B]; keywords…) -> A

`A[indices] = f(A[indices], B)` in which every occurrence of an index counts: NumPy's `ufunc.at`.
`indices` is an integer, an array of integers or a tuple of them, one per leading dimension of `A`,
from 1, that are stretched to one size; they lie in host memory. `B` is aligned with the indexed
elements, whose size is that of the indices, then that of the other dimensions of `A`. Keywords:
`device`, `stream`, `threads`, `fp_events`, `fp_report`, `fp_fail`.
"""
function at!(f::UFunc, A, indices, B...; stream=current_stream(), keywords...)
    places = map(i -> operand(from_zero(i)), indices isa Tuple ? indices : (indices,))
    at_places!(f, output(A), places, B; stream=stream, keywords...)
    return A
end

function at_places!(f, array, places, B; stream=current_stream(), keywords...)
    count = highest(places) + rank(array) - length(places)
    aligned = map(x -> natural(padded(operand(x), count)), B)
    stretched = map(x -> natural(padded(x, highest(places))), places)
    o = method_options(; keywords...)
    groups = ((natural(array),), stretched, aligned)
    stream === nothing || keep!(stream, groups, get(keywords, :fp_events, nothing))
    framed(groups) do slots, (array_slot, indices_slot, operand_slot)
        GC.@preserve keywords begin
            args = Ref(guf_at_args(
                sizeof(guf_at_args), 0, array_slot, indices_slot, operand_slot,
                stream_handle(stream), o.device, length(places), o.threads, o.fp_events,
                o.fp_report, o.fp_fail))
            GC.@preserve args @check guf_at(found(f), Ptr{guf_at_args}(pointer_from_objref(args)))
        end
    end
    return nothing
end

# Dimensions of extent 1 behind the last, so that alignment from the last is Julia's.
function padded(x::Tensor{T,N,O}, n) where {T,N,O}
    0 < N < n || return x
    more = n - N
    return Tensor{T,n,O}(x.owner, x.address, (x.size..., ntuple(_ -> 1, more)...),
                         (x.byte_strides..., ntuple(_ -> 0, more)...), x.flags, x.device)
end
padded(x::GufArray{T,N}, n) where {T,N} =
    0 < N < n ? expand_dims(x; dims=Tuple(N+1:n)) : x
padded(x, n) = x
highest(operands) = reduce(max, map(rank, operands); init=0)
