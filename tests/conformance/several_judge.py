# SPDX-License-Identifier: Apache-2.0
"""Compares calls with several outputs or three inputs of the library and of NumPy. Each output is
compared bit by bit, as judge.py compares the output of other calls."""

import functools
import operator

import numpy as np

import abi
import build
import casts
import fp_flag_judge
import judge
import tally
import time_cases
from judge import Outcome, letter_of
from numpy_ufuncs import numpy_function

EITHER_ZERO = {'clip'}  # NumPy's result for -0 between 0 and 0 depends on the layout


def options_of(case):
    """Returns all keywords for NumPy except out= and where=."""
    options = {'order': case['order'], 'casting': case['casting'] or 'same_kind'}
    if case.get('dtype'):
        options['dtype'] = np.dtype(build.numpy_letter(case['dtype']))
    if case.get('signature'):
        letters = [letter and build.numpy_letter(letter) for letter in case['signature']]
        options['signature'] = tuple(letter and np.dtype(letter) for letter in letters)
    return options


def called(case, function):
    return function.outer if case.get('outer') else function


def written_in_order(function, inputs, outs, options, mask):
    """Returns NumPy's results. If the outputs overlap, writes them one after the other where the
    mask is true, because NumPy leaves the order of the writes undefined and also writes masked
    elements of an output that it copies.
    """
    options = options if mask is True else {**options, 'where': mask}
    if len(outs) < 2 or not np.may_share_memory(*outs):
        return function(*inputs, out=tuple(outs), **options)
    copies = [out.copy(order='K') for out in outs]
    function(*inputs, out=tuple(copies), **options)
    for out, copy in zip(outs, copies):
        np.copyto(out, copy, where=mask)
    return tuple(outs)


def run_numpy(case):
    # The inputs share no memory with the outputs (see build.apart), but have the same strides.
    memory, apart = build.Memory(case), build.Memory(case)
    outs = [spec and memory.view(spec) for spec in case['outputs']]
    inputs = [build.value(apart, spec) for spec in case['inputs']]
    mask = apart.view(case['where']) if case.get('where') else True
    function = called(case, numpy_function(case['op']))
    fp_flags = fp_flag_judge.Noted(case.get('fp_flags'))
    try:
        with fp_flags:
            found = written_in_order(function, inputs, outs, options_of(case), mask)
    except Exception as error:  # noqa: BLE001 - its class is compared
        return [Outcome(memory, error=error, text=str(error))]
    found = found if isinstance(found, tuple) else (found,)
    pairs = [(out, np.asarray(result)) for out, result in zip(outs, found, strict=True)]
    results = [result if out is None else out for out, result in pairs]
    return [
        Outcome(memory, x, letter_of(x.dtype), x.strides, fp_flags=fp_flags.found) for x in results
    ]


def run_library(case, library):
    memory = build.Memory(case, guarded=True)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    outs = [spec and memory.view(spec) for spec in case['outputs']]
    options = {key: case[key] for key in ('dtype', 'signature') if case.get(key)}
    if case.get('where'):
        options['where'] = memory.view(case['where'])
    if not case.get('outer'):
        options['casting'] = case['casting']
    options.update(order=case['order'], threads=case.get('threads') or 0)
    if case.get('fp_flags'):
        options['report'] = fp_flag_judge.ALL
    call = library.outer_of_several if case.get('outer') else library.call
    try:
        found = call(case['op'], inputs, outs, **options)
    except abi.GufuncError as error:
        return [Outcome(memory, error=error, text=str(error))]
    triples = [
        result if out is None else (letter_of(out.dtype), out, out.strides)
        for out, result in zip(outs, found, strict=True)
    ]
    fp_flags = library.fp_flags.value if case.get('fp_flags') else 0
    return [
        Outcome(memory, array, letter, strides, fp_flags=fp_flags)
        for letter, array, strides in triples
    ]


def difference(case, library):
    """Returns None, or one sentence that describes the difference from NumPy."""
    theirs, ours = run_numpy(case), run_library(case, library)
    if theirs[0].error and not ours[0].error and time_cases.only_iterator_refuses(case, theirs[0]):
        return None
    if theirs[0].error or ours[0].error:
        return judge.error_difference(case, theirs[0], ours[0])
    tally.count_several(case, ours)
    outside = outside_of(case, theirs)
    for number, pair in enumerate(zip(theirs, ours)):
        text = output_difference(case, number, *pair, outside[number])
        if text:
            return f'output {number}: {text}'
    return untouched_difference(case, theirs, ours) or fp_flag_difference(case, theirs, ours)


def output_difference(case, number, theirs, ours, outside):
    one = {**case, 'output': case['outputs'][number]}
    if theirs.letter != ours.letter:
        return f'dtype: NumPy {theirs.letter}, ours {ours.letter}'
    if theirs.output.shape != ours.output.shape:
        return f'shape: NumPy {theirs.output.shape}, ours {ours.output.shape}'
    layout = judge.layout_difference(one, theirs, ours)
    if layout:
        return layout
    exact, found = (
        judge.compared(one, x.output.astype(x.output.dtype.newbyteorder('=')))
        for x in (theirs, ours)
    )
    good = judge.same_bits(exact, found, case['op'] in EITHER_ZERO)
    good = good | judge.compared(one, outside)
    if good.all():
        return None
    where = tuple(int(i) for i in np.argwhere(~good)[0])
    count = int((~good).sum())
    return f'{count} values, first at {where}: NumPy {exact[where]!r}, ours {found[where]!r}'


def loop_dtypes(case, inputs):
    """Returns the dtypes of NumPy's loop, inputs first."""
    function = numpy_function(case['op'])
    options = {key: value for key, value in options_of(case).items() if key != 'order'}
    kinds = [type(x) if type(x) in (int, float) else x.dtype for x in inputs]
    if 'dtype' in options:
        named = [options.pop('dtype')] * function.nout
        options['signature'] = (*[None] * len(inputs), *named)
    return function.resolve_dtypes((*kinds, *[None] * function.nout), **options)


def fp_flag_difference(case, theirs, ours):
    """Compares the floating-point flags of a call without casts."""
    memory = build.Memory(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    if not case.get('fp_flags') or any(type(x) in (int, float) for x in inputs):
        return None
    types = loop_dtypes(case, inputs)
    own = [x.dtype for x in inputs] + [x.output.dtype for x in theirs]
    if any(a.newbyteorder('=') != b for a, b in zip(own, types, strict=True)):
        return None
    return fp_flag_judge.compared(case['op'], types, theirs[0], ours[0])


def outside_of(case, theirs):
    """Returns for each output which elements depend on a cast of a float to an integer that cannot
    represent it."""
    nothing = [np.zeros(x.output.shape, bool) for x in theirs]
    if case['casting'] != 'unsafe':
        return nothing
    memory, function = build.Memory(case), numpy_function(case['op'])
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    options = {k: v for k, v in options_of(case).items() if k != 'order'}
    floats = function(*inputs, **options)
    floats = floats if isinstance(floats, tuple) else (floats,)
    types = loop_dtypes(case, inputs)
    outside = [~casts.in_range(t, np.asarray(x)) for t, x in zip(types, inputs)]
    touched = functools.reduce(operator.or_, outside)
    return [
        judge.in_output_shape(touched | ~casts.in_range(x.output.dtype, y), x)
        for x, y in zip(theirs, floats)
    ]


def untouched_difference(case, theirs, ours):
    """Checks that bytes outside the outputs are unchanged."""
    before, after = build.Memory(case), ours[0].memory
    for spec in filter(None, case['outputs']):
        before.view(spec)[...] = 0
        after.view(spec)[...] = 0
    return None if before.bytes() == after.bytes() else 'bytes outside the outputs changed'
