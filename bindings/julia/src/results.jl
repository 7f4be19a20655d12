# SPDX-License-Identifier: Apache-2.0
# What a call would do, and arrays of Julia for its results.

const RESOLUTION = guf_resolution
field_of(base, name::Symbol) =
    base + fieldoffset(RESOLUTION, findfirst(isequal(name), fieldnames(RESOLUTION)))

# Asks `resolve(resolution)`, a structure of 17 KiB, and gives it to `read`.
function resolved(read::Function, resolve::Function)
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

# What resolve functions tell, for people.
function summary_of(base, noutputs)
    count = Int(unsafe_load(Ptr{Int32}(field_of(base, :noperands))))
    return (loop=Int(unsafe_load(Ptr{UInt32}(field_of(base, :loop)))),
            loop_types=ntuple(i -> element_type(operand_dtype(base, :loop_dtypes, i)), count),
            types=ntuple(i -> element_type(operand_dtype(base, :dtypes, i)), count),
            sizes=ntuple(i -> output_size(base, i), noutputs))
end

# Arrays for the outputs that are missing, the others as they were given.
function host_results(f::UFunc, inputs, outputs, mask, o, out)
    prepared(inputs, outputs, mask, nothing, o) do args, slots
        resolved(place -> @check(guf_resolve(found(f), args, place))) do base
            return ntuple(length(outputs)) do i
                outputs[i] === nothing || return out[i]
                T = element_type(operand_dtype(base, :dtypes, length(inputs) + i))
                return Array{T}(undef, output_size(base, i))
            end
        end
    end
end
