# SPDX-License-Identifier: Apache-2.0
# Plans: calls prepared once and launched many times.

"""
    Plan(f, out, inputs…; keywords…)

A call prepared for operands of these types, sizes and strides; numbers are kept by value. Launched
by `launch!(plan)` on the same operands, or `launch!(plan, out, inputs…)` on others that lie and
overlap in the same way. Operands of device work have to lie on the device.
"""
mutable struct Plan
    handle::guf_plan
    addresses::Vector{UInt64}
    operands::Vector{Any}
    workspace::Union{Nothing,GufArray{UInt8,1}}
end

function Plan(f::UFunc, out, inputs...; keywords...)
    r, made = request(OF_CALLS, pairs_of(keywords)), Ref{guf_plan}(C_NULL)
    found(f)
    given, outputs, mask = operands_of(inputs), outputs_of(out), mask_of(r)
    prepared(given, outputs, mask, r.stream, options(f, given, outputs, r)) do args, slots
        @check guf_plan_create(f.handle, args, made)
    end
    operands = vcat(given, outputs, mask)
    plan = Plan(made[], UInt64[address_of(x) for x in operands], operands, nothing)
    finalizer(unsafe_free!, plan)
    plan.workspace = workspace_of(plan, operands)
    return plan
end

address_of(x::Union{GufArray,Tensor}) = x.address
address_of(::Any) = UInt64(0)

"Bytes and alignment of the memory that one launch needs beside its operands."
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

function unsafe_free!(plan::Plan)
    freed, plan.handle = plan.handle, C_NULL
    freed == C_NULL || LibGufunc.guf_plan_release(freed, C_NULL)
    return nothing
end

"""
    launch!(plan; stream=current)
    launch!(plan, out, inputs…; where=nothing, stream=current) -> out

Launches a plan. Without a stream complete on return on the cpu, else queued. One launch at a time:
launches of a plan share its workspace.
"""
launch!(plan::Plan; stream=current_stream()) =
    launch_at(plan, plan.addresses, plan.operands, stream)

function launch!(plan::Plan, out, inputs...; where=nothing, stream=current_stream())
    mask = where === nothing ? Any[] : Any[operand(where)]
    operands = vcat(operands_of(inputs), outputs_of(out), mask)
    launch_at(plan, UInt64[address_of(x) for x in operands], operands, stream)
    return out
end

function launch_at(plan, addresses, operands, stream)
    room = plan.workspace
    aligned = room === nothing ? UInt64(0) : aligned_address(room, workspace(plan)[2])
    GC.@preserve operands addresses room begin
        @check guf_plan_launch(plan.handle, stream_handle(stream), Int32(length(addresses)),
                               addresses, aligned)
    end
    keep!(stream, operands, plan)
    return nothing
end

aligned_address(room, alignment) = (room.address + alignment - 1) & ~UInt64(alignment - 1)

"What a plan does and why, as text."
explain(plan::Plan) =
    text_of((letters, length, kept) ->
        LibGufunc.guf_plan_explain(plan.handle, letters, length, kept))
