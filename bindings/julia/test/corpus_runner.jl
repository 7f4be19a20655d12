# SPDX-License-Identifier: Apache-2.0
# Runs the corpus (tests/conformance/corpus/README.md):
#   corpus_runner.jl CORPUS_FOLDER DEVICE MODULE.so…
using Gufunc

include("json_reader.jl")
include("corpus_operands.jl")

# Compares results of the binding with the expected results.

struct Wrong <: Exception
    text::String
end
demand(holds, text) = holds || throw(Wrong(text))

# A result in NumPy's terms: type, shape, elements in C order, and the strides of an allocated
# array.
struct Found
    type::DataType
    shape::Vector{Int}
    bytes::Vector{UInt8}
    strides::Vector{Int}
end

function judge_result(found::Found, expected, data)
    T = Gufunc.element_type(expected["dtype"])
    demand(found.type === T, "type: expected $T, got $(found.type)")
    demand(found.shape == expected["shape"],
           "shape: expected $(expected["shape"]), got $(found.shape)")
    bytes = data[expected["at"]+1:expected["at"]+expected["nbytes"]]
    demand(length(bytes) == length(found.bytes), "$(length(found.bytes)) bytes")
    mask = haskey(expected, "defined") ?
           data[expected["defined"]+1:expected["defined"]+length(bytes)÷sizeof(T)] .!= 0 :
           trues(length(bytes) ÷ sizeof(T))
    found_elements, expected_elements = reinterpret(T, found.bytes), reinterpret(T, bytes)
    for i in eachindex(mask)
        mask[i] || continue
        demand(equal(found_elements[i], expected_elements[i], expected["ulp"]),
               "element $i: expected $(expected_elements[i]), got $(found_elements[i])")
    end
    haskey(expected, "strides") || return
    long = [s for (s, extent) in zip(found.strides, found.shape) if extent > 1]
    demand(isempty(bytes) || long == expected["strides"],
           "strides: expected $(expected["strides"]), got $long")
end

bits_of(x::T) where {T} = reinterpret(UInt8, [x])
same_bits(a, b) = bits_of(a) == bits_of(b)

equal(a, b, ulp) = bits_of(a) == bits_of(b)
equal(a::T, b::T, ulp) where {T<:AbstractFloat} =
    (isnan(a) && isnan(b)) || (ulp == 0 ? same_bits(a, b) : !isnan(a) && !isnan(b) &&
        (a == b || abs(place(a) - place(b)) <= ulp))

# Returns the ordinal of a floating-point number. Adjacent numbers have adjacent ordinals, and 0 has
# the ordinal 0.
place(x::T) where {T} = (bits = reinterpret(signed_of(T), x);
                         Int128(bits < 0 ? typemin(bits) - bits : bits))
signed_of(::Type{T}) where {T} = (Int8, Int16, Int32, Int64)[trailing_zeros(sizeof(T))+1]

function equal(a::Complex{T}, b::Complex{T}, ulp) where {T}
    ulp == 0 && return equal(real(a), real(b), 0) && equal(imag(a), imag(b), 0)
    eps = T === Float32 ? 2.0^-23 : 2.0^-52
    m = max(abs(Float64(real(b))), abs(Float64(imag(b))))
    tolerance = ulp * eps * (m > 0 && isfinite(m) ? 2.0^floor(log2(m)) : 0.0)
    return all(((x, y),) -> (isnan(x) && isnan(y)) || x == y ||
                            abs(Float64(x) - Float64(y)) <= tolerance,
               ((real(a), real(b)), (imag(a), imag(b))))
end

# Checks that bytes outside the elements of written operands are unchanged.
function judge_buffers(memory, before, written)
    free = [trues(m.nbytes) for m in memory]
    for spec in written
        size = sizeof(Gufunc.element_type(spec["dtype"]))
        for place in c_order(spec["shape"])
            at = spec["offset"] + offset_of(place, spec["strides"])
            free[spec["buffer"]+1][at+1:at+size] .= false
        end
    end
    for (i, m) in enumerate(memory)
        demand(all(contents(m)[free[i]] .== before[i][free[i]]),
               "buffer $(i - 1) changed outside of the outputs")
    end
end

const CASE_KEYS = ("id", "ufunc", "method", "buffers", "inputs", "outputs", "where", "indices",
                   "initial", "axis", "axes", "keepdims", "dims", "casting", "order", "dtype",
                   "signature", "fp_report", "fp_fail", "expect")
# Julia's names of NumPy's memory orders, for reversed dimensions.
const TRANSPOSED_ORDERS = Dict("K" => :K, "C" => :F, "F" => :C, "A" => :A)

struct Case
    spec::Dict{String,Any}
    memory::Vector{Memory}
    fp_flags::Base.RefValue{UInt32}
    device::String
end

written_specs(c::Case) = [s for s in get(c.spec, "outputs", []) if s !== nothing]

# A dict of keywords. Julia compiles no code for the types of their values.
struct Words
    values::Dict{Symbol,Vector{Any}}
end
Base.setindex!(w::Words, @nospecialize(value), name) = w.values[name] = Any[value]
Base.get(w::Words, name, otherwise) = get(w.values, name, Any[otherwise])[1]

# Returns the keywords that all methods share.
function common(c::Case)
    words = Words(Dict{Symbol,Vector{Any}}())
    haskey(c.spec, "dtype") && (words[:dtype] = c.spec["dtype"])
    fail = get(c.spec, "fp_fail", 0)
    get(c.spec, "fp_report", false) && (words[:fp_report] = 31; words[:fp_flags] = c.fp_flags)
    fail != 0 && (words[:fp_fail] = fail)
    return words
end

# If outputs are allocated, converts inputs to GufArrays, so that the outputs are GufArrays with the
# strides that the library chose.
wrapped(@nospecialize(x), allocating) = allocating && x isa Tensor ? Gufunc.wrap(x) : x

# Returns the keywords for `f(inputs…; keywords(c, words)...)`. All values have the type Any, so
# that Julia compiles one call per set of names. Without other keywords, the device cpu is omitted.
function keywords(c::Case, words)
    get(words, :out, 0) === nothing && delete!(words.values, :out)
    bare = isempty(words.values) || collect(keys(words.values)) == [:out]
    bare && c.device == "cpu" || (words[:device] = c.device)
    names = sort!(collect(keys(words.values)))
    return NamedTuple{Tuple(names),NTuple{length(names),Any}}(Tuple(Any[get(words, n, nothing)
                                                                      for n in names]))
end

# Makes a call as programs write it: with keywords, into existing outputs, or with dots.
function called(c::Case, f, inputs, words)
    named = keywords(c, words)
    placed = get(words, :out, nothing)
    dotted = isempty(f.core) && c.device == "cpu"
    if isempty(named) && dotted
        return f.(Any[dense_or_wrapped(x) for x in inputs]...)
    elseif placed === nothing || any(isnothing, placed) || !issubset(keys(named), (:out, :device))
        return f(Any[wrapped(x, allocating(c)) for x in inputs]...; named...)
    end
    given, out = Any[dense(x) for x in inputs], Any[dense(x) for x in placed]
    if dotted && length(out) == 1 && !any(x -> x isa Tensor, vcat(given, out))
        result = out[1]
        return result .= f.(given...)
    end
    f!, target = inplace(f), length(placed) == 1 ? placed[1] : placed
    return c.device == "cpu" ? f!(target, inputs...) : f!(target, inputs...; device=c.device)
end

# A case that has only these keys is repeated with dots, which must return the same result.
const DOTS_KEYS = ("id", "ufunc", "method", "buffers", "inputs", "fp_report", "expect", "data")
const SPELLED = Dict(g.name => f for (f, g) in Gufunc.UFUNCS_OF_FUNCTIONS)
SPELLED["negative"] = -

function judge_dots(c::Case, f, inputs, results)
    c.device == "cpu" && isempty(f.core) && issubset(keys(c.spec), DOTS_KEYS) || return
    given = Any[x isa Tensor ? Gufunc.wrap(x) : x for x in inputs]
    dotted = results_of(spelled(f, given).(given...))
    demand(length(dotted) == length(results) && all(map(same_result, dotted, results)),
           "with dots: $dotted, without: $results")
end

# Returns the Julia function for a ufunc. Returns the ufunc itself for types for which Julia's
# function differs from NumPy's.
function spelled(f, given)
    T = eltype(given[1])
    any(x -> x isa GufArray, given) || return f
    f.name == "reciprocal" && T <: Integer && return f
    f.name == "square" && T <: Complex && return f
    return get(SPELLED, f.name, f)
end

in_julia(@nospecialize(x)) = x isa GufArray ? Array(x) : x
function same_result(@nospecialize(x), @nospecialize(y))
    a, b = in_julia(x), in_julia(y)
    return typeof(a) === typeof(b) && size(a) == size(b) && all(map(same_bits, a, b))
end

# Returns the existing outputs for a method with a `!`, and all other keywords.
function places_given(c::Case, words)
    out = get(words, :out, nothing)
    out isa Tuple && any(isnothing, out) && return nothing, keywords(c, words)
    delete!(words.values, :out)
    return out, keywords(c, words)
end

results_of(@nospecialize(made)) = made isa Tuple ? Any[made...] : Any[made]

function outputs_of(c::Case, places, core)
    haskey(c.spec, "outputs") || return nothing
    made = Any[s === nothing ? nothing : julia_operand(s, c.memory, places, get(core, i, 0))
               for (i, s) in enumerate(c.spec["outputs"])]
    return Tuple(made)
end

allocating(c::Case) = !haskey(c.spec, "outputs") || any(isnothing, c.spec["outputs"])

mask_of(c::Case, places, words) = haskey(c.spec, "where") &&
    (words[:where] = wrapped(julia_operand(c.spec["where"], c.memory, places, 0), allocating(c)))

# Returns the number of core dimensions of each operand.
function core_counts(f, specs)
    isempty(f.core) && return zeros(Int, f.nin + f.nout)
    ranks = Tuple(rank_of(s) for s in specs)
    counts = Gufunc.core_counts(f.core, ranks)
    return all(counts[i] <= ranks[i] for i in eachindex(ranks)) ? counts : length.(f.core)
end
rank_of(spec) = spec !== nothing && spec["kind"] == "array" ? length(spec["shape"]) : 0

function run_call(c::Case, f)
    spec, words = c.spec, common(c)
    counts = core_counts(f, spec["inputs"])
    chosen = haskey(spec, "axes") || haskey(spec, "axis")
    places = chosen ? reversed_dimensions : core_places
    inputs = Any[julia_operand(s, c.memory, places, counts[min(i, end)])
                 for (i, s) in enumerate(spec["inputs"])]
    written = isempty(f.core) || f.nout > 0 ? counts[f.nin+1:end] : counts
    words[:out] = outputs_of(c, places, written)
    mask_of(c, reversed_dimensions, words)
    haskey(spec, "casting") && (words[:casting] = Symbol(spec["casting"]))
    haskey(spec, "order") && (words[:order] = TRANSPOSED_ORDERS[spec["order"]])
    haskey(spec, "signature") && (words[:signature] = Tuple(spec["signature"]))
    haskey(spec, "keepdims") && (words[:keepdims] = spec["keepdims"])
    haskey(spec, "dims") &&
        (words[:sizes] = (; (Symbol(name) => size for (name, size) in spec["dims"])...))
    add_axes!(words, c, f, counts)
    results = results_of(called(c, f, inputs, words))
    judge_dots(c, f, inputs, results)
    return results, places, written
end

function add_axes!(words, c, f, counts)
    spec = c.spec
    operands = vcat(spec["inputs"], get(spec, "outputs", []))
    loop = reduce(max, [rank_of(s) - k for (s, k) in zip(spec["inputs"], counts)]; init=0)
    rank(i) = i <= length(operands) && operands[i] !== nothing ? rank_of(operands[i]) :
              loop + get(counts, get(spec, "keepdims", false) ? 1 : i, 0)
    if haskey(spec, "axes")
        words[:axes] = Tuple(Tuple(dimension(a, rank(i)) for a in of_one)
                             for (i, of_one) in enumerate(spec["axes"]))
    elseif haskey(spec, "axis")
        a, shared = integer(spec["axis"]), counts[1:f.nin]
        if a >= 0 && length(unique(rank.(1:f.nin))) > 1 && all(==(1), shared)
            kept = get(spec, "keepdims", false)
            words[:axes] = Tuple(counts[i] == 1 || kept ? (dimension(a, rank(i)),) : ()
                                 for i in 1:f.nin+f.nout)
        else
            words[:dims] = dimension(a, rank(1))
        end
    end
end

function run_reduce(c::Case, f)
    spec, words = c.spec, common(c)
    input = wrapped(julia_operand(spec["inputs"][1], c.memory, reversed_dimensions, 0),
                    allocating(c))
    n = rank_of(spec["inputs"][1])
    axis = get(spec, "axis", [0])
    words[:dims] = axis == "all" ? Colon() : length(axis) == 1 ? dimension(axis[1], n) :
                   Tuple(dimension(a, n) for a in axis)
    words[:keepdims] = get(spec, "keepdims", false)
    mask_of(c, reversed_dimensions, words)
    haskey(spec, "initial") && (words[:init] = spec["initial"] == "none" ? Gufunc.novalue :
        julia_operand(spec["initial"], c.memory, reversed_dimensions, 0))
    haskey(spec, "order") && (words[:order] = TRANSPOSED_ORDERS[spec["order"]])
    words[:out] = outputs_of(c, reversed_dimensions, zeros(Int, 9))
    out, named = places_given(c, words)
    results = out === nothing ? reduce(f, input; named...) : reduce!(f, out, input; named...)
    return results_of(results), reversed_dimensions, zeros(Int, 9)
end

function run_along(c::Case, f)
    spec, words = c.spec, common(c)
    input = wrapped(julia_operand(spec["inputs"][1], c.memory, reversed_dimensions, 0),
                    allocating(c))
    words[:dims] = dimension(get(spec, "axis", 0), rank_of(spec["inputs"][1]))
    haskey(spec, "order") && (words[:order] = TRANSPOSED_ORDERS[spec["order"]])
    out = outputs_of(c, reversed_dimensions, zeros(Int, 9))
    out === nothing || (words[:out] = out[1])
    out, named = places_given(c, words)
    if spec["method"] == "accumulate"
        result = out === nothing ? accumulate(f, input; named...) :
                 accumulate!(f, out, input; named...)
    else
        indices = from_one(julia_operand(spec["indices"][1], c.memory, reversed_dimensions, 0))
        result = out === nothing ? reduceat(f, input, indices; named...) :
                 reduceat!(f, out, input, indices; named...)
    end
    return results_of(result), reversed_dimensions, zeros(Int, 9)
end

function run_outer(c::Case, f)
    spec, words = c.spec, common(c)
    inputs = Any[wrapped(julia_operand(s, c.memory, natural_dimensions, 0), allocating(c))
                 for s in spec["inputs"]]
    haskey(spec, "order") && (words[:order] = Symbol(spec["order"]))
    haskey(spec, "casting") && (words[:casting] = Symbol(spec["casting"]))
    haskey(spec, "signature") && (words[:signature] = Tuple(spec["signature"]))
    mask_of(c, natural_dimensions, words)
    words[:out] = outputs_of(c, natural_dimensions, zeros(Int, 9))
    out, named = places_given(c, words)
    result = out === nothing ? outer(f, inputs...; named...) : outer!(f, out, inputs...; named...)
    return results_of(result), natural_dimensions, zeros(Int, 9)
end

function run_at(c::Case, f)
    spec, n = c.spec, rank_of(c.spec["inputs"][1])
    wide = reduce(max, rank_of.(spec["indices"]); init=0)
    array = julia_operand(spec["inputs"][1], c.memory, natural_dimensions, 0)
    indices = Any[from_one(julia_operand(s, c.memory, natural_dimensions, 0; pad=wide))
                  for s in spec["indices"]]
    full = wide + n - length(indices)
    others = Any[julia_operand(s, c.memory, natural_dimensions, 0; pad=rank_of(s) > 0 ? full : 0)
                 for s in spec["inputs"][2:end]]
    at!(f, array, length(indices) == 1 ? indices[1] : Tuple(indices), others...;
        keywords(c, common(c))...)
    return Any[array], natural_dimensions, zeros(Int, 9)
end

const METHODS = Dict("call" => run_call, "reduce" => run_reduce, "accumulate" => run_along,
                     "reduceat" => run_along, "outer" => run_outer, "at" => run_at)

# Converts a result to NumPy's terms.
function found(@nospecialize(result), spec, c, places, core)
    if spec !== nothing
        T = Gufunc.element_type(spec["dtype"])
        base = address(c.memory[spec["buffer"]+1]) + spec["offset"]
        return Found(T, spec["shape"], gathered(base, T, spec["shape"], spec["strides"],
                                                get(spec, "swapped", false)), Int[])
    end
    result isa Array && (result = Gufunc.wrap(result))
    result isa GufArray || return Found(typeof(result), Int[], bits_of(result), Int[])
    back = invperm(places(ndims(result), core))
    info = Gufunc.array_info(result)
    shape, strides = Int[reverse(info.shape)...][back], Int[reverse(info.strides)...][back]
    T = eltype(result)
    return Found(T, shape, gathered(result.address, T, shape, strides, false), strides)
end

function judge(c::Case, f, results, places, core)
    expect = c.spec["expect"]
    specs = haskey(expect, "inouts") ? c.spec["inputs"][expect["inouts"].+1] :
            c.spec["method"] == "at" ? c.spec["inputs"][1:1] :
            get(c.spec, "outputs", fill(nothing, length(results)))
    specs = haskey(expect, "inouts") && !isempty(written_specs(c)) ? written_specs(c) : specs
    demand(length(specs) == length(expect["results"]), "$(length(specs)) results")
    for (i, expected) in enumerate(expect["results"])
        result = i <= length(results) ? results[i] : nothing
        judge_result(found(result, specs[i], c, places, get(core, i, 0)), expected, c.spec["data"])
    end
    haskey(expect, "fp_flags") &&
        demand(c.fp_flags[] == expect["fp_flags"],
               "fp_flags: expected $(expect["fp_flags"]), got $(c.fp_flags[])")
    return filter(s -> s !== nothing, specs)
end

# A message with "[original->remapped]" lists core dimensions in memory order, which is different in
# Julia and NumPy. Its characters are compared in any order.
same_but_core_order(text, expected) = contains(expected, "[original->remapped]") &&
                                      sort(collect(text)) == sort(collect(expected))

# Returns the Julia dimension for NumPy's axis of a failure, for operands that `places` mapped.
function failed_dimension(c::Case, expect, text)
    found = match(r"dimension (-?\d+) is out of bounds for an array", text)
    found === nothing || return something(tryparse(Int, found.captures[1]), -1)
    axis, argument, spec = expect["axis"], expect["argument"], c.spec
    axis == -1 && return -1
    occursin("core dimension", text) && return axis + 1
    spec["method"] in ("outer", "at") && return axis + 1
    inputs, outputs, mask = spec["inputs"], get(spec, "outputs", []), get(spec, "where", nothing)
    if spec["method"] != "call"
        one = argument == 2 ? outputs[1] : argument == 3 && mask !== nothing ? mask : inputs[1]
        return rank_of(one) - axis
    end
    f, i = UFunc(spec["ufunc"]), argument + 1
    Gufunc.find!(f)
    one = i <= f.nin ? inputs[i] : i <= f.nin + f.nout ? outputs[i-f.nin] : mask
    named = haskey(spec, "axes") || haskey(spec, "axis") || i > f.nin + f.nout
    places = named ? reversed_dimensions : core_places
    return findfirst(==(axis + 1), places(rank_of(one), core_counts(f, inputs)[min(i, end)]))
end

function judge_failure(c::Case, e, expect, memory, before)
    status = Gufunc.status_name(e.status)
    demand(status == expect["status"], "expected $(expect["status"]), got $status: $(e.message)")
    # A message about an axis out of bounds contains the dimension, which failed_dimension reads.
    # Any other message needs the dimension that failed_dimension returns.
    message(dimension) = status == "GUF_E_AXIS" ?
                         Gufunc.in_dimensions(expect["message"], expect["axis"], dimension) :
                         expect["message"]
    axis = failed_dimension(c, expect, message(-1))
    expected = message(axis)
    demand(e.message == expected || same_but_core_order(e.message, expected),
           "expected \"$expected\", got \"$(e.message)\"")
    demand((e.argument, e.axis) == (expect["argument"], axis),
           "argument, axis: expected $(expect["argument"]), $axis, got $(e.argument), $(e.axis)")
    get(expect, "written", false) || judge_buffers(memory, before, [])
end

function run_case(spec, device)
    check_keys(spec, (CASE_KEYS..., "data"))
    memory = [Memory(spec["data"], b) for b in spec["buffers"]]
    before = [contents(m) for m in memory]
    c = Case(spec, memory, Ref(UInt32(0)), device)
    expect = spec["expect"]
    local written
    try
        f = UFunc(spec["ufunc"])
        Gufunc.find!(f)
        results, places, core = METHODS[spec["method"]](c, f)
        demand(expect["status"] == "GUF_OK", "expected $(expect["status"]), got GUF_OK")
        written = judge(c, f, results, places, core)
    catch e
        e isa GufuncError || rethrow()
        return judge_failure(c, e, expect, memory, before)
    end
    judge_buffers(memory, before, written)
end

# Returns the FNV-1a hash of the ids, each followed by a newline.
function digest(ids)
    found = 0xcbf29ce484222325
    for byte in codeunits(join(ids .* '\n'))
        found = (found ⊻ byte) * 0x00000100000001b3
    end
    return string(found; base=16, pad=16)
end

function run_group(path, device, failed)
    group = JsonReader.parse_json(read(path, String))
    group["format"] == 1 || error("$path: format $(group["format"])")
    data = read(replace(path, r"\.json$" => ".bin"))
    ids = String[]
    for spec in group["cases"]
        spec["data"] = data
        try
            run_case(spec, device)
        catch e
            push!(failed, spec["id"])
            println(spec["id"], ": ", e isa Wrong ? e.text : sprint(showerror, e))
            get(ENV, "CORPUS_TRACE", "") == "" || Base.show_backtrace(stdout, catch_backtrace())
        end
        push!(ids, spec["id"])
    end
    println(group["group"], ": ", length(ids), " judged, fnv1a ", digest(ids))
    return length(ids)
end

function main(folder, device, modules...)
    loaded = map(Gufunc.load, modules)
    failed, count = String[], 0
    for name in sort(filter(endswith(".json"), readdir(folder)))
        count += run_group(joinpath(folder, name), device, failed)
    end
    println("$count cases, $(count - length(failed)) passed, $(length(failed)) failed")
    return count > 0 && isempty(failed) && length(loaded) >= 0
end

exit(main(ARGS...) ? 0 : 1)
