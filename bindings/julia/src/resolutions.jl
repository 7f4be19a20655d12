# SPDX-License-Identifier: Apache-2.0
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
