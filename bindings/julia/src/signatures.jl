# SPDX-License-Identifier: Apache-2.0
# Core dimensions. In Julia they are an array's first dimensions, in the signature's order; the
# dimensions that are looped over follow. The library, which sees dimensions reversed, is told so by
# axes -1, -2, … for each operand: no memory is moved.

struct CoreDimension
    name::SubString{String}
    optional::Bool
end

# Of each operand of "(m?,n),(n,p?)->(m?,p?)"; nothing for an elementwise ufunc.
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

# The same for a ufunc's operands, without work where none of its dimensions is missing.
@inline function axes_of(f, ranks::Dims)
    for i in eachindex(ranks)
        ranks[i] < length(f.core[i]) && return default_axes(f.core, ranks)
    end
    return f.axes
end

# The default axes of all operands, for inputs of these numbers of dimensions. None where the
# library's own defaults are these, and where an input has too few: the library says so then.
function default_axes(core::Vector{Vector{CoreDimension}}, ranks::Dims)
    counts = core_counts(core, ranks)
    all(counts[i] <= ranks[i] for i in eachindex(ranks)) || return Int64[]
    return whole_axes(counts)
end

# How many core dimensions each operand has where optional ones may be missing.
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
