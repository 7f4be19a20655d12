# SPDX-License-Identifier: Apache-2.0
# Core dimensions. In Julia they are the first dimensions of an array, in the order of the
# signature, and the loop dimensions follow. The library has the dimensions in reverse order.
# Passing the axes -1, -2, … for each operand selects the core dimensions without moving memory.

struct CoreDimension
    name::SubString{String}
    optional::Bool
end

# The core dimensions of each operand in a signature such as "(m?,n),(n,p?)->(m?,p?)". Empty for an
# elementwise ufunc.
function core_dimensions(signature::String)
    isempty(signature) && return Vector{CoreDimension}[]
    return map(eachmatch(r"\(([^)]*)\)", signature)) do operand
        inside = operand.captures[1]
        return [core_dimension(strip(part)) for part in split(inside, ','; keepempty=false)]
    end
end

function core_dimension(part)
    name = first(split(part, '|'))
    return CoreDimension(rstrip(name, '?'), endswith(name, '?'))
end

# The default axes for the operands of a ufunc. They are precomputed for operands that have all core
# dimensions.
@inline function axes_of(f, ranks::Dims)
    for i in eachindex(ranks)
        ranks[i] < length(f.core[i]) && return default_axes(f.core, ranks)
    end
    return f.axes
end

# The default axes of all operands for inputs with these numbers of dimensions. Empty if an input
# has too few dimensions; the library then reports the error.
function default_axes(core::Vector{Vector{CoreDimension}}, ranks::Dims)
    counts = core_counts(core, ranks)
    all(counts[i] <= ranks[i] for i in eachindex(ranks)) || return Int64[]
    return whole_axes(counts)
end

# The number of core dimensions of each operand. Optional dimensions may be missing.
function core_counts(core, ranks)
    missing_names = SubString{String}[]
    for (operand, rank) in zip(core, ranks)
        rank < length(operand) &&
            append!(missing_names, [d.name for d in operand if d.optional])
    end
    return [count(d -> !(d.name in missing_names), operand) for operand in core]
end

whole_axes(counts) = Int64[-d for n in counts for d in 1:n]

needs_axes(core) = any(operand -> length(operand) > 1, core)
