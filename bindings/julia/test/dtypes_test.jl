# SPDX-License-Identifier: Apache-2.0
for T in (Bool, Int8, UInt64, Float16, BFloat16, Float32, ComplexF64, Datetime64{:s,25},
          Timedelta64{:generic,1})
    @test Gufunc.element_type(Gufunc.dtype(T)) === T
    @test Gufunc.dtype_info(T).itemsize == sizeof(T)
end
@test Gufunc.dtype("float32") == Gufunc.GUF_F32
@test Gufunc.dtype_name(Float32) == "float32"
@test Gufunc.element_type("datetime64[25s]") === Datetime64{:s,25}
@test Gufunc.time_unit(Datetime64{:ms,3}) == (:ms, 3)
@test Gufunc.time_type(Timedelta64, :D) === Timedelta64{:D,1}
@test Gufunc.promote_types(Int8, UInt8) === Int16
@test Gufunc.can_cast(Int32, Float64) && !Gufunc.can_cast(Int64, Float32)
@test Gufunc.can_cast(Int64, Float32; casting=:same_kind)
@test status_of(() -> Gufunc.dtype("float33")) == Gufunc.GUF_E_DTYPE
@test status_of(() -> Gufunc.dtype(String)) == Gufunc.GUF_E_DTYPE
@test status_of(() -> Gufunc.can_cast(Int8, Int8; casting=:wild)) == Gufunc.GUF_E_ARG

@test Float32(BFloat16(1.00390625f0)) == 1.0f0 # halfway between two values: rounds to even
@test Float32(BFloat16(3.0f38)) > 2.9f38 && isnan(BFloat16(NaN32))

struct Particle
    mass::Float64
    charge::Int32
    spin::Int32
end
@test Gufunc.register_dtype(Particle) == Gufunc.dtype(Particle)
@test Gufunc.dtype_name(Particle) == "Particle"
heavy = [Particle(2.0, 1, 0), Particle(3.0, -1, 1)]
@test Array(copy(Gufunc.wrap(heavy))) == heavy
