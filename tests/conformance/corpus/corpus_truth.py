# SPDX-License-Identifier: Apache-2.0
"""Computes the expected outcome of a random case of the oracle, and the tolerance of its results.
Rejects cases whose outcome NumPy leaves unspecified. The oracle has code that judges the outcome of
such cases, but the corpus can only store one expected result."""

import numpy as np

import build
import cases
import complex_truth
import judge
import keyword_cases
import method_judge
from casts import loop_dtypes

REAL_ULP, COMPLEX_ULP = 2, 8  # tolerance of functions that round more than once
FOLDS = ('reduce', 'accumulate', 'reduceat')


class Open(Exception):
    """Raised if a case must be left out of the corpus, with the reason."""


def outcome(case):
    """Returns NumPy's outcome of a case, and the tolerance of its results in ULP. If the bits of
    NumPy's results are unspecified, the results are computed in long double."""
    method = case.get('method', 'call')
    theirs = (method_judge if method != 'call' else judge).run_numpy(case)
    refuse_open_questions(case, theirs)
    if theirs.error:
        return theirs, 0
    return theirs, method_ulp(case, theirs) if method in (*FOLDS, 'at') else call_ulp(case, theirs)


def refuse_open_questions(case, theirs):
    method, types = case.get('method', 'call'), [b['dtype'] for b in case['buffers']]
    if case.get('signature') and keyword_cases.remembers(case, ''):
        raise Open('NumPy remembers what it found for a signature')
    weak = any('weak_int' in view for view in case['inputs'])
    if weak and (case.get('where') or case['op'] in keyword_cases.COMPARISONS and theirs.error):
        raise Open('NumPy fails otherwise')
    if case.get('order') == 'A' and method != 'call':
        raise Open('unspecified layout')
    if case['op'] == 'power' and (method != 'call' or case.get('casting') == 'unsafe'):
        raise Open('power of casts, and its reductions')
    if case['op'] == 'negative' and case['output'] and case['output'].get('strides'):
        raise Open('negative into strides')
    if any(t[0] in 'mM' for t in types):
        refuse_unspecified_datetimes(case, theirs, types)
    if method in FOLDS and not theirs.error and method_judge.longer_output(case):
        raise Open('an output of another shape')
    if not theirs.error and case.get('where') and case['output'] and overlaps(case):
        raise Open('a mask and an overlap')


def refuse_unspecified_datetimes(case, theirs, types):
    if theirs.error and 'generic units' in theirs.text:
        raise Open("only NumPy's iterator refuses")
    if any(t in 'efdFD' for t in types) and any(b['values'] != 'small' for b in case['buffers']):
        raise Open('floats converted to datetimes')
    initial = case.get('initial')
    if isinstance(initial, dict) and np.isnat(np.asarray(build.value(None, initial), 'm8')):
        raise Open('an initial value that is not-a-time')
    if any(t in ('m8', 'M8') for t in types) and case['op'] in keyword_cases.COMPARISONS:
        raise Open('NumPy remembers units')


def overlaps(case):
    used = [v.get('buffer') for v in (*case['inputs'], case.get('where') or {})]
    return case['output'].get('buffer') in used


# ---- calls


def call_ulp(case, theirs):
    plain = method_judge.flat(case) if case.get('method') == 'outer' else case
    if np.any(judge.outside_integers(plain, theirs)):
        raise Open('floats that their integers do not hold')
    memory = build.Memory(case)
    inputs = [build.value(memory, spec) for spec in plain['inputs']]
    narrow = build.is_bfloat16(case)
    if narrow:
        inputs = [build.from_bfloat16_bits(x) for x in inputs]
    types = loop_dtypes(plain, inputs)
    refuse_either_zero(case, theirs, inputs)
    letter = judge.letter_of(types[-1])
    product = case['op'] in keyword_cases.CORE
    complex_loop = types[0].kind == 'c'
    rounded = case['op'] in cases.ROUNDED or product
    rounded = rounded or complex_loop and case['op'] in judge.ROUNDED_COMPLEX
    if case['op'] in ('floor_divide', 'remainder') and letter in 'e':
        raise Open('quotients of float16 by way of float32')
    if not rounded or types[-1].kind not in 'fc':
        return 0
    if product:
        return product_ulp(case, theirs)
    if case['op'] in judge.POWERS and complex_loop:
        raise Open('complex powers')
    if theirs.output.dtype != types[-1] and not narrow:
        raise Open('a rounded result that is cast')
    put_truth(plain, theirs, inputs, types)
    return COMPLEX_ULP if complex_loop else 1 if narrow else REAL_ULP


def refuse_either_zero(case, theirs, inputs):
    if case['op'] not in judge.EITHER_ZERO or theirs.output.dtype.kind not in 'fc':
        return
    if (np.asarray(theirs.output) == 0).any() or theirs.output.dtype.kind == 'c':
        raise Open('either zero, either NaN')


def product_ulp(case, theirs):
    """Returns the tolerance of matmul and vecdot, which is 0, because sums of products of small
    nonzero integers are exact. The values contain no zeros, because the sign of a zero result could
    depend on the order of the sum."""
    if any(b['values'] != 'whole' for b in case['buffers'][:2]):
        raise Open('sums of products that round')
    if case['output'] and overlaps(case):
        raise Open('a product over its operands')
    return 0


def put_truth(case, theirs, inputs, types):
    """Replaces NumPy's result with the result that is computed in long double and rounded once."""
    wide = [
        np.asarray(x).astype(t).astype(np.clongdouble if t.kind == 'c' else np.longdouble)
        for x, t in zip(inputs, types)
    ]
    if types[0].kind == 'c' and not all(np.isfinite(x).all() for x in wide):
        raise Open('complex numbers that are not finite')
    if case['op'] == 'exp2' and (np.abs(wide[0].imag) > complex_truth.EXP2_ANGLE).any():
        raise Open('large angles of exp2')
    with np.errstate(all='ignore'):
        truth = judge.in_output_shape(judge.evaluated(case, wide, theirs), theirs)
        rounded = truth.astype(theirs.output.dtype)
    if types[0].kind == 'c' and not np.isfinite(rounded).all():
        raise Open('complex numbers that are not finite')
    if case.get('where'):
        mask = build.Memory(case).view(case['where'])
        theirs.output[...] = np.where(mask, rounded, theirs.output)
    elif theirs.output.flags.writeable:
        theirs.output[...] = rounded
    else:
        theirs.output = rounded


# ---- methods


def method_ulp(case, theirs):
    loop = method_judge.loop_dtype(case)
    if loop is None:
        raise Open('no loop is known')
    if not method_judge.inputs_fit(case, loop):
        raise Open('floats that their integers do not hold')
    refuse_either_zero(case, theirs, [])
    if loop.kind not in 'fc':
        refuse_partial_results(case, theirs, loop)
        return 0
    if case['op'] not in judge.EITHER_ZERO | {'subtract', 'add', 'multiply', 'divide'}:
        if theirs.output.dtype.kind in 'fc':
            raise Open('reductions of rounded functions')
    if loop.kind == 'c' and case['op'] in ('multiply', 'divide'):
        raise Open('reductions of complex products')
    refuse_partial_results(case, theirs, loop)
    if loop.char == 'e' or build.is_bfloat16(case):
        refuse_inexact(case, theirs)
    elif case['op'] in ('add', 'multiply') and case['method'] in FOLDS:
        refuse_inexact(case, theirs)
    return 0


def refuse_partial_results(case, theirs, loop):
    same = theirs.output.dtype.newbyteorder('=') == loop.newbyteorder('=')
    if not same and not build.is_bfloat16(case) and theirs.output.dtype.kind != 'b':
        raise Open('partial results of another type')
    if not same and case['op'] not in ('logical_and', 'logical_or', 'logical_xor'):
        raise Open('partial results of another type')


def refuse_inexact(case, theirs):
    """Rejects results that are not exact. Sums of small whole numbers and products of powers of two
    are exact in any order."""
    if case['op'] in judge.EITHER_ZERO or theirs.output.dtype.kind == 'b':
        return
    expected = {'add': 'whole', 'subtract': 'whole', 'multiply': 'powers'}.get(case['op'])
    if any(b['values'] != expected for b in case['buffers'] if b['dtype'] not in '?'):
        raise Open('reductions that round')
    if case.get('initial') not in (None, 'none') and not ('weak_int' in case['initial']):
        raise Open('reductions that round')
    found = np.asarray(theirs.output)
    if build.is_bfloat16(case) and np.abs(found.astype('f')).max(initial=0) > 256:
        raise Open('reductions that round')
    top = 2048 if found.dtype.char == 'e' else 2.0**24
    small = case['op'] == 'multiply' or np.abs(found).max(initial=0) <= top
    if not small or not np.isfinite(found).all() or (found == 0).any():
        raise Open('reductions that round')

