# SPDX-License-Identifier: Apache-2.0
# The methods of ufuncs: reduce, accumulate, reduceat, outer, at. Order and bits of what is folded:
# docs/reductions.md.

"""
    reduce(f::UFunc, A; dims=:, init=nothing, out=nothing, where=nothing, keywords…)

Folds elements along `dims`: a dimension, several, `()` (none) or `:` (all). Folded dimensions stay
with extent 1, unless `keepdims=false`; of all dimensions it is one element: a number for a Julia
array, an array without dimensions for a `GufArray`. `init` starts every result; `novalue` keeps the
identity away. `where` is a mask of elements that take part. A reduction with a state gives a tuple
of its results. Further keywords: `dtype`, `order`, `device`, `stream`, `threads`, `fp_events`,
`fp_report`, `fp_fail`. `reduce!(f, out, A; …)` writes into `out`, of the result's size.
"""
Base.reduce(f::UFunc, A::AbstractArray; keywords...) = folded(f, A; keywords...)
Base.reduce(f::UFunc, A::Tensor; keywords...) = folded(f, A; keywords...)

function folded(f, A; dims=:, out=nothing, keepdims::Bool=dims !== (:), keywords...)
    count = max(1, ufunc_results(f))
    given = out === nothing ? ntuple(_ -> nothing, count) : outputs_of(out)
    results = reduce_into(f, A, given, dims, keepdims; keywords...)
    results === nothing && return out
    found = map((r, o) -> r === o ? r : on_host_as(A, r), results, given)
    out === nothing || return out isa Tuple ? found : found[1]
    shown = dims isa Colon && !keepdims && !(A isa GufArray) ? map(r -> r[], found) : found
    return length(shown) == 1 ? shown[1] : shown
end

"`reduce(f, A; …)` into `out`, an array or a tuple of one per result."
reduce!(f::UFunc, out, A; dims=:, keywords...) =
    (reduce(f, A; dims=dims, out=out, keepdims=keeps(out, A), keywords...); out)
keeps(out, A) = rank(first(outputs_of(out))) == rank(operand(A)) && rank(operand(A)) > 0

# Results of a reduction with a state; 0 for all other ufuncs.
ufunc_results(f::UFunc) = ufunc_info(f).nresults

# A result that the library allocated, as an array of Julia where the input is one.
on_host_as(::GufArray, result) = result
on_host_as(::Any, result::GufArray) = (made = Array(result); unsafe_free!(result); made)

function reduce_args(act, f, A, outputs, dims, keepdims; init=nothing, where=nothing,
                     stream=current_stream(), keywords...)
    input, o = operand(A), method_options(; keywords...)
    naxis, axes = folded_axes(dims, rank(input))
    state = length(outputs) > 1
    groups = ((input,), outputs, initial_operand(init), mask_of(where))
    stream === nothing || keep!(stream, groups, get(keywords, :fp_events, nothing))
    # A pointer that is not NULL tells "no axes" from "the default".
    named = isempty(axes) ? [Int64(0)] : axes
    framed(groups) do slots, (input, output, initial, mask)
        GC.@preserve named keywords begin
            args = Ref(guf_reduce_args(
                sizeof(guf_reduce_args), keepdims ? GUF_CALL_KEEPDIMS : 0, input,
                state ? NULL_OPERAND : output, pointer(named), initial, mask,
                stream_handle(stream), o.device, naxis, o.order, o.dtype, o.threads,
                state ? output : NULL_OPERAND, state ? length(outputs) : 0, 0, o.fp_events,
                o.fp_report, o.fp_fail))
            GC.@preserve args act(Ptr{guf_reduce_args}(pointer_from_objref(args)), slots)
        end
    end
end

function reduce_into(f, A, outputs, dims, keepdims; keywords...)
    with_collection() do
        reduce_args(f, A, outputs, dims, keepdims; keywords...) do args, slots
            @check guf_reduce(found(f), args)
            return ntuple(i -> taken(slots, i, outputs[i]), length(outputs))
        end
    end
end

# accumulate and reduceat share their structure.
function accumulate_args(act, A, indices, output, dims; stream=current_stream(), keywords...)
    input, o = operand(A), method_options(; keywords...)
    axis = library_axis(dims, rank(input))
    groups = ((input,), indices, (output,))
    stream === nothing || keep!(stream, groups, get(keywords, :fp_events, nothing))
    framed(groups) do slots, (input, places, result)
        GC.@preserve keywords begin
            args = Ref(guf_accumulate_args(
                sizeof(guf_accumulate_args), 0, input, places, result, stream_handle(stream),
                o.device, axis, o.dtype, o.order, o.threads, 0, o.fp_events, o.fp_report,
                o.fp_fail))
            GC.@preserve args act(Ptr{guf_accumulate_args}(pointer_from_objref(args)), slots)
        end
    end
end

function along(method, f, A, indices, out, dims; keywords...)
    output = out === nothing ? nothing : Gufunc.output(out)
    result = with_collection() do
        accumulate_args(A, indices, output, dims; keywords...) do args, slots
            method(args)
            return taken(slots, 1 + length(indices), output)
        end
    end
    return out === nothing ? on_host_as(A, result) : out
end

only_dimension(A) = rank(operand(A)) == 1 ? 1 :
    throw(GufuncError(GUF_E_AXIS, "an array of $(rank(operand(A))) dimensions needs dims="))

"""
    accumulate(f::UFunc, A; dims, out=nothing, keywords…)

All partial results along a dimension, as `reduce` folds them. `accumulate!(f, out, A; …)` writes
into `out`.
"""
Base.accumulate(f::UFunc, A::Union{AbstractArray,Tensor}; dims=only_dimension(A), out=nothing,
                keywords...) =
    along(args -> @check(guf_accumulate(found(f), args)), f, A, (), out, dims; keywords...)

"`accumulate(f, A; …)` into `out`."
accumulate!(f::UFunc, out, A; keywords...) = accumulate(f, A; out=out, keywords...)

"""
    reduceat(f, A, indices; dims, out=nothing, keywords…)

Folds the stretches of a dimension that begin at `indices`, from 1, in host memory: NumPy's
`ufunc.reduceat`. `reduceat!(f, out, A, indices; …)` writes into `out`.
"""
reduceat(f::UFunc, A, indices; dims=only_dimension(A), out=nothing, keywords...) =
    along(args -> @check(guf_reduceat(found(f), args)), f, A, (operand(from_zero(indices)),), out,
          dims; keywords...)

"`reduceat(f, A, indices; …)` into `out`."
reduceat!(f::UFunc, out, A, indices; keywords...) =
    reduceat(f, A, indices; out=out, keywords...)
