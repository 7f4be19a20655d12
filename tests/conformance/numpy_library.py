# SPDX-License-Identifier: Apache-2.0
"""Replaces the library with NumPy, unmodified or with one seeded fault. The oracle must accept
unmodified NumPy and detect the fault."""

import ctypes as ct
import re

import numpy as np

import abi
import big_cases
import build
import caller
import failing_judge
import fp_flag_judge
import keyword_cases
import several_judge
from build import spread
from judge import letter_of
from numpy_ufuncs import numpy_function

FAULTS = {
    'resolution: int8 sums are not widened': 'narrow_sum',
    'resolution: uint64 and int64 meet in int64': 'mixed_sign',
    'broadcasting: an axis of extent 1 is stepped over': 'no_stretch',
    'broadcasting: the mask of a reduction loses its first row': 'mask_row',
    'overlap: the output is cleared before the input is read': 'overlap',
    'overlap: the output is cleared before the mask is read': 'mask_overlap',
    'overlap: accumulate in place reads what it wrote last': 'in_place',
    'reduction: the last of 9 or more elements is lost': 'last_element',
    'reduction: initial counts twice': 'initial_twice',
    'reduction: a negative axis counts one too many': 'negative_axis',
    'reduction: add starts from its first element': 'negative_zero',
    'reduceat: an index beyond the next reduces to the end': 'reduceat_end',
    'at: an index that comes twice counts once': 'buffered_at',
    'at: a negative index counts from one too far': 'negative_index',
    'outer: the second input comes first': 'outer_order',
    'layout: fresh outputs are C-contiguous': 'layout',
    'datetimes: not-a-time loses in maximum and minimum': 'nat_loses',
    'datetimes: units are mixed without a factor': 'no_factor',
    'errors: an index out of range is clipped': 'clipped',
    'errors: a failing call writes its output': 'half_done',
    'errors: the text of a call names another operand': 'other_operand',
    'errors: the text of a method names another axis': 'other_axis',
    'fp_flags: a division by zero is not reported': 'no_divide',
    'fp_flags: flags of accumulate are not reported': 'no_scan_flags',
    'fp_flags: what a mask leaves out counts': 'masked_flags',
    'threads: an item between two chunks is lost': 'lost_item',
    'axes: a kept axis is always last, despite axes=': 'kept_last',
    'indices: swapped bytes are not swapped back': 'swapped_index',
    'datetimes: dtype= with a unit is treated as its class': 'unit_of_dtype',
    'datetimes: signature= with a unit is treated as its class': 'unit_of_signature',
    'datetimes: values without a unit count seconds': 'seconds',
    'datetimes: initial= of the other class is treated as one of the operand': 'other_class',
    'casts: an element next to one out of range is off': 'beside_outside',
    'casts: accumulate is off before an element out of range': 'before_outside',
    'casts: products of floats are true': 'true_product',
    'NaN: a result that is NaN becomes a number': 'nan_is_number',
    'control: the words of the caller reach the loop': 'control_leaks',
    'loops: the status of a loop that failed is lost': 'lost_failure',
    'loops: a loop that failed fails the next call': 'sticky_failure',
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
    'several: flags of a call with two outputs are not reported': 'no_several_flags',
}
STATUS = [
    (OverflowError, 600),
    (np.exceptions.AxisError, 500),
    (TypeError, 201),
    (IndexError, 400),
    (ValueError, 300),
    (RuntimeError, 304),
]


def kind_of(options):
    return getattr(options.get('initial'), 'dtype', np.dtype('d')).kind


def without_nan(result, out):
    """Replaces each NaN in NumPy's result, also in a given output, with 1.5."""
    for array in [np.asarray(result)] if out is None else [out]:
        if array.dtype.kind in 'fc' and array.flags.writeable:
            array[np.isnan(array)] = 1.5
            result = array if out is None else result
    return result


class CalledByProgram:
    """Cases in which the caller sets floating-point control words, and cases with failing loops."""

    def __init__(self, caller_path):
        self.caller = caller.Caller(caller_path) if caller_path else None
        self.control, self.failure, self.failed = None, None, False

    def failing_name(self, kind):
        return 'add'

    def choose_failure(self, fails):
        self.failure, self.failed = fails, False

    def end_failure(self):
        if not self.failed or self.fault != 'sticky_failure':
            self.failure = None
        return self.failed

    def fail_loop(self, size):
        """Raises the error of the failing loop if the result has more elements than the loop
        computes before it fails."""
        fails = self.failure
        if fails is None or size <= fails['after']:
            return
        self.failed = True
        if self.fault != 'lost_failure':
            text = failing_judge.expected_text(fails)
            raise abi.GufuncError(failing_judge.GUF_E_LOOP, text)

    def run(self, work, out):
        """Runs `work(out)`. With the fault control_leaks it runs under the caller's control
        words."""
        if self.fault != 'control_leaks' or self.control is None:
            return work(out)
        mxcsr, x87 = caller.CONTROLS[self.control]
        self.caller.lib.set_control(mxcsr | 0x1F80, x87 | 0x3F)  # all traps are masked
        try:
            return work(out)
        finally:
            self.caller.lib.set_control(*caller.DEFAULT)


class SeveralOperands:
    """Calls with several outputs or three inputs. Uses the members `fault` and `guarded` of
    NumpyLibrary."""

    def call_several(
        self, name, inputs, outputs, *, where=None, casting=None, order='K', report=0, **types
    ):
        """Makes a call. Of `types`, only dtype and signature are used."""
        case = {'casting': casting, 'order': order, **types}
        if self.fault == 'second_type' and case.get('signature') and len(outputs) == 2:
            case['signature'] = [*case['signature'][:-1], None]
            case['signature'] = case['signature'] if any(case['signature']) else None
        if self.fault == 'first_dtype' and case.get('dtype') and len(outputs) == 2:
            case['signature'] = [None] * len(inputs) + [case.pop('dtype'), None]
        if self.fault == 'third_input' and len(inputs) == 3:
            inputs = [*inputs[:2], inputs[1]]
        report = 0 if self.fault == 'no_several_flags' else report
        found = self.answers(numpy_function(name), inputs, outputs, case, where, report)
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

    def answers(self, function, inputs, outputs, case, where, report=0):
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

        found = [np.asarray(x) for x in self.guarded(work, None, True, report)]
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


class NumpyLibrary(CalledByProgram, SeveralOperands):
    """Has the interface of abi.Library. The number of threads has no effect."""

    explanation = ''

    def __init__(self, fault=None, caller_path=None):
        super().__init__(caller_path)
        self.fault = fault
        self.fp_flags = None

    def noted(self, report, work, out):
        """Runs `work(out)` and stores the floating-point flags in `fp_flags`."""
        with fp_flag_judge.Noted(report) as seen:
            result = self.run(work, out)
        if self.fault == 'nan_is_number':
            result = without_nan(result, out)
        lost = fp_flag_judge.DIVIDE if self.fault == 'no_divide' else 0
        self.fp_flags = ct.c_uint32(seen.found & ~lost)
        return result

    def answered(self, out, work, weak=False, report=0):
        """Runs `work(out)` and converts NumPy's errors to statuses. Returns a new result with its
        letter.
        """
        result = self.guarded(work, out, weak, report)
        self.fail_loop(np.size(result))
        if out is not None:
            return out
        result = np.asarray(result)
        strides = result.strides
        if self.fault == 'layout':
            strides = np.ascontiguousarray(result).strides if result.ndim else ()
        return letter_of(result.dtype), result, strides

    def guarded(self, work, out, weak=False, report=0):
        try:
            return self.noted(report, work, out)
        except Exception as error:  # noqa: BLE001 - becomes the library's error
            if self.fault == 'half_done' and out is not None:
                out[...] = 1
            axis = re.search("duplicate value in 'axis'|int too large to|a C int", str(error))
            axis = axis and not weak or "won't fit into a C int" in str(error)
            status = next((code for kind, code in STATUS if isinstance(error, kind)), 9900)
            raise abi.GufuncError(500 if axis else status, self.text(error, weak)) from None

    def text(self, error, of_call):
        text = str(error)
        if of_call and self.fault == 'other_operand':
            text = re.sub('input 0|operand 0', lambda found: found[0][:-1] + '1', text)
        if not of_call and self.fault == 'other_axis':
            text = re.sub(r'axis (-?\d+)', r'axis 1\1', text)
        return text

    @staticmethod
    def plain(value):
        return build.from_bfloat16_bits(value.bits) if isinstance(value, abi.BFloat16) else value

    def dtype(self, letter):
        if letter and self.fault == 'unit_of_dtype':
            letter = letter.split('[')[0]
        return np.dtype(build.numpy_letter(letter)) if letter else None

    def shares(self, out, *inputs):
        return out is not None and any(
            isinstance(x, np.ndarray) and np.shares_memory(out, x) for x in inputs
        )

    def call(
        self,
        name,
        inputs,
        outputs,
        *,
        where=None,
        casting=None,
        order='K',
        dtype=None,
        threads=0,
        report=0,
        explain=False,
        **keywords,
    ):
        if len(outputs) > 1 or len(inputs) > 2:
            types = {'dtype': dtype, 'signature': keywords.get('signature')}
            options = {'where': where, 'casting': casting, 'order': order, 'report': report}
            return self.call_several(name, inputs, outputs, **options, **types)
        case = {'op': name, **keywords}
        self.spoil_keywords(case)
        options = {'casting': casting or 'same_kind', 'order': order, 'dtype': self.dtype(dtype)}
        options |= keyword_cases.axes_options(case)
        if keywords.get('signature'):
            del options['dtype']
            options |= keyword_cases.type_options(case)
        if where is not None:
            options['where'] = where
        inputs = [self.plain(x) for x in inputs]
        kinds = {getattr(getattr(x, 'dtype', None), 'char', '') for x in inputs}
        if self.fault == 'mixed_sign' and kinds == {'l', 'L'} and not dtype:
            inputs = [x.astype('l') for x in inputs]
        if self.fault == 'no_stretch' and len(inputs) == 2:
            inputs = [self.unstretched(x, inputs) for x in inputs]
        if self.fault == 'overlap' and self.shares(outputs[0], *inputs):
            if not any(x is outputs[0] for x in inputs):
                outputs[0][...] = 0
        if self.fault == 'mask_overlap' and self.shares(outputs[0], where):
            outputs[0][...] = 0
        if self.fault in ('nat_loses', 'no_factor', 'seconds'):
            name, inputs = self.corrupt_datetimes(name, inputs)
        function = numpy_function(name)
        found = self.answered(
            outputs[0], lambda out: function(*inputs, out=out, **options), True, report
        )
        if self.fault == 'masked_flags' and report and where is not None:
            del options['where']
            copies = [np.array(x) for x in inputs]
            self.noted(report, lambda _: function(*copies, **options), None)
        if self.fault == 'lost_item' and threads > 1:
            self.lose_item(found[1] if outputs[0] is None else found)
        if self.fault == 'beside_outside' and casting == 'unsafe' and outputs[0] is None:
            self.disturb(found[1], inputs[0])
        return [found]

    def spoil_keywords(self, case):
        if self.fault == 'kept_last' and case.get('keepdims') and case.get('axes'):
            case['axes'] = [*case['axes'][:2], [-1]]
        if self.fault == 'unit_of_signature' and case.get('signature'):
            case['signature'] = [letter and letter.split('[')[0] for letter in case['signature']]

    @staticmethod
    def disturb(result, source):
        """Seeds a fault: if the source has ordinary and special floats, adds 1 to one integer of
        the result that was computed from an ordinary float."""
        kind = getattr(source, 'dtype', result.dtype).kind
        if result.dtype.kind in 'iu' and kind == 'f' and np.shape(source) == result.shape:
            ordinary = np.argwhere(np.abs(source) < 10)
            if len(ordinary) and not np.isfinite(source).all():
                result[tuple(ordinary[0])] += 1

    @staticmethod
    def lose_item(result):
        if result.size >= big_cases.SHARED:
            result.flat[8256] = not result.flat[8256]

    def corrupt_datetimes(self, name, inputs):
        dtypes = [getattr(x, 'dtype', np.dtype('d')) for x in inputs]
        if self.fault == 'seconds':
            return name, [
                x.astype('M8[s]') if dtype == np.dtype('M8') else x
                for x, dtype in zip(inputs, dtypes)
            ]
        if len(inputs) != 2 or any(dtype.kind != 'm' for dtype in dtypes):
            return name, inputs
        if self.fault == 'nat_loses':
            name = {'maximum': 'fmax', 'minimum': 'fmin'}.get(name, name)
        elif all(dtype.isnative for dtype in dtypes):
            inputs = [inputs[0], inputs[1].view(dtypes[0])]
        return name, inputs

    @staticmethod
    def unstretched(x, inputs):
        """Broadcasts extent 1 incorrectly: all elements except the first are zero."""
        other = max((np.shape(y) for y in inputs), key=len)
        if np.ndim(x) != 1 or np.shape(x) != (1,) or not other or other[-1] < 2:
            return x
        return np.concatenate([x, np.zeros(other[-1] - 1, x.dtype)])

    def reduce(
        self,
        name,
        source,
        out=None,
        *,
        axis=0,
        initial=abi.ABSENT,
        where=None,
        dtype=None,
        keepdims=False,
        threads=0,
        report=0,
    ):
        source = self.plain(source)
        options = {'dtype': self.dtype(dtype), 'keepdims': bool(keepdims)}
        if initial is not abi.ABSENT:
            options['initial'] = initial
        if where is not None:
            options['where'] = where
        if axis is abi.ABSENT:
            axis = 0
        source, axis, options = self.spoil_reduce(name, source, out, axis, options)

        def work(target):
            result = getattr(np, name).reduce(source, axis=axis, out=target, **options)
            if self.fault == 'initial_twice' and name == 'add' and out is None:
                if type(options.get('initial')) is int:
                    result = result + np.asarray(options['initial']).astype(
                        np.asarray(result).dtype
                    )
            if self.fault == 'true_product' and name == 'multiply' and source.dtype.kind == 'f':
                if out is not None and out.dtype.kind == 'b':
                    out[...] = True
            return result

        return self.answered(out, work, report=report)

    def spoil_reduce(self, name, source, out, axis, options):
        fault, narrow = self.fault, getattr(source, 'dtype', np.dtype('d')).char in 'bBhHiI'
        if fault == 'other_class' and {source.dtype.kind, kind_of(options)} == {'m', 'M'}:
            options['initial'] = options['initial'].astype('i8').astype(source.dtype)
        if fault == 'narrow_sum' and narrow and out is None and not options['dtype']:
            options['dtype'] = source.dtype
        if fault == 'mask_row' and 'where' in options and options['where'].ndim > 1:
            mask = options['where'].copy()
            mask[:1] = False
            options['where'] = mask
        if fault == 'overlap' and self.shares(out, source):
            out[...] = 0
        if fault == 'mask_overlap' and self.shares(out, options.get('where')):
            out[...] = 0
        if fault == 'last_element' and np.ndim(source) == 1 and source.size > 8:
            if 'where' not in options:
                source = source[:-1]
        if fault == 'negative_axis' and isinstance(axis, int) and -np.ndim(source) <= axis < -1:
            axis += 1
        if fault == 'negative_zero' and name == 'add' and 'initial' not in options:
            if np.size(source) and source.dtype.kind == 'f':
                options['initial'] = -0.0
        return source, axis, options

    def accumulate(self, name, source, out=None, *, axis=0, dtype=None, threads=0, report=0):
        source = self.plain(source)
        if self.fault == 'in_place' and self.shares(out, source) and np.shape(source):
            out[...] = np.flip(out)
        function = getattr(np, name)

        def work(target):
            result = function.accumulate(source, axis, self.dtype(dtype), target)
            first = source[:1] if self.fault == 'before_outside' and np.ndim(source) == 1 else ()
            if np.size(first) and first.dtype.kind == 'f' and np.abs(first[0]) < 10:
                self.disturb(result, source)
            return result

        return self.answered(
            out, work, report=0 if self.fault == 'no_scan_flags' else report
        )

    def misread(self, indices):
        if self.fault != 'swapped_index':
            return indices
        return [x.view(x.dtype.newbyteorder('=')) for x in indices]

    def reduceat(
        self, name, source, indices, out=None, *, axis=0, dtype=None, threads=0, report=0
    ):
        source = self.plain(source)
        function, ndim = getattr(np, name), np.ndim(source)
        extent = np.shape(source)[axis] if -ndim <= axis < ndim else 0
        indices = self.misread([indices])[0]
        if self.fault == 'clipped' and extent:
            indices = np.clip(indices, 0, extent - 1)

        def work(target):
            result = function.reduceat(source, indices, axis, self.dtype(dtype), target)
            if self.fault == 'reduceat_end' and np.ndim(source) == 1 and result.dtype.kind != 'm':
                for k in range(len(indices) - 1):
                    if indices[k] > indices[k + 1]:
                        result[k] = function.reduce(source[indices[k] :], dtype=result.dtype)
            return result

        return self.answered(out, work, report=report)

    def outer(
        self, name, inputs, out=None, *, where=None, dtype=None, order='K', threads=0, report=0
    ):
        options = {'order': order, 'dtype': self.dtype(dtype), 'out': out}
        if where is not None:
            options['where'] = where
        inputs = [self.plain(x) for x in inputs]
        if self.fault == 'outer_order':
            inputs = inputs[::-1]
        return self.answered(
            out, lambda _: getattr(np, name).outer(*inputs, **options), report=report
        )

    def at(self, name, array, indices, *operand, threads=0, report=0):
        operand = [spread(self.plain(x), indices, array) for x in operand]
        indices = self.misread(indices)
        if self.fault == 'negative_index':
            indices = [np.where(x < 0, x - 1, x) if x.dtype.kind == 'i' else x for x in indices]
        if self.fault == 'clipped' and indices and array.ndim:
            indices = [np.clip(x, -n, n - 1) for x, n in zip(indices, array.shape)] + indices[
                array.ndim :
            ]

        def work(target):
            if self.fault == 'buffered_at' and indices and len(operand) == 1 and array.ndim == 1:
                new = getattr(np, name)(target[tuple(indices)], *operand)
                target[tuple(indices)] = new.astype(target.dtype)
            else:
                getattr(np, name).at(target, tuple(indices), *operand)

        return self.answered(array, work, report=report)


class ReadsOutside(NumpyLibrary):
    """NumPy, which before each call reads one byte outside each operand. `how` is 'reads beyond',
    'reads before', or None for no such read."""

    def __init__(self, how, caller_path):
        super().__init__(None, caller_path)
        self.how = how

    def read(self, *operands):
        for operand in operands:
            if self.how and isinstance(operand, np.ndarray) and operand.size:
                first, end = np.lib.array_utils.byte_bounds(operand)
                ct.string_at(end if self.how == 'reads beyond' else first - 1, 1)

    def call(self, name, inputs, outputs, **options):
        self.read(*inputs, *outputs)
        return super().call(name, inputs, outputs, **options)

    def outer_of_several(self, name, inputs, outputs, **options):
        self.read(*inputs, *outputs)
        return super().outer_of_several(name, inputs, outputs, **options)

    def reduce(self, name, source, out=None, **options):
        self.read(source, out)
        return super().reduce(name, source, out, **options)

    def accumulate(self, name, source, out=None, **options):
        self.read(source, out)
        return super().accumulate(name, source, out, **options)

    def reduceat(self, name, source, indices, out=None, **options):
        self.read(source, out)
        return super().reduceat(name, source, indices, out, **options)

    def outer(self, name, inputs, out=None, **options):
        self.read(*inputs, out)
        return super().outer(name, inputs, out, **options)

    def at(self, name, array, indices, *operand, **options):
        self.read(array, *operand)
        return super().at(name, array, indices, *operand, **options)
