# SPDX-License-Identifier: Apache-2.0
# Plans: calls that are prepared once and launched many times.

# The properties that the operands of a launch must share with the operands for which the plan was
# made. The properties of an array are its type, size, strides in bytes, byte order and device. The
# properties of a number are its type and bits.
struct Layout
    type::Any
    size::Any
    byte_strides::Any
    swapped::Bool
    memory::Any
end
Layout(x::GufArray{T}) where {T} =
    Layout(T, x.size, x.byte_strides, swapped(x), memory_of(x))
Layout(x::Tensor{T}) where {T} =
    Layout(T, x.size, x.byte_strides, x.flags & GUF_TENSOR_SWAPPED != 0, memory_of(x))
Layout(x::Encoded) = Layout((x.kind, x.dtype), x.value, nothing, false, nothing)
Layout(x) = Layout(typeof(x), nothing, nothing, false, nothing)

Base.:(==)(a::Layout, b::Layout) =
    all(name -> getfield(a, name) == getfield(b, name), fieldnames(Layout))

# The device of an operand's memory, or the device that can use the memory in place. For plain host
# memory, the result is the cpu.
memory_of(x::GufArray) = plain_place(x.device.handle)
memory_of(x::Tensor) = plain_place(x.device)
plain_place(d::guf_device) = d == C_NULL ? device("cpu").handle : d

"""
    Plan(f, out, inputs…; keywords…)

A call that is prepared for operands of these types, sizes and strides. `launch!(plan)` launches the
plan on the same operands. `launch!(plan, out, inputs…)` launches the plan on other operands with
the same layout and overlap and with the same numbers, and throws `GUF_E_PLAN_MISMATCH` for any
other operands. The operands of device work must be on the device. The plan keeps its operands
alive, and vectors among them cannot be resized any more. After `unsafe_free!` of an operand,
`launch!(plan)` throws `GUF_E_HANDLE`.
"""
mutable struct Plan
    handle::guf_plan
    addresses::Vector{UInt64}
    operands::Vector{Any}
    fixed::Vector{Any} # see fix_size!
    layouts::Vector{Layout}
    written::UnitRange{Int}
    workspace::Union{Nothing,GufArray{UInt8,1}}
end

function Plan(f::UFunc, out, inputs...; keywords...)
    r, made = request(OF_CALLS, pairs_of(keywords)), Ref{guf_plan}(C_NULL)
    found(f)
    given, outputs, mask = operands_of(inputs), outputs_of(out), mask_of(r)
    prepared(given, outputs, mask, r.stream, options(f, given, outputs, r)) do args, slots
        @check guf_plan_create(f.handle, args, made) args
    end
    operands = vcat(given, outputs, mask)
    written = length(given)+1:length(given)+length(outputs)
    plan = Plan(made[], UInt64[address_of(x) for x in operands], operands, fix_size!(operands),
                map(Layout, operands), isempty(written) ? (1:length(given)) : written, nothing)
    finalizer(unsafe_free!, plan)
    plan.workspace = workspace_of(plan, operands)
    return plan
end

address_of(x::Union{GufArray,Tensor}) = x.address
address_of(::Any) = UInt64(0)

"The size in bytes and the alignment of the workspace that one launch needs."
function workspace(plan::Plan)
    nbytes, alignment = Ref(UInt64(0)), Ref(UInt64(0))
    @check guf_plan_workspace(plan.handle, nbytes, alignment)
    return Int(nbytes[]), Int(alignment[])
end

function workspace_of(plan, operands)
    nbytes, alignment = workspace(plan)
    nbytes == 0 && return nothing
    i = findfirst(x -> x isa GufArray, operands)
    place = i === nothing ? nothing : where_of(operands[i])
    return alloc(UInt8, (nbytes + alignment,); device=place)
end

"""
    launch!(plan; stream=current)
    launch!(plan, out, inputs…; where=nothing, stream=current) -> out

Launches a plan. Without a stream, a launch on the cpu or on host memory is complete on return, and
any other launch is queued on the default stream of the device. With a stream, the rules of `Stream`
apply. Only one launch may run at a time, because all launches of a plan share its workspace.
"""
function launch!(plan::Plan; stream=UNNAMED)
    foreach(refuse_freed, plan.operands, 0:length(plan.operands)-1)
    return launch_at(plan, plan.addresses, plan.operands, stream)
end

# Rejects a freed array. The plan still has the array's address, which may belong to other memory by
# now.
refuse_freed(x, argument) = x isa GufArray && x.handle == C_NULL &&
    throw(GufuncError(GUF_E_HANDLE, "the array was freed", argument))

function launch!(plan::Plan, out, inputs...; where=nothing, stream=UNNAMED)
    mask = where === nothing ? Any[] : Any[operand(where)]
    operands = vcat(operands_of(inputs), outputs_of(out), mask)
    compare_layouts(plan, operands)
    launch_at(plan, UInt64[address_of(x) for x in operands], operands, stream)
    return out
end

# The library receives only addresses, so the layouts are compared here.
function compare_layouts(plan, operands)
    length(operands) == length(plan.layouts) || throw(GufuncError(GUF_E_PLAN_MISMATCH,
        "operands: expected $(length(plan.layouts)), got $(length(operands))"))
    for (i, x) in enumerate(operands)
        refuse_freed(x, i - 1)
        Layout(x) == plan.layouts[i] || throw(GufuncError(GUF_E_PLAN_MISMATCH,
            "operand $(i - 1) is $(described(x)); the plan was made for " *
            described(plan.operands[i]), i - 1))
        i in plan.written && cannot_be_written(x) && throw(GufuncError(GUF_E_READ_ONLY,
            "operand $(i - 1) is written by the plan, and read-only", i - 1))
    end
end

cannot_be_written(x::GufArray) = read_only(x)
cannot_be_written(x::Tensor) = x.flags & GUF_TENSOR_READ_ONLY != 0
cannot_be_written(x) = false

described(x::Union{GufArray,Tensor}) =
    "$(eltype(x)) of size $(size(x)), strides $(x.byte_strides) bytes" *
    (Layout(x).swapped ? ", the other byte order" : "") * " on $(Device(memory_of(x)))"
described(x) = "another number"

function launch_at(plan, addresses, operands, stream)
    memory, on = plan.workspace, named(stream)
    aligned = memory === nothing ? UInt64(0) : aligned_address(memory, workspace(plan)[2])
    GC.@preserve operands addresses memory plan begin
        @check guf_plan_launch(plan.handle, stream_handle(on), Int32(length(addresses)),
                               addresses, aligned)
        on === nothing || (on.pending.untracked = true)
        on === nothing ? finish_host(operands) :
        keep_or_wait!(on, borrows(operands) ? stream : nothing, operands, plan)
    end
    return nothing
end

# For each operand in host memory that a device uses in place, waits for this device. A launch
# without a stream passes only addresses and has no entry in PENDING, so a later `synchronize(x)`
# would not wait for it.
function finish_host(operands)
    for x in operands
        x isa GufArray && x.device.handle != C_NULL && on_host(x) && synchronize(x.device)
    end
end

aligned_address(memory, alignment) = (memory.address + alignment - 1) & ~UInt64(alignment - 1)

"A text that describes what a plan does and why."
explain(plan::Plan) =
    text_of((letters, length, kept) ->
        LibGufunc.guf_plan_explain(plan.handle, letters, length, kept))
