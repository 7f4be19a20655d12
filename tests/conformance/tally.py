# SPDX-License-Identifier: Apache-2.0
"""Counts the cases that a run of the oracle has compared, because a test requires a minimum number
of cases of each kind."""

from collections import Counter

import numpy as np

import bad_cases
import big_cases
import build
import fp_flag_judge

TALLY = Counter()
# Maps each kind to a number n. A run must compare at least one case of the kind per n cases.
MINIMA = {
    'overlapping': 6,  # the output of a successful call shares memory with an input
    'over their mask': 100,  # the output of a successful call shares memory with the mask
    'with fp_flags': 150,  # floating-point flags were compared
    'shared': 500,  # guf_explain reports that several threads share the work of the call
    'in tiles': 10_000,  # a tiled call, on one or more threads
    'shared methods': 1500,  # a method with enough elements for several threads
    # guf_explain reports that the result is written with non-temporal stores.
    'non-temporal stores': 50_000,
    'several operands': 40,  # a call with two outputs or three inputs
    'one of two outputs': 200,  # a call with two outputs, of which one is given
    'overlap of two outputs': 600,  # a call whose two outputs share memory
    # NumPy and the library reject an invalid argument, and no byte has changed.
    'refused for an argument': 20,
    'under a control word': 12,  # the calling thread has a different floating-point control word
    'with a loop that failed': 300,  # a loop fails, and then the same call succeeds
    # A successful call or method has an operand with more axes than one launch has.
    'calls of many axes': 250,
    'methods of many axes': 100,
    # Several axes of this operand have extent 0.
    'calls of many empty axes': 1000,
    'methods of many empty axes': 1000,
}
MANY_AXES = 8  # GUF_MAX_LOOP_NDIM


def changed_memory(case, ours):
    """Counts a case that fails in NumPy and in the library. Checks that the call of the library
    wrote nothing, unless a loop failed while it ran."""
    underway = 'negative integer powers' in ours.text
    if not underway and build.Memory(case).bytes() != ours.memory.bytes():
        return f'an error that changed memory: {ours.error.status} "{ours.text}"'
    TALLY['refused'] += 1
    if 'bad' in case:
        TALLY[f'refused for its {case["bad"]}'] += 1
    return None


def count_overlap(case, ours):
    """Counts a successful call whose output shares memory with an input."""
    views = [ours.memory.view(view) for view in case['inputs'] if 'buffer' in view]
    if case['output'] and any(np.shares_memory(ours.output, view) for view in views):
        TALLY['overlapping'] += 1
        TALLY['in place'] += case['output'] in case['inputs']
    if case['output'] and case.get('where'):
        mask = ours.memory.view(case['where'])
        TALLY['over their mask'] += np.shares_memory(ours.output, mask)


def count_axes(case):
    """Counts a successful call or method by the shapes of its operands."""
    specs = [*case['inputs'], case.get('output'), *case.get('outputs', []), case.get('where')]
    shapes = [spec['shape'] for spec in specs if spec and 'shape' in spec]
    shapes = [shape for shape in shapes if len(shape) > MANY_AXES]
    kind = 'methods' if 'method' in case else 'calls'
    TALLY[f'{kind} of many axes'] += bool(shapes)
    TALLY[f'{kind} of many empty axes'] += any(shape.count(0) > 1 for shape in shapes)


def count_several(case, ours):
    """Counts a successful call with several operands. `ours` contains the outputs of the call."""
    count_axes(case)
    TALLY['several operands'] += 1
    TALLY['one of two outputs'] += len(set(map(bool, case['outputs']))) == 2
    if len(ours) == 2 and all(case['outputs']):
        TALLY['overlap of two outputs'] += np.shares_memory(*[x.output for x in ours])


def count_big(case, library):
    """Counts a call by the text of guf_explain, and a method by its number of elements."""
    if 'big' not in case:
        return
    if 'method' in case:
        shape = case['inputs'][0].get('shape', [])
        several = case.get('threads') != 1 and np.prod(shape) >= big_cases.SHARED
        TALLY['shared methods'] += several
    else:
        TALLY['shared'] += '\nthreads: up to ' in library.explanation
        TALLY['in tiles'] += 'tile by tile' in library.explanation
        TALLY['non-temporal stores'] += 'non-temporal stores' in library.explanation
        TALLY['without wide stores'] += 'up to x86-64-v2' in library.explanation


def report(count, only, device=False, caller=True):
    """Prints the counts, and returns the kinds with too few cases. Kinds that a device cannot
    report are not required: threads, tiles, non-temporal stores and failing loops."""
    for kind in ('overlapping', 'in place', 'over their mask', 'refused'):
        TALLY[kind] += 0
    TALLY['refused for an argument'] = sum(TALLY[f'refused for its {k}'] for k in bad_cases.SPOIL)
    print(
        f'overlapping sets: {TALLY["overlapping"]}, {TALLY["in place"]} of them in place; '
        f'outputs over their mask: {TALLY["over their mask"]}; '
        f'refused calls: {TALLY["refused"]}, outputs untouched, '
        f'{TALLY["refused for an argument"]} of them for one argument: '
        + ', '.join(f'{kind} {TALLY[f"refused for its {kind}"]}' for kind in bad_cases.SPOIL)
    )
    print(
        f'floating-point flags: compared in {fp_flag_judge.TALLY["compared"]} calls, found in '
        f'{fp_flag_judge.TALLY["found"]}'
    )
    print(
        f'shared between threads: {TALLY["shared"]} calls, {TALLY["in tiles"]} of them or of one '
        f'thread in tiles, {TALLY["shared methods"]} methods; '
        f'written with non-temporal stores: {TALLY["non-temporal stores"]}; '
        f'of several operands: {TALLY["several operands"]}, {TALLY["one of two outputs"]} of them '
        f'with one output of two, {TALLY["overlap of two outputs"]} with two that share memory'
    )
    print(
        f'under a control word of the caller: {TALLY["under a control word"]} cases; '
        f'with a loop that failed: {TALLY["with a loop that failed"]}'
    )
    print(
        f'of more than {MANY_AXES} axes: {TALLY["calls of many axes"]} calls, '
        f'{TALLY["methods of many axes"]} methods; several of these axes have extent 0: '
        f'{TALLY["calls of many empty axes"]} calls, {TALLY["methods of many empty axes"]} methods'
    )
    TALLY['with fp_flags'] = fp_flag_judge.TALLY['found']
    expected = {kind: (count - 1000) // one_in for kind, one_in in MINIMA.items()}
    few = [kind for kind in MINIMA if only is None and TALLY[kind] < expected[kind]]
    if device:
        few = [k for k in few if k.split()[0] not in ('shared', 'in', 'non-temporal')]
    if device or not caller:
        few = [k for k in few if k != 'with a loop that failed']
    if not caller:
        few = [k for k in few if k != 'under a control word']
    if TALLY['without wide stores']:
        few = [k for k in few if k != 'non-temporal stores']
    for kind in few:
        print(f'too few cases: {TALLY[kind]} {kind}, expected one of {MINIMA[kind]}')
    return few
