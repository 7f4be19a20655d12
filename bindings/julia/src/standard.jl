# SPDX-License-Identifier: Apache-2.0
"""
The ufuncs of the standard library under NumPy's names. The variants with `!` write into an array:
`using Gufunc.Standard: add, add!`. Each ufunc is looked up in the default context at its first use.
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
