# SPDX-License-Identifier: Apache-2.0
# Keywords of methods, as the library takes them.

"`init=novalue`: a reduction starts with no value, where it would with the identity."
struct NoValue end
const novalue = NoValue()

# What all methods take.
struct MethodOptions
    dtype::UInt32
    order::Int32
    threads::UInt32
    device::guf_device
    fp_events::Ptr{UInt32}
    fp_report::UInt32
    fp_fail::UInt32
end

method_options(; dtype=nothing, order=:K, threads=0, device=nothing, fp_events=nothing,
               fp_report=0, fp_fail=0) =
    MethodOptions(kind(dtype), chosen(ORDERS, order, "order"), threads, device_handle(device),
                  events_pointer(fp_events), fp_report, fp_fail)

# Axes of a reduction: (naxis, axes, whether axes are named at all).
folded_axes(::Colon, n) = (Int32(GUF_ALL_AXES), Int64[])
folded_axes(d::Integer, n) = (Int32(1), [library_axis(d, n)])
folded_axes(dims, n) = (Int32(length(dims)), library_axes(dims, n))

initial_operand(::Nothing) = ()
initial_operand(::NoValue) = (nothing,)
initial_operand(x) = (operand(x),)

const NULL_OPERAND = Ptr{guf_operand}(C_NULL)

# Operands in a frame: gives `act` the address of each one that there is, by its place, else NULL.
@inline function framed(act::F, groups::Tuple) where {F}
    operands = flattened(groups...)
    frame = frame_for(operands)
    GC.@preserve frame operands begin
        slots = filled(frame, operands)
        act(slots, places(slots, 0, groups))
    end
end
flattened(groups...) = foldl((a, b) -> (a..., b...), groups; init=())
places(slots, at, ::Tuple{}) = ()
places(slots, at, groups::Tuple) =
    (isempty(groups[1]) ? NULL_OPERAND : slot_of(slots, at),
     places(slots, at + length(groups[1]), Base.tail(groups))...)

# Adds 1-based indices' copy that counts from 0, as the library does.
from_zero(x::Integer) = fill(Int64(x) - 1)
from_zero(x::AbstractArray{<:Integer}) = Int64.(Array(x)) .- 1
from_zero(x) = x
