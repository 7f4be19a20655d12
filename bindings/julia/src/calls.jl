# SPDX-License-Identifier: Apache-2.0
# Calls of ufuncs.

@inline mask_of(::Nothing) = ()
@inline mask_of(mask) = (operand(mask),)

# Fills the structures of a call on the stack and gives them to `act(args, slots)`.
@inline function prepared(act::F, inputs::Tuple, outputs::Tuple, mask::Tuple, stream,
                          o::Options) where {F}
    operands = (inputs..., outputs..., mask...)
    frame = frame_for(operands)
    GC.@preserve frame operands o begin
        slots = filled(frame, operands)
        shown = isempty(mask) ? Ptr{guf_operand}(C_NULL) :
                slot_of(slots, length(inputs) + length(outputs))
        args = Ref(call_args(length(inputs), length(outputs), slots, shown,
                             stream_handle(stream), o))
        GC.@preserve args begin
            act(Ptr{guf_call_args}(pointer_from_objref(args)), slots)
        end
    end
end

@inline function launch_call(f::UFunc, inputs::Tuple, outputs::Tuple, mask::Tuple, stream,
                             o::Options)
    stream === nothing || lends((inputs..., outputs..., mask...)) &&
        keep!(stream, inputs, outputs, mask, o)
    handle = found(f)
    prepared(inputs, outputs, mask, stream, o) do args, slots
        @check guf_call(handle, args)
        return nothing
    end
end

"""
    call!(f, out, inputs…; keywords…) -> out

Applies a ufunc into `out`, an array or a tuple of one per output (`()` for a signature without
outputs, which writes its inputs). Keywords as of `UFunc`. Without keywords nothing is allocated.
"""
@inline function call!(f::UFunc, out, inputs...; keywords...)
    given, results = map(operand, inputs), outputs_of(out)
    found(f)
    if isempty(keywords)
        launch_call(f, given, results, (), current_stream(), plain_options(f, given))
    else
        call_with(f, given, results; keywords...)
    end
    return out
end

@noinline function call_with(f, inputs, outputs; where=nothing, stream=current_stream(),
                             keywords...)
    o = options(f, (inputs..., outputs...); keywords...)
    stream === nothing || keep!(stream, get(keywords, :fp_events, nothing))
    GC.@preserve keywords launch_call(f, inputs, outputs, mask_of(where), stream, o)
end

(f!::InPlace)(out, inputs...; keywords...) = call!(f!.ufunc, out, inputs...; keywords...)

"""
    f(inputs…; out=nothing, keywords…)

Applies a ufunc; gives `out`, or new results: one, or a tuple of several.
"""
function (f::UFunc)(inputs...; out=nothing, keywords...)
    given = map(operand, inputs)
    found(f)
    outputs = out === nothing ? ntuple(_ -> nothing, f.nout) : outputs_of(out)
    all(x -> x !== nothing, outputs) &&
        return unwrapped(given_results(f, out, call_with(f, given, outputs; keywords...)), inputs)
    return unwrapped(call_allocating(f, given, outputs, out; keywords...), inputs)
end

given_results(f, out, _) = out === nothing ? () : out

# One result stands for itself; of numbers alone it is a number.
unwrapped(results::Tuple, inputs) = length(results) == 1 ? plain(results[1], inputs) :
                                    map(r -> plain(r, inputs), results)
unwrapped(result, inputs) = result
plain(result::AbstractArray{T,0}, inputs) where {T} =
    all(x -> !(x isa Union{AbstractArray,Tensor}), inputs) ? result[] : result
plain(result, inputs) = result

function call_allocating(f, inputs, outputs, out; where=nothing, stream=current_stream(),
                         keywords...)
    o = options(f, (inputs..., outputs...); keywords...)
    mask = mask_of(where)
    on_device = any(x -> x isa GufArray, (inputs..., outputs..., mask...))
    return GC.@preserve keywords on_device ?
        allocating_on_device(f, inputs, outputs, mask, stream, o, out) :
        allocating_on_host(f, inputs, outputs, mask, stream, o, out)
end

function allocating_on_host(f, inputs, outputs, mask, stream, o, out)
    arrays = host_results(f, inputs, outputs, mask, o, out)
    launch_call(f, inputs, map(output, arrays), mask, stream, o)
    return arrays
end

# The library allocates what is missing: beside the operands, or in host memory.
function allocating_on_device(f, inputs, outputs, mask, stream, o, out)
    stream === nothing || keep!(stream, inputs, outputs, mask, o)
    ninputs = length(inputs)
    with_collection() do
        prepared(inputs, outputs, mask, stream, o) do args, slots
            @check guf_call(found(f), args)
            return ntuple(length(outputs)) do i
                outputs[i] === nothing ? counted(taken(slots, ninputs + i - 1, nothing)) : out[i]
            end
        end
    end
end

counted(x::GufArray) = (count_growth(length(x) * sizeof(eltype(x))); x)
