# SPDX-License-Identifier: Apache-2.0
"""Makes the same call in NumPy and in the library, and checks that each returns the expected
result."""

import numpy as np

import abi
import method_judge
from build import numpy_letter
from error_texts import text_difference
from judge import letter_of, same_bits
from numpy_ufuncs import numpy_function

FLOATING_POINT = 700
FLAGS = {1: 'divide', 2: 'overflow', 4: 'underflow', 8: 'invalid', 16: 'divide'}
ALL_FLAGS = sum(FLAGS)


def names_of(fp_flags):
    return {name for bit, name in FLAGS.items() if fp_flags & bit}


def array(values, letter=None):
    return np.array(values, np.dtype(numpy_letter(letter)) if letter else None)


class Both:
    def __init__(self, library):
        self.library, self.notes, self.answers = library, [], 0

    def same(self, side, found, expected):
        expected = np.asarray(expected)
        found = np.asarray(found)
        assert letter_of(found.dtype) == letter_of(
            expected.dtype
        ), f'{side}: dtype {found.dtype}, expected {expected.dtype}'
        assert (
            found.shape == expected.shape
        ), f'{side}: shape {found.shape}, expected {expected.shape}'
        assert same_bits(
            np.atleast_1d(found), np.atleast_1d(expected)
        ).all(), f'{side}: {found!r}, expected {expected!r}'
        self.answers += 1

    def ours(self, name, inputs, outputs=None, **options):
        """Calls the library and returns its results, allocated or written into `outputs`."""
        results = self.library.call(name, inputs, outputs or [None], **options)
        return [r[1] if isinstance(r, tuple) else r for r in results]

    def returns(self, name, inputs, *expected, numpy=True, **options):
        """Checks the results of a call in NumPy and in the library: values, dtypes, shapes, and
        signs of zeros."""
        if numpy:
            theirs = self.numpy(name, inputs, options)
            for found, one in zip(theirs, expected, strict=True):
                self.same('NumPy', found, one)
        found = self.ours(name, inputs, [None] * len(expected), **options)
        for mine, one in zip(found, expected, strict=True):
            self.same('library', mine, one)

    @staticmethod
    def numpy(name, inputs, options):
        options = dict(options)
        if options.get('dtype'):
            options['dtype'] = np.dtype(numpy_letter(options['dtype']))
        if options.get('axes'):
            options['axes'] = [tuple(group) for group in options['axes']]
        result = getattr(np, name)(*inputs, **options)
        return result if isinstance(result, tuple) else (result,)

    def writes(self, name, make, expected, **options):
        """Checks a call, in NumPy and in the library, with outputs that the caller provides.
        `make()` returns new inputs and one output or a tuple of outputs, which must be equal to
        `expected` after the call."""
        for side in ('NumPy', 'library'):
            inputs, out = make()
            outs = out if isinstance(out, tuple) else (out,)
            if side == 'NumPy':
                getattr(np, name)(*inputs, out=outs, **options)
            else:
                self.library.call(name, inputs, outs, **options)
            for found, one in zip(outs, expected if outs is out else [expected], strict=True):
                self.same(side, found, one)

    def refuses(self, name, inputs, kind, text='', outputs=None, status=None, **options):
        """Checks that NumPy rejects a call with an error of class `kind`, and that the library
        rejects it with the matching status and NumPy's message."""
        options = {'outputs': outputs or [None], **options}

        def numpy():
            keywords = {k: v for k, v in options.items() if k != 'outputs'}
            if outputs:
                keywords['out'] = tuple(outputs)
            return self.numpy(name, inputs, keywords)

        self.fails(numpy, lambda: self.library.call(name, inputs, **options), kind, text, status)

    def fails(self, numpy, ours, kind, text, status=None):
        try:
            numpy()
            raise AssertionError('NumPy: no error')
        except kind as error:
            assert text in str(error), f'NumPy: "{error}", expected "{text}"'
            theirs = error
        try:
            ours()
            raise AssertionError('library: no error')
        except abi.GufuncError as error:
            good = error.status == status or method_judge.same_class(theirs, error.status)
            assert good, f'library: {error.status} "{error}" for {type(theirs).__name__}'
            assert status or not text_difference(str(theirs), str(error)), f'library: "{error}"'
        self.answers += 1

    def like_numpy(self, numpy, ours):
        """Checks that the library returns the same result as NumPy, or fails with NumPy's message
        if NumPy fails."""
        try:
            expected = numpy()
        except Exception as error:  # noqa: BLE001 - any class is accepted
            self.fails(numpy, ours, type(error), '')
        else:
            self.same('library', ours(), expected)

    def fp_flags(self, name, inputs, expected):
        """Checks the floating-point flags of a call, by their names in NumPy's errstate. If a flag
        makes the call fail, the message must be NumPy's."""
        seen = set()
        with np.errstate(all='call', call=lambda _, flag: seen.update(names_of(flag))):
            getattr(np, name)(*inputs)
        assert seen == expected, f'NumPy: fp_flags {seen}, expected {expected}'
        outs = [None] * getattr(np, name).nout
        self.library.call(name, inputs, outs, report=ALL_FLAGS)
        found = names_of(self.library.fp_flags.value)
        assert found == expected, f'library: fp_flags: expected {expected}, got {found}'
        self.answers += 1
        if expected:
            self.fails(
                lambda: self.raising(name, inputs),
                lambda: self.library.call(name, inputs, outs, fail=ALL_FLAGS),
                FloatingPointError,
                'encountered in',
                status=FLOATING_POINT,
            )

    def own_rule(self, call, status):
        """Checks that the library rejects a call for which NumPy behaves incorrectly
        (docs/numpy-deviations.md)."""
        try:
            call()
            raise AssertionError(f'library: no error, expected {status}')
        except abi.GufuncError as error:
            assert error.status == status, f'library: {error.status} "{error}", expected {status}'
        self.answers += 1

    @staticmethod
    def raising(name, inputs):
        with np.errstate(all='raise'):
            getattr(np, name)(*inputs)

    def method(self, method, name, *inputs, expected, **options):
        """Checks the result of a method in NumPy and in the library."""
        theirs = self.numpy_method(method, name, inputs, options)
        self.same('NumPy', theirs, expected)
        self.same('library', self.our_method(method, name, inputs, options), expected)

    def method_fails(self, method, name, *inputs, kind, text='', **options):
        self.fails(
            lambda: self.numpy_method(method, name, inputs, options),
            lambda: self.our_method(method, name, inputs, options),
            kind,
            text,
        )

    @staticmethod
    def numpy_method(method, name, inputs, options):
        options = dict(options)
        if options.get('dtype'):
            options['dtype'] = np.dtype(numpy_letter(options['dtype']))
        result = getattr(numpy_function(name), method)(*inputs, **options)
        return inputs[0] if method == 'at' else result

    def our_method(self, method, name, inputs, options):
        if method == 'at':
            indices = inputs[1] if isinstance(inputs[1], tuple) else (inputs[1],)
            self.library.at(name, inputs[0], indices, *inputs[2:])
            return inputs[0]
        if method == 'outer':
            inputs = (inputs,)
        result = getattr(self.library, method)(name, *inputs, **options)
        return result[1] if isinstance(result, tuple) else result
