# SPDX-License-Identifier: Apache-2.0
"""Compares error messages. The library's message must begin with NumPy's, except for the deviations
that are listed here with their reasons."""

import os
import re
from collections import namedtuple

# `theirs` matches NumPy's complete message, and `ours` the beginning of the library's message. A
# named group (?P<x>...) of `theirs` is (?P=x) in `ours`.
Deviation = namedtuple('Deviation', 'reason theirs ours')

SHAPE = r'\([\d,]*\)'
REMAPPED = r'operands could not be broadcast together with remapped shapes \[original->remapped\]: '
NO_REDUCTION = (
    r'output operand requires a reduction along dimension -1, but the reduction is not enabled\. '
    r'The dimension size of 1 does not match the expected output shape\.'
)

DEVIATIONS = [
    Deviation(
        'An axis is an int of Python there, which has to become a C int; here it is an int64.',
        r"integer won't fit into a C int",
        r'axis -?\d{10,19} is out of bounds for array of dimension \d+',
    ),
    Deviation(
        'NumPy has two types of 64 bits, long and long long, with texts of their own. Here is one, '
        'with that of long; loops of datetime types and some comparisons use the other.',
        r'int too big to convert',
        r'Python int too large to convert to C long',
    ),
    Deviation(
        'The same types by their names.',
        r'(?P<start>.*)<class .numpy\.dtypes\.(?P<sign>U?)LongLongDType.>(?P<end>.*)',
        r"(?P=start)<class 'numpy\.dtypes\.(?P=sign)Int64DType'>(?P=end)$",
    ),
    Deviation(
        'Of several indices out of range NumPy names the first in memory, the library the first.',
        r'index -?\d+ is out of bounds for axis (?P<axis>\d+) with size (?P<size>\d+)',
        r'index -?\d+ is out of bounds for axis (?P=axis) with size (?P=size)',
    ),
    Deviation(
        'The same of reduceat.',
        r'index -?\d+ out-of-bounds in (?P<name>\w+\.reduceat) \[0, (?P<size>\d+)\)',
        r'index -?\d+ out-of-bounds in (?P=name) \[0, (?P=size)\)',
    ),
    Deviation(
        'NumPy goes on about arrays of Python objects, which the library does not have.',
        r'(?P<start>The DType .* could not be promoted by .*\. This means that no common DType '
        r'exists for the given inputs\.) For example they cannot be stored in a single array '
        r'unless the dtype is `object`\. The full list of DTypes is: .*',
        r'(?P=start)$',
    ),
    Deviation(
        'NumPy appends advice about Python objects.',
        r'(?P<start>The `dtype` and `signature` arguments to ufuncs only select the general DType '
        r'and not details such as the byte order or time unit\.) You can avoid this error by .*',
        r'(?P=start)',
    ),
    Deviation(
        "The cases are made with numpy.random, whose import calls np.sqrt of an int64: NumPy's "
        'cache then has it (see keyword_cases.remembers).',
        r"ufunc 'sqrt' did not contain a loop with signature matching types "
        r"<class 'numpy\.dtypes\.Int64DType'> -> None",
        r'No loop matching the specified signature and casting was found for ufunc sqrt; loops: ',
    ),
    Deviation(
        'In a reduction without an output, NumPy names no class of the first operand.',
        r"ufunc '(?P<name>gcd|lcm)' did not contain a loop with signature matching types "
        r'\(None, (?P<class>.*)\) -> None',
        r"ufunc '(?P=name)' did not contain a loop with signature matching types "
        r'\((?P=class), (?P=class)\) -> None',
    ),
    Deviation(
        'Units without a factor are refused with the types, before shapes are checked.',
        rf'operands could not be broadcast together with shapes ({SHAPE} )+|non-broadcastable '
        rf"output operand with shape {SHAPE} doesn't match the broadcast shape {SHAPE}",
        r'Integer overflow while computing the conversion factor between NumPy datetime units '
        r'\w+ and \w+$',
    ),
    # These are messages of NumPy's iterator. The library has no such iterator. The iterator orders
    # axes differently from the operands, and whether NumPy uses it depends on casts and strides.
    Deviation(
        'The shape as the iterator sees it is left out.',
        rf'(?P<start>non-broadcastable output operand with shape {SHAPE}) '
        rf"\[remapped to \([\w,]*\)\] (?P<end>doesn't match the broadcast shape {SHAPE})",
        r'(?P=start) (?P=end)',
    ),
    Deviation(
        'An output of a generalized ufunc that lacks a loop dimension.',
        NO_REDUCTION,
        rf"non-broadcastable output operand with shape {SHAPE} doesn't match the broadcast shape "
        rf'{SHAPE}; argument \d: expected \d+ dimensions, got \d+',
    ),
    Deviation(
        'An output of a generalized ufunc that does not fit the loop dimensions.',
        REMAPPED + r'.* and requested shape \([\d,]*\)',
        rf'operands could not be broadcast together with shapes |non-broadcastable output operand '
        rf'with shape {SHAPE} ',
    ),
    Deviation(
        'An output of accumulate of another extent; or of extent 1, where there are no elements.',
        REMAPPED + rf'{SHAPE}->{SHAPE} {SHAPE}->{SHAPE} '
        rf'|non-broadcastable output operand with shape {SHAPE} \[remapped to {SHAPE}\] '
        rf"doesn't match the broadcast shape {SHAPE}",
        rf'provided out is the wrong size for the accumulation\.|{REMAPPED}',
    ),
    Deviation(
        'The other way round: which of the two NumPy reports depends on its buffers.',
        r'provided out is the wrong size for the accumulation\.',
        REMAPPED,
    ),
]

MOST = 399  # maximum length of a message with a list, in bytes; NumPy truncates longer messages


def text_difference(theirs, ours):
    """Returns None, or a sentence if the library's message neither is NumPy's nor matches a listed
    deviation."""
    cut = len(theirs) > MOST and len(os.path.commonprefix([theirs, ours])) >= MOST
    if ours.startswith(theirs.strip()) or cut:
        return None
    if any(is_listed(deviation, theirs, ours) for deviation in DEVIATIONS):
        return None
    return f'text: NumPy "{theirs}", ours "{ours}"'


def is_listed(deviation, theirs, ours):
    found = re.fullmatch(deviation.theirs, theirs)
    if not found:
        return False
    expected = deviation.ours
    for name, value in found.groupdict().items():
        expected = expected.replace(f'(?P={name})', re.escape(value))
    return re.match(expected, ours) is not None
