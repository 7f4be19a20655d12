# SPDX-License-Identifier: Apache-2.0
# Measures how much longer a call of the package takes than the C function, for one element. The two
# calls are measured alternately in one run, and the minimum of many rounds is used. The program
# fails if the difference exceeds --bar NANOSECONDS, or if a call allocates.
using Gufunc
using Gufunc.Standard: add, add!
using Gufunc: guf_operand, guf_call_args, guf_tensor, guf_error

# The C call alone, with structures that are created once.
function c_calls(handle, args, record, count)
    for _ in 1:count
        Gufunc.LibGufunc.guf_call(handle, args, record) == 0 || error("the call failed")
    end
end

function package_calls(out, a, b, count)
    for _ in 1:count
        add!(out, a, b)
    end
end

function least(run, rounds)
    best = Inf
    for _ in 1:rounds
        best = min(best, @elapsed run())
    end
    return best
end

function measure(out, a, b, count=2000, rounds=200)
    operands = (Gufunc.operand(a), Gufunc.operand(b), Gufunc.operand(out))
    Gufunc.found(add)
    frame, record = Gufunc.frame_for(operands), Gufunc.sized(guf_error)
    GC.@preserve frame operands record begin
        slots = Gufunc.filled(frame, operands)
        args = Ref(Gufunc.call_args(2, 1, slots, Gufunc.NULL_OPERAND, C_NULL, Gufunc.NO_OPTIONS))
        plain, whole = Inf, Inf
        GC.@preserve args begin
            at = Ptr{guf_call_args}(pointer_from_objref(args))
            kept = Ptr{guf_error}(pointer_from_objref(record))
            for _ in 1:rounds
                plain = min(plain, least(() -> c_calls(add.handle, at, kept, count), 1))
                whole = min(whole, least(() -> package_calls(out, a, b, count), 1))
            end
        end
    end
    return 1e9 * plain / count, 1e9 * whole / count
end

function main(arguments)
    bar = isempty(arguments) ? Inf : parse(Float64, arguments[2])
    one() = [1.0]
    worst = 0.0
    kinds = ("GufArray" => GufArray ∘ one, "Array" => one)
    for (name, make) in kinds
        plain, whole = measure(make(), make(), make())
        rounded(x) = round(x; digits=1)
        println("$name, n = 1: C $(rounded(plain)) ns, Julia $(rounded(whole)) ns, ",
                "over C $(rounded(whole - plain)) ns")
        x = make()
        package_calls(x, x, x, 1)
        bytes = @allocated package_calls(x, x, x, 1000)
        bytes == 0 || error("1000 calls of $name allocated $bytes bytes")
        worst = max(worst, whole - plain)
    end
    return worst <= bar
end

exit(main(ARGS) ? 0 : 1)
