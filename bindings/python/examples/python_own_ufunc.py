# SPDX-License-Identifier: Apache-2.0
"""Calls a user-defined ufunc, which gufcc compiled from examples/kernels/discriminant.guf.cpp.

python_own_ufunc.py MODULES_FOLDER
"""

import sys

import gufunc
import numpy as np

module = gufunc.load(f"{sys.argv[1]}/discriminant.so")
print(module.discriminant, module.discriminant.types)
b = np.array([10, 10.1, 10.5, 10.7, 11])
x = module.discriminant(np.linspace(0, 1, 5), b, [1, 0.9, 0.3, 0.6, 0.1])
for value in x:
    print(f"{value:.17g}")
print(module.discriminant(np.float32(1), 5, 1))  # the float32 loop, as Python's numbers are weak
