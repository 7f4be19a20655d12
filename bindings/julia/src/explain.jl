# SPDX-License-Identifier: Apache-2.0
# What calls would do, without doing it.

"""
    resolve(f, inputs…; out=nothing, keywords…)

What a call would do: `(loop, loop_types, types, sizes)`, the loop's number and types, the types of
all operands and the sizes of the outputs. Nothing is computed or allocated.
"""
function resolve(f::UFunc, inputs...; keywords...)
    asked(f, inputs; keywords...) do args
        resolved(place -> @check(guf_resolve(found(f), args, place))) do base
            return summary_of(base, f.nout)
        end
    end
end

"""
    explain(f, inputs…; out=nothing, keywords…) -> String

The same as text: loop, kernel, casts, the loops refused and why, and where the call would run.
"""
function explain(f::UFunc, inputs...; keywords...)
    asked(f, inputs; keywords...) do args
        text_of((letters, length, kept) ->
            LibGufunc.guf_explain(found(f), args, letters, length, kept))
    end
end

# Prepares a call with outputs that may be missing.
function asked(ask::Function, f::UFunc, inputs; out=nothing, where=nothing,
               stream=current_stream(), keywords...)
    found(f)
    given = map(operand, inputs)
    outputs = out === nothing ? ntuple(_ -> nothing, f.nout) : outputs_of(out)
    o = options(f, (given..., outputs...); keywords...)
    GC.@preserve keywords begin
        prepared((args, slots) -> ask(args), given, outputs, mask_of(where), stream, o)
    end
end
