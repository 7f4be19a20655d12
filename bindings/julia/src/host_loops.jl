# SPDX-License-Identifier: Apache-2.0
# Ufuncs whose loops are Julia functions.

"""
    create(name; nin=0, nout=0, signature=nothing, roles=nothing, rules=nothing, doc=nothing,
           identity=:none, flags=0, core_dims=nothing, context=nothing) -> UFunc

Creates a ufunc without loops and registers its name, so that `UFunc(name)` finds it. A `signature`
such as `"(m,n),(n)->(m)"` determines `nin` and `nout`. A signature without outputs, such as
`"(n)"`, writes its input.

- `roles`: `:in`, `:out` or `:inout` for each operand. `rules`: `"n=value(1); p=m+1"`.
- `identity`: the identity of reductions: `:none`, `:reorderable`, `:zero`, `:one`, `:minus_one`,
  `:minus_inf`.
- `core_dims(sizes)`: a function that every call runs. It receives a vector with the sizes of the
  distinct core dimensions, in order of first use. It may replace sizes of -1, and it rejects the
  call by throwing. It must not call the library.
"""
function create(name::AbstractString; nin::Integer=0, nout::Integer=0, signature=nothing,
                roles=nothing, rules=nothing, doc=nothing, identity::Symbol=:none,
                flags::Integer=0, core_dims=nothing, context=nothing)
    texts = map(t -> t === nothing ? "" : String(t), (name, signature, rules, doc))
    text_pointer(i, given) = given === nothing ? Ptr{Cchar}(C_NULL) : Ptr{Cchar}(pointer(texts[i]))
    numbers = roles === nothing ? Int32[] : Int32[findfirst(isequal(r), ROLES) - 1 for r in roles]
    user = core_dims === nothing ? Ptr{Cvoid}(C_NULL) : root!(CoreDims(core_dims))
    hook, destroy = core_dims === nothing ? (C_NULL, C_NULL) :
                    (core_dims_callback(), destroy_callback())
    out = Ref{guf_ufunc}(C_NULL)
    GC.@preserve texts numbers try
        desc = Ref(guf_ufunc_desc(
            sizeof(guf_ufunc_desc), nin, nout, chosen(IDENTITIES, identity, "identity"), flags,
            length(numbers), text_pointer(1, name), text_pointer(2, signature),
            text_pointer(3, rules), pointer_or_null(numbers), text_pointer(4, doc), hook, user,
            destroy))
        @check guf_ufunc_create(handle(context), desc, out)
    catch
        core_dims === nothing || unroot!(user)
        rethrow()
    end
    return adopt!(UFunc(name; context=context), out[])
end

struct CoreDims
    see::Any
end

function core_dims_entry(ndims::Int32, sizes::Ptr{Int64}, user::Ptr{Cvoid}, record::Ptr{guf_error})
    try
        rooted(user).see(unsafe_wrap(Array, sizes, Int(ndims)))
        return GUF_OK
    catch exception
        return report(record, exception, GUF_E_SHAPE)
    end
end
core_dims_callback() = @cfunction(core_dims_entry, Int32,
                                  (Int32, Ptr{Int64}, Ptr{Cvoid}, Ptr{guf_error}))

"The core dimensions of one operand of one item. Valid only while the loop is called."
struct CoreView{T,N} <: AbstractArray{T,N}
    address::Ptr{T}
    size::NTuple{N,Int}
    byte_strides::NTuple{N,Int}
end
Base.size(v::CoreView) = v.size
@inline place(v::CoreView{T,N}, I) where {T,N} =
    v.address + reduce(+, ntuple(d -> (I[d] - 1) * v.byte_strides[d], Val(N)); init=0)
Base.@propagate_inbounds function Base.getindex(v::CoreView{T,N}, I::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(v, I...)
    return unsafe_load(place(v, I))
end
Base.@propagate_inbounds function Base.setindex!(v::CoreView{T,N}, x, I::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(v, I...)
    unsafe_store!(place(v, I), convert(T, x)::T)
    return v
end

# A function as a loop. I and O are tuple types: of numbers for an elementwise ufunc, and of
# CoreViews for a generalized ufunc. For each operand, `core` contains the indices of the operand's
# core dimensions in the list of core sizes.
struct HostLoop{I,O,F}
    f::F
    core::Vector{Vector{Int}}
end

# The library calls loop_entry on the thread that made the call, because the loop is added without
# GUF_LOOP_ANY_THREAD. Threads that Julia did not create must not run Julia code.
function loop_entry(args::Ptr{Ptr{UInt8}}, dims::Ptr{Int64}, steps::Ptr{Int64},
                    user::Ptr{Cvoid}, record::Ptr{guf_error})
    try
        run_loop(rooted(user), args, dims, steps)
        return GUF_OK
    catch exception
        return report(record, exception, GUF_E_LOOP)
    end
end
loop_callback() =
    @cfunction(loop_entry, Int32,
               (Ptr{Ptr{UInt8}}, Ptr{Int64}, Ptr{Int64}, Ptr{Cvoid}, Ptr{guf_error}))

@generated element(::Type{T}, address, core, dims, strides) where {T} =
    T <: CoreView ? :(core_view($T, address, core, dims, strides)) :
    :(unsafe_load(Ptr{$T}(address)))

function core_view(::Type{CoreView{T,N}}, address, core, dims, strides) where {T,N}
    return CoreView{T,N}(Ptr{T}(address), ntuple(d -> Int(unsafe_load(dims, core[d] + 1)), Val(N)),
                         ntuple(d -> Int(unsafe_load(strides, d)), Val(N)))
end

# The addresses of each operand's core strides. In `steps`, the core strides follow the operands'
# strides along the loop dimension.
core_steps(l::HostLoop, steps) =
    [steps + 8 * (length(l.core) + sum(Int[length(c) for c in l.core[1:i-1]]))
     for i in eachindex(l.core)]

@generated function inputs_at(::Type{I}, l, args, item, dims, steps, cores) where {I}
    return Expr(:tuple, (:(element($T, unsafe_load(args, $i) + item * unsafe_load(steps, $i),
                                   l.core[$i], dims, cores[$i]))
                         for (i, T) in enumerate(I.parameters))...)
end

@generated function store!(::Type{O}, first, results, args, item, steps) where {O}
    return Expr(:block, (:(unsafe_store!(Ptr{$T}(unsafe_load(args, first + $i) +
                                                 item * unsafe_load(steps, first + $i)),
                                         convert($T, results[$i])::$T))
                         for (i, T) in enumerate(O.parameters))...)
end

as_results(result::Tuple) = result
as_results(result) = (result,)

@inline counted(::Type{O}, results) where {O} =
    fieldcount(O) == 0 || length(results) == fieldcount(O) ? results :
    fail_results(length(results), fieldcount(O))
@noinline fail_results(given, expected) =
    throw(GufuncError(GUF_E_LOOP, "results of the loop: expected $expected, got $given"))

function run_loop(l::HostLoop{I,O}, args, dims, steps) where {I,O}
    nin = fieldcount(I)
    cores = core_steps(l, steps)
    for item in 0:unsafe_load(dims)-1
        given = inputs_at(I, l, args, item, dims, steps, cores)
        if any_core(I, O)
            l.f(given..., inputs_at(O, shifted(l, nin), args + 8nin, item, dims, steps + 8nin,
                                    cores[nin+1:end])...)
        else
            store!(O, nin, counted(O, as_results(l.f(given...))), args, item, steps)
        end
    end
end
@generated any_core(::Type{I}, ::Type{O}) where {I,O} =
    any(T -> T <: CoreView, (I.parameters..., O.parameters...))
shifted(l::HostLoop{I,O,F}, n) where {I,O,F} = HostLoop{I,O,F}(l.f, l.core[n+1:end])

"""
    add_loop!(g, f::UFunc, (A, B) => (R,)) -> f

Adds a Julia function as the loop for these element types:

    f = create("hypotenuse"; nin=2, nout=1)
    add_loop!((a, b) -> sqrt(a^2 + b^2), f, (Float64, Float64) => (Float64,))

For an elementwise ufunc, `g` is called with the elements of one item and returns the result or a
tuple of results. For a generalized ufunc, `g` is called with one array per operand, inputs first,
and writes the outputs. `g` runs on the calling thread, one item after the other. If `g` throws, the
call fails with `GUF_E_LOOP`, or, if the exception is a `GufuncError`, with its status. The text of
the exception becomes the error's message, and the exception becomes the error's `cause`. Only the
cpu runs the loop.
"""
function add_loop!(g, f::UFunc, types::Pair)
    found(f)
    inputs, outputs = types
    I, O, core = loop_shape(f, inputs, outputs)
    loop = HostLoop{I,O,typeof(g)}(g, core)
    user = root!(loop)
    try
        register_loop(f, (inputs..., outputs...), GUF_LOOP_ERROR, loop_callback(), user,
                      destroy_callback(), 0)
    catch
        unroot!(user)
        rethrow()
    end
    return f
end

function loop_shape(f, inputs, outputs)
    types = (inputs..., outputs...)
    length(inputs) == f.nin && length(outputs) == f.nout || throw(GufuncError(GUF_E_ARG,
        "$(f.name) has $(f.nin) inputs and $(f.nout) outputs"))
    isempty(f.core) && return Tuple{inputs...}, Tuple{outputs...}, [Int[] for _ in types]
    core = [Int[d.number + 1 for d in operand] for operand in f.core]
    views = [CoreView{T,length(c)} for (T, c) in zip(types, core)]
    return Tuple{views[1:f.nin]...}, Tuple{views[f.nin+1:end]...}, core
end

const LOOP_KINDS = (numpy=GUF_LOOP_NUMPY, status=GUF_LOOP_STATUS, error=GUF_LOOP_ERROR)

function register_loop(f, types, kind, entry, user, destroy, flags)
    codes = UInt32[dtype(T) for T in types]
    entries = [k == kind ? entry : C_NULL for k in values(LOOP_KINDS)]
    GC.@preserve codes begin
        desc = Ref(guf_loop_desc(sizeof(guf_loop_desc), kind, flags, length(codes), pointer(codes),
                                 entries..., user, destroy))
        @check guf_ufunc_add_loop(found(f), desc)
    end
end

"""
    add_loop!(f::UFunc, types, entry::Ptr; kind=:numpy, user=C_NULL, any_thread=false) -> f

Adds a compiled function with NumPy's inner-loop signature, for example from C or Numba, by its
address. With `kind=:status`, the function returns a status. With `kind=:error`, it also has a
parameter for an error record (`guf_loop_error`). With `any_thread`, several threads may run the
function at once; do not set `any_thread` for functions made by `@cfunction`.
"""
function add_loop!(f::UFunc, types::Tuple, entry::Ptr; kind::Symbol=:numpy, user=C_NULL,
                   any_thread::Bool=false)
    number = chosen(LOOP_KINDS, kind, "kind")
    register_loop(f, types, number, Ptr{Cvoid}(entry), Ptr{Cvoid}(user), C_NULL,
                  any_thread ? GUF_LOOP_ANY_THREAD : 0)
    return f
end

"""
    set_reduction!(f::UFunc; merge, finish=nothing) -> f

Defines a reduction with a user-defined accumulator (docs/reductions.md). In `reduce(f, A)` the
generalized ufunc `f` computes accumulators from elements, `merge` combines two accumulators into
one, and `finish` computes the results from an accumulator.
"""
function set_reduction!(f::UFunc; merge::UFunc, finish=nothing)
    last = finish === nothing ? guf_ufunc(C_NULL) : found(finish)
    desc = Ref(guf_reduction_desc(sizeof(guf_reduction_desc), 0, found(merge), last))
    @check guf_ufunc_set_reduction(found(f), desc)
    return f
end
