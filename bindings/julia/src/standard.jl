# SPDX-License-Identifier: Apache-2.0
"""
The ufuncs of the standard library under NumPy's names. The variants with `!` write into an array:
`using Gufunc.Standard: add, add!`. They are found at their first use, in the default context.
"""
baremodule Standard

import ..Gufunc: STANDARD_NAMES, UFunc, inplace
import Base

for name in STANDARD_NAMES
    Base.@eval begin
        "The standard library's ufunc of that name, see `Gufunc.UFunc`."
        const $name = UFunc($(Base.string(name)))
        "The variant that writes into its first argument."
        const $(Base.Symbol(name, "!")) = inplace($name)
    end
end

end
