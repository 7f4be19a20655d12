# SPDX-License-Identifier: Apache-2.0
"""Draws groups of random cases in the same way as the oracle. Leaves out cases whose results depend
on the order of operations, on the instruction set, or on earlier calls of NumPy."""

import random

import numpy as np

import bad_cases
import build
import cases
import corpus_truth
import keyword_cases
import method_cases
import statuses
import time_cases
from build import index_array
from corpus_pool import Buffers, dtype_name, integer, result
from corpus_truth import Open

cases.DRAWN['many axes'] = False
# The cases are numbered, and a new function of the library must not change the numbered cases. The
# random groups therefore use only the functions that the library had when the groups were first
# drawn. Group `loops` has all functions.
LATER = cases.keep_first(40)
time_cases.leave_out(LATER)

MAX_ELEMENTS = 500  # maximum number of elements in all buffers of a case


def exact_values(case):
    """Chooses values whose floating-point sums and products are exact in any order."""
    if case['op'] in cases.GUFUNCS or case.get('method') and case['op'] in ('add', 'subtract'):
        values = 'whole'
    elif case.get('method') and case['op'] == 'multiply':
        values = 'powers'
    else:
        return case
    for buffer in case['buffers']:
        if buffer['dtype'] in 'EefdFD':
            buffer['values'] = values
    return case


def of_one_type(make):
    def draw(rng):
        return make(rng, rng.choice('bhiqBHIQefdFD'))

    return draw


def call(rng, letter):
    return cases.random_case(rng, dtypes=letter)


def complex_case(rng):
    case = cases.random_case(rng, dtypes=rng.choice('FD'))
    for buffer in case['buffers']:
        buffer['values'] = 'small'
    return case


def method_of_one_type(rng, letter):
    name = method_cases.random_name(rng)
    return method_cases.maker(rng.choice(method_cases.METHODS))(rng, name, letter)


def product(rng, letter):
    return cases.random_case(rng, dtypes=letter, names=cases.GUFUNCS)


def keyworded(rng):
    """Draws a call with axes=, axis=, keepdims= or signature=."""
    while True:
        case = cases.random_case(rng, names=cases.GUFUNCS if rng.random() < 0.6 else cases.NAMES)
        if any(case.get(key) for key in keyword_cases.KEYS):
            return case


# Maps each group to its number of cases and the function that draws a case.
DRAWN = {
    'calls': (620, cases.random_case),
    'calls_of_one_type': (240, of_one_type(call)),
    'complex': (60, complex_case),
    'bfloat16': (50, cases.random_bfloat16_case),
    'overlaps': (140, lambda rng: cases.random_case(rng, overlaps=True)),
    'products': (150, of_one_type(product)),
    'keywords': (120, keyworded),
    'datetimes': (170, time_cases.random_time_case),
    'methods': (300, method_cases.random_method_case),
    'methods_of_one_type': (300, of_one_type(method_of_one_type)),
    'methods_of_datetimes': (80, time_cases.random_time_method_case),
    'methods_of_bfloat16': (30, method_cases.random_bfloat16_method_case),
    'wrong_arguments': (200, bad_cases.random_bad_case),
}

# The seeds of groups that have been renamed. A change of a seed would change the cases.
SEEDS = {'datetimes': 'times', 'methods_of_datetimes': 'methods_of_times'}


def listed(cases_of_group):
    """Returns the function that makes a group from the cases that `cases_of_group` lists. Cases
    whose outcome NumPy leaves unspecified are left out."""

    def make(group, blob):
        made, left_out = [], {}
        for case in cases_of_group():
            try:
                made.append(written(case, blob))
            except Open as why:
                left_out[str(why)] = left_out.get(str(why), 0) + 1
        return made, left_out

    return make


def draw(group, blob):
    """Draws the cases of a group in the format of the corpus."""
    count, make = DRAWN[group]
    rng, made, left_out = random.Random(f'corpus {SEEDS.get(group, group)}'), [], {}
    while len(made) < count:
        case = exact_values(make(rng))
        case.pop('threads', None)
        if sum(buffer['n'] for buffer in case['buffers']) > MAX_ELEMENTS:
            continue
        try:
            one = written(case, blob)
            if one['expect']['status'] == 'GUF_OK' or count == 200 or rng.random() < 0.4:
                made.append(one)
        except Open as why:
            left_out[str(why)] = left_out.get(str(why), 0) + 1
    return made, left_out


def written(case, blob):
    theirs, ulp = corpus_truth.outcome(case)
    if theirs.error and statuses.status_of(theirs.error) is None:
        raise Open(f'{type(theirs.error).__name__}: {theirs.text[:60]}')
    made = described(case, blob)
    made['expect'] = expected(case, theirs, ulp, blob)
    return made


# ---- the case


class Described:
    """Converts the operands of a case of the oracle to operands of the corpus."""

    def __init__(self, case, blob):
        self.case, self.buffers, self.memory = case, Buffers(blob), build.Memory(case)
        self.holders = []
        for (block, start, dtype), spec in zip(self.memory.raw, case['buffers']):
            data = block[start : start + spec['n'] * dtype.itemsize]
            shift = int(spec['misaligned'] and dtype.itemsize > 1)
            self.holders.append(self.buffers.add(build.address_of(data), data.tobytes(), shift))

    def operand(self, spec):
        if spec is None:
            return None
        if 'shape' not in spec:
            return self.buffers.operand(build.value(self.memory, spec))
        number = spec['buffer']
        name = dtype_name(self.case['buffers'][number]['dtype'])
        return self.buffers.view(self.memory.view(spec), name, self.holders[number])


def described(case, blob):
    whole, method = Described(case, blob), case.get('method', 'call')
    inputs = [whole.operand(spec) for spec in case['inputs']]
    made = {'ufunc': case['op'], 'method': method, 'buffers': whole.buffers.list}
    made['inputs'] = [whole.operand(case['output']), *inputs] if method == 'at' else inputs
    if method != 'at' and case['output']:
        made['outputs'] = [whole.operand(case['output'])]
    if case.get('where'):
        made['where'] = whole.operand(case['where'])
    if 'indices' in case:
        made['indices'] = [whole.buffers.view(index_array(spec)) for spec in case['indices']]
    if case.get('initial') == 'none':
        made['initial'] = 'none'
    elif 'initial' in case:  # a NumPy scalar becomes a 0-d array, as in the oracle
        value = build.value(None, case['initial'])
        value = np.array(value) if isinstance(value, np.generic) else value
        made['initial'] = whole.buffers.operand(value)
    return made | keywords(case, method)


def keywords(case, method):
    made = {}
    axis = case.get('axis')
    if axis is not None:
        if method == 'reduce':
            axis = [axis] if isinstance(axis, int) else axis
            made['axis'] = axis if axis == 'all' else [integer(a) for a in axis]
        else:
            made['axis'] = integer(axis)
    if case.get('axes') is not None:
        made['axes'] = [[integer(a) for a in group] for group in case['axes']]
    if case.get('keepdims'):
        made['keepdims'] = True
    for key in ('casting', 'order', 'dtype', 'signature'):
        value = case.get(key)
        if value and not (key == 'order' and method not in ('call', 'outer')):
            made[key] = value
    if 'dtype' in made:
        made['dtype'] = dtype_name(made['dtype'])
    if 'signature' in made:
        made['signature'] = [one and dtype_name(one) for one in made['signature']]
    return made


# ---- the expected outcome


def refusal(error, underway=False):
    made = {'status': statuses.status_of(error)}
    text = statuses.text_of(error)
    if text:
        made['message'] = text
    if underway:
        made['written'] = True
    return made


def expected(case, theirs, ulp, blob):
    if theirs.error:
        return refusal(theirs.error, 'negative integer powers' in theirs.text)
    array, name, fresh, defined = theirs.output, None, None, None
    if theirs.letter == 'E':
        array, name = build.to_bfloat16_bits(np.asarray(array, np.float32)), 'bfloat16'
    if not case['output'] and np.asarray(array).size and name is None:
        fresh = [s for s, n in zip(theirs.output.strides, theirs.output.shape) if n > 1]
    if case.get('where') and not case['output'] and case.get('method', 'call') != 'reduce':
        defined = build.Memory(case).view(case['where'])
        array = np.where(defined, array, np.zeros((), array.dtype))
    return {'status': 'GUF_OK', 'results': [result(blob, array, ulp, name, fresh, defined)]}
