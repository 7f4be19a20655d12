# SPDX-License-Identifier: Apache-2.0
"""Replaces the library with NumPy (numpy_library.py) for calls with two outputs or three inputs,
with seeded faults."""

import numpy as np

import big_cases
import several_judge
from judge import letter_of
from several_cases import numpy_function

FAULTS = {
    'several: the outputs are exchanged': 'outputs_swapped',
    'several: a given second output is not written': 'output_lost',
    'several: only the first output is masked': 'first_masked',
    'several: a type named for the second output is ignored': 'second_type',
    'several: dtype= is for the first output only': 'first_dtype',
    'several: the third input is the second': 'third_input',
    'several: an item of the second output is lost between two chunks': 'second_item',
    'several: a remainder of timedeltas is not a timedelta': 'not_a_time',
    'several: outputs that overlap are written last first': 'last_output_first',
    'several: what the mask leaves out is as before the first output': 'old_under_mask',
    'several: outer exchanges the inputs': 'outer_of_two',
}


class SeveralOperands:
    """Calls with several outputs or three inputs. Uses the members `fault` and `guarded` of
    NumpyLibrary."""

    def call_several(self, name, inputs, outputs, *, where=None, casting=None, order='K', **types):
        """Makes a call. Of `types`, only dtype and signature are used."""
        case = {'casting': casting, 'order': order, **types}
        if self.fault == 'second_type' and case.get('signature') and len(outputs) == 2:
            case['signature'] = [*case['signature'][:-1], None]
            case['signature'] = case['signature'] if any(case['signature']) else None
        if self.fault == 'first_dtype' and case.get('dtype') and len(outputs) == 2:
            case['signature'] = [None] * len(inputs) + [case.pop('dtype'), None]
        if self.fault == 'third_input' and len(inputs) == 3:
            inputs = [*inputs[:2], inputs[1]]
        found = self.answers(numpy_function(name), inputs, outputs, case, where)
        if len(found) == 2 and outputs[1] is None:
            letter, second, strides = found[1]
            if self.fault == 'second_item' and second.size >= big_cases.SHARED:
                second.flat[8256] = not second.flat[8256]
            if self.fault == 'not_a_time' and second.dtype.kind == 'm':
                found[1] = ('q', second.view('i8'), strides)
        return found

    def outer_of_several(self, name, inputs, outputs, *, where=None, dtype=None, order='K', **_):
        case = {'casting': None, 'order': order, 'dtype': dtype}
        if self.fault == 'outer_of_two':
            inputs = inputs[::-1]
        return self.answers(numpy_function(name).outer, inputs, outputs, case, where)

    def answers(self, function, inputs, outputs, case, where):
        options = several_judge.options_of(case)
        mask = True if where is None else where
        fresh = all(out is None for out in outputs)
        given = [None if out is None else out.copy(order='K') for out in outputs]
        copies = [x.copy(order='K') if isinstance(x, np.ndarray) else x for x in inputs]
        if where is not None:  # NumPy would write masked elements of an output that it copies
            near = [any(np.may_share_memory(x, out) for out in outputs) for x in inputs]
            inputs = [pair[over] for *pair, over in zip(inputs, copies, near)]

        def work(_):
            found = several_judge.written_in_order(function, inputs, outputs, options, mask)
            return found if isinstance(found, tuple) else (found,)

        found = [np.asarray(x) for x in self.guarded(work, None, True)]
        if self.fault == 'outputs_swapped' and len(found) == 2 and fresh:
            found.reverse()
        if len(found) == 2 and outputs[1] is not None:
            if self.fault == 'output_lost':
                outputs[1][...] = given[1]
            if self.fault == 'last_output_first' and outputs[0] is not None:
                function(*copies, out=(outputs[0], None), where=mask, **options)
            if self.fault == 'old_under_mask':
                np.copyto(outputs[1], given[1], where=~np.asarray(mask))
            if self.fault == 'first_masked' and where is not None:
                function(*copies, out=(None, outputs[1]), **options)
        return [
            (letter_of(x.dtype), x, x.strides) if out is None else out
            for x, out in zip(found, outputs)
        ]
