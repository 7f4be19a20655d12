# SPDX-License-Identifier: Apache-2.0
# The package's tests. GUFUNC_TEST_MODULES is the folder of the example modules. With
# GUFUNC_TEST_DEVICE=cuda:0, the tests that use a device also run on that device.
using Test
using LinearAlgebra: adjoint, transpose
using Serialization
using Gufunc
using Gufunc.Standard: add, add!, divide, matmul, multiply, maximum, negative, subtract, vecdot

const MODULES = get(ENV, "GUFUNC_TEST_MODULES", "")
const DEVICES = filter(!isempty, ["cpu", get(ENV, "GUFUNC_TEST_DEVICE", "")])
named_module(name) = load(joinpath(MODULES, "$name.so"))

"The failure's status, 0 where there is none."
function status_of(f)
    try
        f()
        return 0
    catch e
        e isa GufuncError || rethrow()
        return e.status
    end
end

"The failure's text."
function text_of(f)
    try
        f()
        return ""
    catch e
        e isa GufuncError || rethrow()
        return e.message
    end
end

# Wraps top-level loops in `let`, so that Julia does not warn about their assignments to new local
# variables.
in_let(e) = e isa Expr && e.head in (:for, :while, :try) ? Expr(:let, Expr(:block), e) : e

@testset "Gufunc" begin
    for name in ("dtypes", "arrays", "pending", "calls", "broadcasting",
                 "methods", "host_loops", "devices", "dlpack", "plans", "modules", "errors")
        @testset "$name" begin
            include(in_let, "$(name)_test.jl")
        end
    end
end
