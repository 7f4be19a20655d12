# SPDX-License-Identifier: Apache-2.0
# Objects of the library written by Serialization: values, never handles, which are this process's.

using Serialization: AbstractSerializer, Serialization

# An array comes back in host memory: where it is read there may be no such device.
function Serialization.serialize(s::AbstractSerializer, x::GufArray)
    Serialization.serialize_type(s, typeof(x))
    Serialization.serialize(s, Array(x))
end
Serialization.deserialize(s::AbstractSerializer, ::Type{<:GufArray}) =
    GufArray(Serialization.deserialize(s))

# A ufunc and a device come back by their names.
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
                                     "a $(nameof(typeof(x))) is of this process: it cannot be " *
                                     "serialized"))
const OfProcess = Union{Context,Event,Graph,GufModule,Kernel,Plan,Stream,Tensor}
Serialization.serialize(::AbstractSerializer, x::OfProcess) = refuse_serial(x)

# There is one of each: a copy is the object itself.
Base.deepcopy_internal(x::Union{OfProcess,UFunc}, ::IdDict) = x
