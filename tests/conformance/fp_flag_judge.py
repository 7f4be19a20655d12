# SPDX-License-Identifier: Apache-2.0
"""Compares the floating-point flags of real and integer calls without casts with the flags that
numpy.errstate reports. docs/fp-flags.md lists the differences for all other calls. For the
functions in UNDERFLOWS, the library must report every underflow that NumPy reports, and it may also
report underflow for exact results."""

from collections import Counter

import numpy as np

import build

DIVIDE, OVERFLOW, UNDERFLOW, INVALID, INTEGER_DIVIDE = (1 << k for k in range(5))
ALL = DIVIDE | OVERFLOW | UNDERFLOW | INVALID | INTEGER_DIVIDE
NUMPY = {
    'divide by zero': DIVIDE,
    'overflow': OVERFLOW,
    'underflow': UNDERFLOW,
    'invalid value': INVALID,
}
TALLY = Counter()  # number of compared calls, and of calls that raised flags
TEXTS = {flag: text for text, flag in NUMPY.items()}


class Noted:
    """Records the flags that numpy.errstate reports for calls in a `with` block of this object."""

    def __init__(self, expected):
        self.found = 0
        self.state = np.errstate(all='call', call=self.note) if expected else None

    def note(self, text, _):
        self.found |= NUMPY[text]

    def __enter__(self):
        if self.state:
            self.state.__enter__()
        return self

    def __exit__(self, *failure):
        if self.state:
            self.state.__exit__(*failure)


# Functions whose underflow flags are compared. exp and power are not included, because NumPy's exp
# and power also raise underflow in intermediate steps.
UNDERFLOWS = {'multiply', 'divide', 'true_divide', 'reciprocal', 'square'}
CHOICES = {'maximum', 'minimum', 'fmax', 'fmin'}
POLES = {'log1p', 'arctanh'}  # infinite at a finite number other than 0, and nowhere else
QUOTIENTS = {'divide', 'floor_divide', 'remainder', 'divmod'}
PRODUCTS = {'matmul', 'vecdot', 'matvec', 'vecmat'}
RANGE = {'e': 14, 'f': 120, 'd': 1000}  # permitted binary magnitudes of products, with a margin


def difference(case, theirs, ours, loop_dtypes):
    """Compares the flags of a call, or of an `outer`, which raises the same flags as a call."""
    if not case.get('fp_flags') or build.is_bfloat16(case):
        return None
    if any(key.startswith('weak') for view in case['inputs'] for key in view):
        return None  # an int can overflow when it is converted to float
    memory = build.Memory(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    types = loop_dtypes(case, inputs)
    own = [x.dtype for x in inputs] + [theirs.output.dtype]
    if any(a.newbyteorder('=') != b for a, b in zip(own, types)):
        return None
    return compared(case['op'], types, theirs, ours)


def method_difference(case, theirs, ours, loop_dtype):
    """Compares the flags of reduce, accumulate, reduceat and at, if the flags do not depend on the
    order of the steps."""
    if not case.get('fp_flags') or build.is_bfloat16(case) or case.get('initial', 'none') != 'none':
        return None
    memory, loop = build.Memory(case), loop_dtype(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    if any(x.dtype.newbyteorder('=') != loop for x in (*inputs, theirs.output)):
        return None
    if case['method'] != 'at' and loop.kind == 'f' and not any_order(case['op'], inputs[0], loop):
        return None
    return compared(case['op'], [loop] * 3, theirs, ours)


def any_order(name, values, loop):
    """Returns whether every order of the reduction raises the same flags, in this loop's precision
    or in a higher precision."""
    if name in CHOICES or name.startswith('logical'):
        return True
    if np.isnan(values).any():
        return False
    sizes = np.abs(values[np.isfinite(values) & (values != 0)]).astype(np.longdouble)
    if name == 'add':
        return sizes.sum() < np.finfo(loop).max / 2
    if name == 'multiply':
        return np.abs(np.log2(sizes)).sum() < RANGE[loop.char]
    return loop.char != 'e'  # NumPy computes a left fold of f16 with an f32 accumulator


def compared(name, types, theirs, ours):
    kinds = {dtype.kind for dtype in types}
    judged = DIVIDE | OVERFLOW | INVALID | (UNDERFLOW if name in UNDERFLOWS else 0)
    if 'c' in kinds or name in PRODUCTS:
        return None  # NumPy also reports flags of the parts of complex numbers and of single
                     # products
    if kinds & set('mM'):  # NumPy computes datetime types with float64 and int64
        by_timedelta = name in QUOTIENTS and types[1].kind == 'm'
        # Not-a-time divided by 0 raises divide-by-zero in the library, but not in NumPy.
        judged = DIVIDE & theirs.fp_flags if by_timedelta else 0
    elif types[0].kind in 'iu' and name in ('reciprocal', 'floor_divide', 'divmod'):
        judged = DIVIDE  # NumPy converts an infinite float to integer, and INT_MIN // -1 overflows
    found = ours.fp_flags | (DIVIDE if ours.fp_flags & INTEGER_DIVIDE else 0)
    if name in POLES and found & OVERFLOW:
        found += DIVIDE - OVERFLOW
    if name in ('power', 'float_power'):
        judged &= INVALID  # NumPy's pow(1e300, inf) and pow(0, -inf) raise flags
    if name == 'nextafter':
        judged &= ~OVERFLOW  # nextafter(max, inf) overflows in NumPy
    if name in ('logaddexp', 'logaddexp2'):
        judged &= DIVIDE  # NumPy reports the difference of the arguments, and comparisons with NaN
    if name == 'spacing':
        judged &= ~INVALID  # spacing(inf) is invalid in NumPy for float16 only
    if name in ('floor_divide', 'divmod') and found & OVERFLOW:
        judged &= ~INVALID  # NumPy subtracts the infinite quotient from itself
    wrong = ((found ^ theirs.fp_flags) & ~UNDERFLOW | theirs.fp_flags & ~found) & judged
    if not wrong:
        TALLY['compared'] += 1
        TALLY['found'] += theirs.fp_flags & judged != 0
        return None
    return f'fp_flags: NumPy {names(theirs.fp_flags)}, ours {names(found)}'


def names(fp_flags):
    return ', '.join(text for flag, text in TEXTS.items() if fp_flags & flag) or 'none'
