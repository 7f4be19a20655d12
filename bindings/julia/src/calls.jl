# SPDX-License-Identifier: Apache-2.0
# Calls of ufuncs: what a call would do, calls, and calls in chunks.

# Resolves and explains calls and methods without running them.

const RESOLUTION = guf_resolution
field_of(base, name::Symbol) =
    base + fieldoffset(RESOLUTION, findfirst(isequal(name), fieldnames(RESOLUTION)))

# Calls `resolve` to fill a guf_resolution, and returns the result of `read` on the structure. The
# structure has 17 KiB, so it is allocated by malloc.
function resolved(read, resolve)
    base = Libc.malloc(sizeof(RESOLUTION))
    base == C_NULL && throw(OutOfMemoryError())
    try
        unsafe_store!(Ptr{UInt32}(base), sizeof(RESOLUTION) % UInt32)
        resolve(Ptr{RESOLUTION}(base))
        return read(base)
    finally
        Libc.free(base)
    end
end

function output_size(base, index)
    ndim = Int(unsafe_load(Ptr{Int32}(field_of(base, :output_ndims)), index))
    shape = Ptr{Int64}(field_of(base, :output_shapes) + 8 * GUF_MAX_NDIM * (index - 1))
    return ntuple(d -> Int(unsafe_load(shape, ndim + 1 - d)), ndim)
end

operand_dtype(base, name, index) = unsafe_load(Ptr{UInt32}(field_of(base, name)), index)

function summary_of(base, noutputs)
    count = Int(unsafe_load(Ptr{Int32}(field_of(base, :noperands))))
    return (loop=Int(unsafe_load(Ptr{UInt32}(field_of(base, :loop)))),
            loop_types=Tuple(element_type(operand_dtype(base, :loop_dtypes, i)) for i in 1:count),
            types=Tuple(element_type(operand_dtype(base, :dtypes, i)) for i in 1:count),
            sizes=Tuple(output_size(base, i) for i in 1:noutputs))
end

# A guf_request for an operation, with a pointer to the arguments of the operation.
request_of(operation, args::Ptr{guf_call_args}) =
    guf_request(sizeof(guf_request), operation, args, C_NULL, C_NULL, C_NULL)
request_of(operation, args::Ptr{guf_reduce_args}) =
    guf_request(sizeof(guf_request), operation, C_NULL, args, C_NULL, C_NULL)
request_of(operation, args::Ptr{guf_accumulate_args}) =
    guf_request(sizeof(guf_request), operation, C_NULL, C_NULL, args, C_NULL)
request_of(operation, args::Ptr{guf_at_args}) =
    guf_request(sizeof(guf_request), operation, C_NULL, C_NULL, C_NULL, args)

request_of(operation, args::Natural) = request_of(operation, args.array)

# Resolves a request. `read` receives the pointer to the guf_resolution.
function resolve_by(read, operation, f::UFunc, args)
    requested = Ref(request_of(operation, args))
    return resolved(read, place -> @check(guf_resolve(f.handle, requested, place), args))
end
resolve_by(operation, f::UFunc, args, noutputs::Integer) =
    resolve_by(base -> summary_of(base, noutputs), operation, f, args)

function explain_by(operation, f::UFunc, args)
    requested = Ref(request_of(operation, args))
    return text_of(args) do letters, length, kept
        LibGufunc.guf_explain(f.handle, requested, letters, length, kept)
    end
end

"""
    resolve(f, inputs…; keywords…)
    resolve(reduce, f, A; keywords…)

Resolves a call, or one of the methods `reduce`, `accumulate`, `reduceat`, `outer` and `at!`, with
the given arguments. Returns `(loop, loop_types, types, sizes)`: the index and types of the loop,
the types of the operands and the sizes of the results. Nothing is computed or allocated. For a
method, `types` has one entry for each operand of the loop, and the result is one of these operands.
"""
resolve(f::UFunc, inputs...; keywords...) =
    query(args -> resolve_by(GUF_OPERATION_CALL, f, args, f.nout), f, operands_of(inputs),
          request(OF_CALLS, pairs_of(keywords)))

"""
    explain(f, inputs…; keywords…) -> String
    explain(reduce, f, A; keywords…) -> String

A text that describes a call or method: the loop, the kernel, the casts, the rejected loops with the
reasons, and the device on which it would run.
"""
explain(f::UFunc, inputs...; keywords...) =
    query(args -> explain_by(GUF_OPERATION_CALL, f, args), f, operands_of(inputs),
          request(OF_CALLS, pairs_of(keywords)))

function query(write, f::UFunc, inputs, r)
    found(f)
    outputs, fp_flags = outputs_of(r.out, f.nout), r.fp_flags
    o = options(f, inputs, outputs, r)
    return GC.@preserve fp_flags prepared((args, slots) -> write(args), inputs, outputs,
                                          mask_of(r), r.stream, o)
end

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

# Calls in chunks, on arrays that are larger than the memory of a device or of the host.

# The program's progress function.
struct Progress
    step::Any
end

function progress_entry(user::Ptr{Cvoid}, done::Int64, items::Int64)
    try
        return Int32(rooted(user).step(Int(done), Int(items)) === false)
    catch exception
        catch_for_caller(exception)
        return Int32(1)
    end
end

"""
    call_chunked!(f, out, inputs…; chunk_bytes=0, depth=0, first_item=0, done=nothing,
                  progress=nothing, keywords…) -> out

Applies a ufunc as `call!` does, in chunks along the last dimension that is longer than 1; an item
is one index of this dimension. Operands must be in host memory, which includes mapped files
(`Mmap.mmap`). Copies to the device, computation and copies to the host overlap.

- `chunk_bytes`: the size in bytes of the largest operand in a chunk; 0 means 8 MiB, or less if the
  device has less memory.
- `depth`: the number of chunks in progress at the same time, 1 to 16; 0 means 3.
- `progress`: called as `progress(done, items)` on the calling thread after each chunk, with the
  number of completed items and the number of all items. If it returns `false` or throws, the call
  stops with `GUF_E_CANCELLED`. An exception becomes the error's `cause`.
- `done`: a `Ref{Int64}` that receives the number of items whose outputs are complete, even if the
  call fails. To resume the call, pass this number as `first_item`.

The call is complete on return. The function accepts the keywords of `UFunc`, except `stream`.
"""
function call_chunked!(f::UFunc, out, inputs...; chunk_bytes=0, depth=0, first_item=0,
                       done=nothing, progress=nothing, keywords...)
    r = request(OF_CHUNKED, pairs_of(keywords))
    r.stream = nothing # also in a block with a current stream
    found(f)
    given, outputs, fp_flags = operands_of(inputs), outputs_of(out), r.fp_flags
    o = options(f, given, outputs, r)
    user = progress === nothing ? Ptr{Cvoid}(C_NULL) : root!(Progress(progress))
    entry = progress === nothing ? Ptr{Cvoid}(C_NULL) :
            @cfunction(progress_entry, Int32, (Ptr{Cvoid}, Int64, Int64))
    cut = Ref(guf_chunk_options(sizeof(guf_chunk_options), 0,
                                whole(UInt64, chunk_bytes, :chunk_bytes),
                                whole(Int32, depth, :depth), 0,
                                whole(Int64, first_item, :first_item), entry, user))
    items = done === nothing ? Ref(Int64(0)) : done
    try
        GC.@preserve fp_flags prepared(given, outputs, mask_of(r), r.stream, o) do args, slots
            @check guf_call_chunked(f.handle, args, cut, items) args
        end
    finally
        progress === nothing || unroot!(user)
    end
    return out
end
