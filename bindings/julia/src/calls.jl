# SPDX-License-Identifier: Apache-2.0
# Calls of ufuncs.

"""
    call!(f, out, inputs…; keywords…) -> out

Applies a ufunc and writes into `out`, an array or a tuple with one array per output. `out` is `()`
for a signature without outputs, which writes its inputs. `call!` accepts the keywords of `UFunc`. A
call without keywords does not allocate.
"""
@inline function call!(f::UFunc, out, inputs::Vararg{Any,N}; keywords...) where {N}
    if isempty(keywords)
        given, results = map(borrowed, inputs), tuple_of(out)
        found(f)
        check_outputs(f, results)
        call_on_stack(f, given, results, (inputs, out), plain_options(f, given))
    else
        call_with(f, operands_of(inputs), outputs_of(out), request(OF_CALLS, pairs_of(keywords)))
    end
    return out
end

# If the list of outputs were empty, the library would allocate the outputs and write their operands
# beyond the frame.
@inline check_outputs(f::UFunc, outputs) = isempty(outputs) && f.nout > 0 && fail_no_outputs(f)
@noinline fail_no_outputs(f) =
    throw(GufuncError(GUF_E_ARG, "out: expected the $(f.nout) of $(f.name), got no outputs"))

# A Tensor over a Julia array without a reference to the array, which the caller preserves. The
# Tensor is plain data and needs no heap allocation.
@inline borrowed(x) = operand(x)
@inline function borrowed(x::Array{T,N}) where {T,N}
    isbitstype(T) || refuse_elements(T)
    return Tensor{T,N,Nothing}(nothing, UInt64(pointer(x)), size(x), packed(size(x), sizeof(T)),
                               UInt32(0), C_NULL)
end

@inline tuple_of(out::Tuple) = map(x -> x isa Array ? borrowed(x) : output(x), out)
@inline tuple_of(out) = (output(out),)
@inline tuple_of(out::Array) = (borrowed(out),)

# A call with all outputs given and without keywords. Its structures are on the stack.
@inline function call_on_stack(f::UFunc, inputs::Tuple, outputs::Tuple, owners, o::Options)
    operands, stream = (inputs..., outputs...), current_stream()
    frame = frame_for(operands)
    GC.@preserve frame operands owners o stream begin
        slots = filled(frame, operands)
        args = Ref(call_args(length(inputs), length(outputs), slots, NULL_OPERAND,
                             stream_handle(stream), o))
        GC.@preserve args begin
            given = Ptr{guf_call_args}(pointer_from_objref(args))
            @check_again guf_call(f.handle, given) given
        end
    end
    stream === nothing || borrows(operands) && synchronize(stream)
    return nothing
end

# Fills the structures of a call and calls `act(args, slots)` with them.
function prepared(act, inputs::Vector{Any}, outputs::Vector{Any}, mask::Vector{Any}, stream,
                  o::Options)
    framed(vcat(inputs, outputs, mask)) do slots
        count = length(inputs) + length(outputs)
        args = Ref(call_args(length(inputs), length(outputs), slots,
                             isempty(mask) ? NULL_OPERAND : slot_of(slots, count),
                             stream_handle(stream), o))
        GC.@preserve args o stream act(Ptr{guf_call_args}(pointer_from_objref(args)), slots)
    end
end

function call_with(f::UFunc, inputs::Vector{Any}, outputs::Vector{Any}, r::Request)
    found(f)
    check_outputs(f, outputs)
    o, mask, fp_flags = options(f, inputs, outputs, r), mask_of(r), r.fp_flags
    GC.@preserve fp_flags prepared(inputs, outputs, mask, r.stream, o) do args, slots
        @check_again guf_call(f.handle, args) args
    end
    queued!(r, inputs, outputs, mask)
    return nothing
end

@inline (f!::InPlace)(out, inputs::Vararg{Any,N}; keywords...) where {N} =
    call!(f!.ufunc, out, inputs...; keywords...)

"""
    f(inputs…; out=nothing, keywords…)

Applies a ufunc. Returns `out` if it is given. Otherwise returns the new result, or a tuple if there
are several results.
"""
(f::UFunc)(@nospecialize(inputs...); keywords...) =
    applied(f, operands_of(inputs), request(OF_CALLS, pairs_of(keywords)))

function applied(f::UFunc, inputs::Vector{Any}, r::Request)
    found(f)
    outputs, out = outputs_of(r.out, f.nout), r.out
    if all(x -> x !== nothing, outputs)
        call_with(f, inputs, outputs, r)
        return out === nothing ? () : out
    end
    results = allocating(f, inputs, outputs, r)
    all(x -> x isa Encoded, inputs) && (results = map(numbered, results))
    return length(results) == 1 && !(out isa Tuple) ? results[1] : Tuple(results)
end

# If all operands are numbers, the result is a number.
numbered(x::Array{T,0}) where {T} = x[]
numbered(x) = x

# The results of a call, with new arrays for the outputs that are not given.
function allocating(f, inputs, outputs, r)
    o, mask, fp_flags = options(f, inputs, outputs, r), mask_of(r), r.fp_flags
    arrays = given_outputs(outputs, r.out)
    GC.@preserve fp_flags if any(x -> x isa GufArray, vcat(inputs, outputs, mask))
        allocate_by_library(f, inputs, outputs, mask, r.stream, o, arrays)
        queued!(r, inputs, outputs, mask)
    else
        allocate_arrays(f, inputs, outputs, mask, o, arrays)
        call_with(f, inputs, Any[output(x) for x in arrays], r)
    end
    return arrays
end

given_outputs(outputs, out) =
    out isa Tuple ? Any[x for x in out] : Any[x === nothing ? nothing : out for x in outputs]

# Lets the library allocate the missing outputs, on the device of the operands or in host memory.
function allocate_by_library(f, inputs, outputs, mask, stream, o, arrays)
    with_collection() do
        prepared(inputs, outputs, mask, stream, o) do args, slots
            @check guf_call(f.handle, args) args
            for (i, given) in enumerate(outputs)
                given === nothing && (arrays[i] = taken(slots, length(inputs) + i - 1))
            end
        end
    end
end

# The array that the library stored in operand `index`. The caller takes ownership of its reference.
function taken(slots, index)
    x = GufArray(guf_array(unsafe_load(slots, 6 * index + 3)))
    count_growth(length(x) * sizeof(eltype(x)))
    return x
end

# Allocates the missing outputs as Julia arrays with the types and sizes that the library resolves.
function allocate_arrays(f, inputs, outputs, mask, o, arrays)
    prepared(inputs, outputs, mask, nothing, o) do args, slots
        resolve_by(GUF_OPERATION_CALL, f, args) do base
            for i in eachindex(outputs)
                outputs[i] === nothing || continue
                T = element_type(operand_dtype(base, :dtypes, length(inputs) + i))
                arrays[i] = Array{T}(undef, output_size(base, i))
            end
        end
    end
end
