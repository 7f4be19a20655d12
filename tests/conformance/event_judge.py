# SPDX-License-Identifier: Apache-2.0
"""Floating-point events beside numpy.errstate, where docs/fp-events.md lists no difference: reals
and integers that nothing casts. NumPy's underflows are events here; those of exact results are
events here only."""

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
TALLY = Counter()  # events that were compared, and calls that had some
TEXTS = {event: text for text, event in NUMPY.items()}


class Noted:
    """What numpy.errstate tells of the calls within."""

    def __init__(self, wanted):
        self.found = 0
        self.state = np.errstate(all='call', call=self.note) if wanted else None

    def note(self, text, _):
        self.found |= NUMPY[text]

    def __enter__(self):
        if self.state:
            self.state.__enter__()
        return self

    def __exit__(self, *failure):
        if self.state:
            self.state.__exit__(*failure)


# Of functions that round below the normal range. exp and power have steps on NumPy's way that do.
UNDERFLOWS = {'multiply', 'divide', 'true_divide', 'reciprocal', 'square'}
CHOICES = {'maximum', 'minimum', 'fmax', 'fmin'}
RANGE = {'e': 14, 'f': 120, 'd': 1000}  # binary magnitudes that products may have, with room


def difference(case, theirs, ours, loop_dtypes):
    """Of a call, and of the call that an outer is."""
    if not case.get('events') or build.is_bfloat16(case):
        return None
    if any(key.startswith('weak') for view in case['inputs'] for key in view):
        return None  # an int may overflow on its way to a float, which is a cast
    memory = build.Memory(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    types = loop_dtypes(case, inputs)
    own = [x.dtype for x in inputs] + [theirs.output.dtype]
    if any(a.newbyteorder('=') != b for a, b in zip(own, types)):
        return None
    return compared(case['op'], types, theirs, ours)


def method_difference(case, theirs, ours, loop_dtype):
    """Of reduce, accumulate, reduceat and at, where the order of the steps has no say."""
    if not case.get('events') or build.is_bfloat16(case) or case.get('initial', 'none') != 'none':
        return None
    memory, loop = build.Memory(case), loop_dtype(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    if any(x.dtype.newbyteorder('=') != loop for x in (*inputs, theirs.output)):
        return None
    if case['method'] != 'at' and loop.kind == 'f' and not any_order(case['op'], inputs[0], loop):
        return None
    return compared(case['op'], [loop] * 3, theirs, ours)


def any_order(name, values, loop):
    """Whether every order of the fold has the same events, in this loop's precision or a wider
    one."""
    if name in CHOICES or name.startswith('logical'):
        return True
    if np.isnan(values).any():
        return False
    sizes = np.abs(values[np.isfinite(values) & (values != 0)]).astype(np.longdouble)
    if name == 'add':
        return sizes.sum() < np.finfo(loop).max / 2
    if name == 'multiply':
        return np.abs(np.log2(sizes)).sum() < RANGE[loop.char]
    return loop.char != 'e'  # from the left; NumPy keeps an f32 meanwhile


def compared(name, types, theirs, ours):
    kinds = {dtype.kind for dtype in types}
    judged = DIVIDE | OVERFLOW | INVALID | (UNDERFLOW if name in UNDERFLOWS else 0)
    if 'c' in kinds or name in ('matmul', 'vecdot'):
        return None  # looked at as a whole here, by parts and products there
    if kinds & set('mM'):  # floats and int64 meet on NumPy's way to a time
        of_times = name in ('divide', 'floor_divide', 'remainder') and types[1].kind == 'm'
        # Not-a-time by 0 is a division by zero here, and not there.
        judged = DIVIDE & theirs.events if of_times else 0
    elif types[0].kind in 'iu' and name in ('reciprocal', 'floor_divide'):
        judged = DIVIDE  # there an infinite float becomes an integer, and INT_MIN // -1 overflows
    found = ours.events | (DIVIDE if ours.events & INTEGER_DIVIDE else 0)
    if name == 'power':
        judged &= INVALID  # NumPy's pow(1e300, inf) and pow(0, -inf) set flags
    if name == 'floor_divide' and found & OVERFLOW:
        judged &= ~INVALID  # NumPy subtracts the infinite quotient from itself
    wrong = ((found ^ theirs.events) & ~UNDERFLOW | theirs.events & ~found) & judged
    if not wrong:
        TALLY['compared'] += 1
        TALLY['found'] += theirs.events & judged != 0
        return None
    return f'events: NumPy {names(theirs.events)}, ours {names(found)}'


def names(events):
    return ', '.join(text for event, text in TEXTS.items() if events & event) or 'none'
