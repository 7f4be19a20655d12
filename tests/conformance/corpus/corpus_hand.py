# SPDX-License-Identifier: Apache-2.0
"""Provides the class Call for cases that are written by hand. A Call has NumPy arrays as operands,
and the expected results."""

import numpy as np

import statuses
from corpus_pool import Buffers, dtype_name, integer, result


class Call:
    """A call or method with the keywords of the corpus. `out` is a list with one entry per
    output."""

    def __init__(self, ufunc, *inputs, method='call', out=None, where=None, **keywords):
        self.ufunc, self.inputs, self.method = ufunc, inputs, method
        self.out, self.where, self.keywords = out, where, keywords
        self.expect = {}

    def returns(self, *results, ulp=0, inouts=None, fp_flags=None):
        """Sets the expected results: one per output, or one per input that `inouts` lists."""
        self.expect = {'results': results, 'ulp': ulp, 'inouts': inouts, 'fp_flags': fp_flags}
        return self

    def fails(self, status, message=None, written=False):
        self.expect = {'status': status, 'message': message, 'written': written}
        return self

    def fails_as(self, numpy_call):
        """Expects the error that NumPy raises in `numpy_call`."""
        try:
            numpy_call()
        except Exception as error:  # noqa: BLE001 - status_of maps the error
            status = statuses.status_of(error)
            assert status, f'{type(error).__name__}: {error}'
            return self.fails(status, statuses.text_of(error))
        raise AssertionError(f'NumPy accepts {self.ufunc}')

    def written(self, blob):
        buffers = Buffers(blob)
        made = {'ufunc': self.ufunc, 'method': self.method, 'buffers': buffers.list}
        made['inputs'] = [buffers.operand(x) for x in self.inputs]
        if self.out is not None:
            made['outputs'] = [buffers.operand(x) for x in self.out]
        if self.where is not None:
            made['where'] = buffers.operand(self.where)
        for key, value in self.keywords.items():
            made[key] = keyword(buffers, key, value)
        made['expect'] = self.expected(blob)
        return made

    def expected(self, blob):
        if 'status' in self.expect:
            return {k: v for k, v in self.expect.items() if v}
        made = {'status': 'GUF_OK', 'results': []}
        for k, array in enumerate(self.expect['results']):
            array = np.asarray(array)
            defined = None
            if self.where is not None and not (self.out and self.out[k] is not None):
                defined = self.where if self.method in ('call', 'outer') else None
            made['results'].append(result(blob, array, self.expect['ulp'], defined=defined))
        for key in ('inouts', 'fp_flags'):
            if self.expect[key] is not None:
                made[key] = self.expect[key]
        return made


def keyword(buffers, key, value):
    if key == 'indices':
        return [buffers.operand(x) for x in value]
    if key == 'initial' and not isinstance(value, str):
        return buffers.operand(np.array(value) if isinstance(value, np.generic) else value)
    if key == 'axis' and isinstance(value, (list, tuple)):
        return [integer(a) for a in value]
    if key == 'dtype':
        return dtype_name(value)
    if key == 'signature':
        return [one and dtype_name(one) for one in value]
    return value


def by_hand(calls):
    """Returns the function that makes a group from the cases that `calls` returns."""

    def make(group, blob):
        return [call.written(blob) for call in calls()], {}

    return make


def misplaced(array):
    """Returns a copy of an array at an odd address, where only one-byte elements are aligned."""
    block = np.zeros(array.nbytes + 1, np.uint8)
    view = block[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


def swapped(array):
    return array.astype(array.dtype.newbyteorder())
