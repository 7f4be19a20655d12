# SPDX-License-Identifier: Apache-2.0
"""Cases that the library does not answer as NumPy does yet: the oracle draws another in their
place. A mend takes its function out of WAITING, and nothing else here."""


def is_awaited(case):
    return any(waits(case) for waits in WAITING)


def dtypes_of(case, views):
    for view in filter(None, views):
        if 'scalar' in view:
            yield view['scalar']
        elif 'buffer' in view:
            yield case['buffers'][view['buffer']]['dtype']


def is_time(dtype):
    return dtype[:2] in ('m8', 'M8')


def of_times(case):
    initial = case.get('initial')
    views = [*case['inputs'], case['output'], initial if isinstance(initial, dict) else None]
    return any(is_time(dtype) for dtype in dtypes_of(case, views))


def number_before_datetimes(case):
    """A number as initial= of datetimes without a unit."""
    initial = case.get('initial')
    if not isinstance(initial, dict) or 'scalar' in initial:
        return False
    return 'M8' in dtypes_of(case, case['inputs'])


def unit_lost(case):
    """A time with a unit into an output without one: refused where there is nothing to convert, or
    instead of a wrong index."""
    array = next(dtypes_of(case, [case['output']]), '')
    return array in ('m8', 'M8') and any('[' in x for x in dtypes_of(case, case['inputs']))


def classes_named(case):
    """signature= that names classes for a call with times, but for timedeltas alone."""
    named = [letter for letter in case.get('signature') or () if letter]
    if not named or not of_times(case) or any('[' in letter for letter in named):
        return False
    return {dtype[:2] for dtype in dtypes_of(case, case['inputs'])} != {'m8'}


def unit_named_beside_another_fault(case):
    """A unit in dtype= of a method, and an axis or an index that is wrong: of two errors the
    other."""
    if 'method' not in case or '[' not in (case.get('dtype') or ''):
        return False
    shape, axes = case['inputs'][0].get('shape', []), case.get('axis', 0)
    if not shape:
        return True
    axes = [] if axes == 'all' else [axes] if isinstance(axes, int) else axes
    if any(not -len(shape) <= axis < len(shape) for axis in axes):
        return True
    indices = case['indices'][0]['values'] if case['method'] == 'reduceat' else []
    wrong = any(not 0 <= index < shape[axes[0]] for index in indices)
    return wrong or len({axis % len(shape) for axis in axes}) < len(axes)


def two_wrong_outputs(case):
    """Of two outputs that do not fit, one of them of too few dimensions, the text names the
    other."""
    outputs = [view['shape'] for view in case.get('outputs', []) if view]
    shapes = [view['shape'] for view in case['inputs'] if 'shape' in view] + outputs
    if len(outputs) < 2:
        return False
    ndim = max(map(len, shapes), default=0)
    padded = [[1] * (ndim - len(shape)) + shape for shape in shapes]
    wanted = [max(extents, key=lambda n: (n != 1, n)) for extents in zip(*padded)]
    short = any(len(shape) < len(wanted) for shape in outputs)
    return short and all(shape != wanted for shape in outputs)


WAITING = [
    number_before_datetimes,
    unit_lost,
    classes_named,
    unit_named_beside_another_fault,
    two_wrong_outputs,
]
