# SPDX-License-Identifier: Apache-2.0
# Core dimensions. In Julia they are the first dimensions of an array, in the order of the
# signature, and the loop dimensions follow. The library has the dimensions in reverse order.
# Passing the axes -1, -2, … for each operand selects the core dimensions without moving memory.

struct CoreDimension
    number::Int # index among the distinct core dimensions, in order of first use in the signature
    optional::Bool
end

# The core dimensions of each operand. The result is empty for an elementwise ufunc.
function core_dimensions(info::guf_ufunc_info)
    info.ncore == 0 && isempty(text(info.signature)) && return Vector{CoreDimension}[]
    counts = collect(info.core_ndim[1:info.nin+info.nout])
    return map(cumsum(counts), counts) do last, count
        return CoreDimension[core_dimension(info, info.core_dims[k]) for k in last-count+1:last]
    end
end

core_dimension(info, number) =
    CoreDimension(number, info.core_flags[number+1] & GUF_CORE_DIM_OPTIONAL != 0)

# The axes of the core dimensions of each operand, with the structures of the C interface.
struct CoreAxes
    entries::Vector{guf_core_axes}
    axes::Vector{Vector{Int64}} # the entries point to the elements of these vectors
end

CoreAxes(axes::Vector{Vector{Int64}}) =
    CoreAxes([guf_core_axes(pointer(own), length(own), 0) for own in axes], axes)

const NO_CORE_AXES = CoreAxes(Vector{Int64}[])

# The default axes for the operands of a ufunc. The axes for operands that have all core dimensions
# are precomputed.
@inline function axes_of(f, ranks::Dims)
    for i in eachindex(ranks)
        ranks[i] < length(f.core[i]) && return default_axes(f.core, ranks)
    end
    return f.axes
end

# The default axes of all operands for inputs whose numbers of dimensions are `ranks`. The result
# has no axes if an input has too few dimensions. The library then reports the error.
function default_axes(core::Vector{Vector{CoreDimension}}, ranks::Dims)
    counts = core_counts(core, ranks)
    all(counts[i] <= ranks[i] for i in eachindex(ranks)) || return NO_CORE_AXES
    return whole_axes(counts)
end

# The number of core dimensions of each operand. Optional dimensions may be missing.
function core_counts(core, ranks)
    absent = Int[]
    for (operand, rank) in zip(core, ranks)
        rank < length(operand) &&
            append!(absent, [d.number for d in operand if d.optional])
    end
    return [count(d -> !(d.number in absent), operand) for operand in core]
end

whole_axes(counts) = CoreAxes([Int64[-d for d in 1:n] for n in counts])

needs_axes(core) = any(operand -> length(operand) > 1, core)
