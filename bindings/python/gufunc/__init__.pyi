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
acos: _Unary
acosh: _Unary
add: _Binary
arccos: _Unary
arccosh: _Unary
arcsin: _Unary
arcsinh: _Unary
arctan: _Unary
arctan2: _Binary
arctanh: _Unary
argmax: Ufunc
argmin: Ufunc
argsort: _Unary
asin: _Unary
asinh: _Unary
atan: _Unary
atan2: _Binary
atanh: _Unary
bitwise_and: _Binary
bitwise_count: _Unary
bitwise_invert: _Unary
bitwise_left_shift: _Binary
bitwise_not: _Unary
bitwise_or: _Binary
bitwise_right_shift: _Binary
bitwise_xor: _Binary
cbrt: _Unary
ceil: _Unary
cholesky: _Unary
cholesky_upper: _Unary
clip: Ufunc
conj: _Unary
conjugate: _Unary
convolve: _Binary
copysign: _Binary
cos: _Unary
cosh: _Unary
count_nonzero: Ufunc
cross: _Binary
deg2rad: _Unary
degrees: _Unary
det: _Unary
diff: _Unary
divide: _Binary
divmod: Ufunc
eigh: Ufunc
eigvalsh: _Unary
equal: _Binary
exp: _Unary
exp2: _Unary
expm1: _Unary
fabs: _Unary
float_power: _Binary
floor: _Unary
floor_divide: _Binary
fmax: _Binary
fmin: _Binary
fmod: _Binary
frexp: Ufunc
gcd: _Binary
greater: _Binary
greater_equal: _Binary
heaviside: _Binary
hypot: _Binary
interp: Ufunc
inv: _Unary
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
linspace: _Binary
log: _Unary
log10: _Unary
log1p: _Unary
log2: _Unary
log_softmax: _Unary
logaddexp: _Binary
logaddexp2: _Binary
logical_and: _Binary
logical_not: _Unary
logical_or: _Binary
logical_xor: _Binary
logsumexp: _Unary
matmul: _Binary
matvec: _Binary
maximum: _Binary
mean: Ufunc
median: _Unary
minimum: _Binary
mod: _Binary
modf: Ufunc
multiply: _Binary
nanmax: _Binary
nanmean: Ufunc
nanmin: _Binary
nanstd: Ufunc
nansum: Ufunc
nanvar: Ufunc
negative: _Unary
nextafter: _Binary
norm: _Unary
not_equal: _Binary
partition: _Binary
percentile: _Binary
positive: _Unary
pow: _Binary
power: _Binary
ptp: Ufunc
qr: Ufunc
quantile: _Binary
rad2deg: _Unary
radians: _Unary
reciprocal: _Unary
remainder: _Binary
right_shift: _Binary
rint: _Unary
searchsorted: _Binary
searchsorted_right: _Binary
select: Ufunc
sign: _Unary
signbit: _Unary
sin: _Unary
sinh: _Unary
slogdet: Ufunc
softmax: _Unary
solve: _Binary
solve1: _Binary
sort: _Unary
spacing: _Unary
sqrt: _Unary
square: _Unary
std: Ufunc
subtract: _Binary
tan: _Unary
tanh: _Unary
true_divide: _Binary
trunc: _Unary
var: Ufunc
vecdot: _Binary
vecmat: _Binary
