# SPDX-License-Identifier: Apache-2.0
# Types of the public names. The docstrings in the .py files describe what they do.
from . import cuda as cuda
from . import hsa as hsa
from . import lowlevel as lowlevel
from . import roc as roc
from ._array import Array as Array
from ._array import arange as arange
from ._array import array as array
from ._array import as_array as as_array
from ._array import broadcast_to as broadcast_to
from ._array import empty as empty
from ._array import empty_host as empty_host
from ._array import empty_like as empty_like
from ._array import expand_dims as expand_dims
from ._array import from_buffer as from_buffer
from ._array import full as full
from ._array import full_like as full_like
from ._array import ones as ones
from ._array import ones_like as ones_like
from ._array import sliding_window_view as sliding_window_view
from ._array import view_as as view_as
from ._array import zeros as zeros
from ._array import zeros_like as zeros_like
from ._build import BuildError as BuildError
from ._build import build as build
from ._dtypes import can_cast as can_cast
from ._dtypes import datetime_data as datetime_data
from ._dtypes import dtype as dtype
from ._dtypes import make_time as make_time
from ._dtypes import promote_types as promote_types
from ._dtypes import register_dtype as register_dtype
from ._errors import ArgumentError as ArgumentError
from ._errors import AxisError as AxisError
from ._errors import CallError as CallError
from ._errors import DTypeError as DTypeError
from ._errors import Error as Error
from ._errors import FileError as FileError
from ._errors import FloatingPointFlagError as FloatingPointFlagError
from ._errors import IndexOutOfRange as IndexOutOfRange
from ._errors import NoMemoryError as NoMemoryError
from ._errors import RangeError as RangeError
from ._errors import ReductionError as ReductionError
from ._errors import RunError as RunError
from ._errors import ShapeError as ShapeError
from ._errors import UnavailableError as UnavailableError
from ._errors import UnsupportedError as UnsupportedError
from ._errstate import errstate as errstate
from ._exchange import from_cuda_array_interface as from_cuda_array_interface
from ._exchange import from_dlpack as from_dlpack
from ._objects import Context as Context
from ._objects import Device as Device
from ._objects import Event as Event
from ._objects import Graph as Graph
from ._objects import Stream as Stream
from ._objects import backends as backends
from ._objects import devices as devices
from ._objects import load_backend as load_backend
from ._objects import poll as poll
from ._objects import read_log as read_log
from ._objects import shutdown as shutdown
from ._pointers import ufunc_from_pointer as ufunc_from_pointer
from ._ufunc import Kernel as Kernel
from ._ufunc import Module as Module
from ._ufunc import Plan as Plan
from ._ufunc import Ufunc as Ufunc
from ._ufunc import create as create
from ._ufunc import find as find
from ._ufunc import load as load
from ._ufunc import names as names
from ._ufunc import _Binary, _Unary

__version__: str

# The standard functions. tools/abigen writes the lines below from ops.def.
abs: _Unary
absolute: _Unary
add: _Binary
bitwise_and: _Binary
bitwise_invert: _Unary
bitwise_left_shift: _Binary
bitwise_not: _Unary
bitwise_or: _Binary
bitwise_right_shift: _Binary
bitwise_xor: _Binary
cos: _Unary
divide: _Binary
equal: _Binary
exp: _Unary
floor_divide: _Binary
fmax: _Binary
fmin: _Binary
greater: _Binary
greater_equal: _Binary
invert: _Unary
isnat: _Unary
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
pow: _Binary
power: _Binary
reciprocal: _Unary
remainder: _Binary
right_shift: _Binary
sign: _Unary
sin: _Unary
sqrt: _Unary
square: _Unary
subtract: _Binary
true_divide: _Binary
vecdot: _Binary
