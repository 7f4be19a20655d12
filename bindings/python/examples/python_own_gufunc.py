# SPDX-License-Identifier: Apache-2.0
"""Calls a generalized ufunc on stacks of matrices, also with axes in a different order.

python_own_gufunc.py MODULES_FOLDER
"""

import sys

import gufunc
import numpy as np

matmulcore = gufunc.load(f"{sys.argv[1]}/matmulcore.so").matmulcore
print(matmulcore.signature)
a = np.arange(12.0).reshape(2, 2, 3)
b = np.arange(6.0).reshape(3, 2)
print(matmulcore(a, b))
print(np.array_equal(matmulcore(a, b.T, axes=[(-2, -1), (-1, -2), (-2, -1)]), a @ b))
try:
    matmulcore(a, b.T)
except ValueError as error:
    print(str(error).partition(";")[0])
