# SPDX-License-Identifier: Apache-2.0
"""Calls ufuncs of the standard library with NumPy's arrays, numbers, keywords and methods."""

import gufunc
import numpy as np

x = np.arange(6.0).reshape(2, 3)
print(gufunc.add(x, [10, 20, 30]))
print(gufunc.sqrt(x, where=x > 1, out=np.zeros_like(x)))
print(gufunc.add.reduce(x, axis=1, keepdims=True))
print(gufunc.divide(3, 4), type(gufunc.divide(3, 4)).__name__)

a = gufunc.array([1, 2, 3])  # an array of the package, which also works without NumPy
print(a * 2 + 1)
print((a[::-1] ** 2).tolist(), a.sum().item())
try:
    gufunc.add(x, [1, 2])
except gufunc.ShapeError as error:
    print(error.name, error.argument, error.axis)
