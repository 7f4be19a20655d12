# SPDX-License-Identifier: Apache-2.0
"""
The ufuncs of the standard library under NumPy's names. The variants with `!` write into an array:
`using Gufunc.Standard: add, add!`. They are found at their first use, in the default context.
"""
baremodule Standard

import ..Gufunc: UFunc, inplace
import Base

for name in (:add, :subtract, :multiply, :divide, :floor_divide, :remainder, :power, :negative,
             :absolute, :square, :sqrt, :reciprocal, :sign, :exp, :log, :sin, :cos, :maximum,
             :minimum, :fmax, :fmin, :equal, :not_equal, :less, :less_equal, :greater,
             :greater_equal, :logical_and, :logical_or, :logical_xor, :logical_not, :bitwise_and,
             :bitwise_or, :bitwise_xor, :invert, :matmul, :vecdot, :isnat, :left_shift,
             :right_shift, :true_divide, :mod, :pow, :abs, :bitwise_not, :bitwise_invert,
             :bitwise_left_shift, :bitwise_right_shift)
    Base.@eval begin
        "The standard library's ufunc of that name, see `Gufunc.UFunc`."
        const $name = UFunc($(Base.string(name)))
        "The variant that writes into its first argument."
        const $(Base.Symbol(name, "!")) = inplace($name)
    end
end

end
