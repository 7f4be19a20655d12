# SPDX-License-Identifier: Apache-2.0
# Serialization of objects of the library. It writes values or names, and never handles, because
# handles are valid only in this process.

using Serialization: AbstractSerializer, Serialization

# A deserialized array is in host memory, because the device may not exist on the machine that reads
# it.
function Serialization.serialize(s::AbstractSerializer, x::GufArray)
    Serialization.serialize_type(s, typeof(x))
    Serialization.serialize(s, Array(x))
end
Serialization.deserialize(s::AbstractSerializer, ::Type{<:GufArray}) =
    GufArray(Serialization.deserialize(s))

# Ufuncs and devices are written by name.
function Serialization.serialize(s::AbstractSerializer, f::UFunc)
    f.context === nothing || refuse_serial(f)
    Serialization.serialize_type(s, UFunc)
    Serialization.serialize(s, f.name)
end
Serialization.deserialize(s::AbstractSerializer, ::Type{UFunc}) =
    UFunc(Serialization.deserialize(s))

function Serialization.serialize(s::AbstractSerializer, d::Device)
    Serialization.serialize_type(s, Device)
    Serialization.serialize(s, device_info(d).spec)
end
Serialization.deserialize(s::AbstractSerializer, ::Type{Device}) =
    device(Serialization.deserialize(s))

refuse_serial(x) = throw(GufuncError(GUF_E_UNSUPPORTED,
                                     "a $(nameof(typeof(x))) belongs to this process: it cannot " *
                                     "be serialized"))
const OfProcess = Union{Context,Event,Graph,GufModule,Kernel,Plan,Stream,Tensor}
Serialization.serialize(::AbstractSerializer, x::OfProcess) = refuse_serial(x)

# Objects of these types are not copied, so deepcopy returns the object itself.
Base.deepcopy_internal(x::Union{OfProcess,UFunc}, ::IdDict) = x
