# SPDX-License-Identifier: Apache-2.0
# Types of the public names. The docstrings in the .py files describe what they do.
from . import cuda as cuda
from . import hsa as hsa
from . import lowlevel as lowlevel
from . import roc as roc
# Imports the names in `__all__` of the module's stub, or all public names if it has no `__all__`.
from ._array import *
from ._build import *
from ._dtypes import *
from ._errors import *
from ._errstate import *
from ._exchange import *
from ._objects import *
from ._pointers import *
from ._ufunc import *
from ._ufunc import _Binary, _Unary

__version__: str

# The standard functions. tools/abigen writes the lines below from ops.def.
abs: _Unary
absolute: _Unary
add: _Binary
argmax: Ufunc
argmin: Ufunc
bitwise_and: _Binary
bitwise_count: _Unary
bitwise_invert: _Unary
bitwise_left_shift: _Binary
bitwise_not: _Unary
bitwise_or: _Binary
bitwise_right_shift: _Binary
bitwise_xor: _Binary
ceil: _Unary
conj: _Unary
conjugate: _Unary
copysign: _Binary
cos: _Unary
deg2rad: _Unary
degrees: _Unary
divide: _Binary
equal: _Binary
exp: _Unary
fabs: _Unary
floor: _Unary
floor_divide: _Binary
fmax: _Binary
fmin: _Binary
fmod: _Binary
gcd: _Binary
greater: _Binary
greater_equal: _Binary
invert: _Unary
isfinite: _Unary
isinf: _Unary
isnan: _Unary
isnat: _Unary
lcm: _Binary
ldexp: _Binary
left_shift: _Binary
less: _Binary
less_equal: _Binary
log: _Unary
logical_and: _Binary
logical_not: _Unary
logical_or: _Binary
logical_xor: _Binary
matmul: _Binary
maximum: _Binary
minimum: _Binary
mod: _Binary
multiply: _Binary
negative: _Unary
not_equal: _Binary
positive: _Unary
pow: _Binary
power: _Binary
ptp: Ufunc
rad2deg: _Unary
radians: _Unary
reciprocal: _Unary
remainder: _Binary
right_shift: _Binary
rint: _Unary
sign: _Unary
signbit: _Unary
sin: _Unary
sqrt: _Unary
square: _Unary
subtract: _Binary
true_divide: _Binary
trunc: _Unary
vecdot: _Binary
