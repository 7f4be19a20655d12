# SPDX-License-Identifier: Apache-2.0
"""Builds a case in memory: buffers with values, views of the buffers, scalars, and the arguments of
methods. Also calls NumPy's methods."""

import ctypes
import mmap

import numpy as np

import abi

LIBC = ctypes.CDLL(None, use_errno=True)

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-40,
    6e-8,
    65504.0,
    3e38,
    1e300,
]


def random_values(rng, dtype, n, values):
    """Returns n elements of the kind `values`: `small` numbers, with which results stay in range,
    `mixed` numbers of any magnitude, or `special` values such as NaN. For floats, `whole` means
    small integers except 0 and `powers` means powers of two, so that sums of the former and
    products of the latter are exact."""
    kind = np.dtype(dtype).kind
    if kind == 'b':
        return rng.integers(0, 2, n).astype(bool)
    if kind in 'mM':
        steps = random_datetimes(rng, n, values)
        if kind == 'M' and np.datetime_data(np.dtype(dtype))[0] in 'YM':
            # For dates beyond this limit an intermediate result overflows, and NumPy's wrapped
            # values depend on its implementation.
            steps = np.where(np.abs(steps) < 2**38, steps, -(2**63))
        return steps.view(np.dtype(dtype))
    if kind in 'iu':
        info = np.iinfo(dtype)
        if values in ('small', 'whole', 'powers'):
            return rng.integers(max(info.min, -9), 12, n).astype(dtype)
        full = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        if values == 'mixed':
            return full
        corners = np.array([0, 1, info.min, info.max, info.max - 1, 2, 3], dtype)
        return np.where(rng.random(n) < 0.6, rng.choice(corners, n), full)
    if kind == 'c':
        part = np.dtype(dtype).char.lower()
        real, imag = (random_values(rng, part, n, values) for _ in range(2))
        result = np.empty(n, dtype)
        result.real, result.imag = real, imag
        return result
    if values == 'whole':
        return (rng.integers(1, 6, n) * rng.choice([-1, 1], n)).astype(dtype)
    if values == 'powers':
        return rng.choice([-2, -1, -0.5, 0.5, 1, 1, -1, 2], n).astype(dtype)
    small = np.round(rng.normal(0, 3, n), 2)
    if values == 'small':
        return small.astype(dtype)
    with np.errstate(all='ignore'):
        wide = (small * np.exp2(rng.integers(-30, 30, n) * 1.0)).astype(dtype)
        corners = np.array(SPECIAL).astype(dtype)
    share = 0.05 if values == 'mixed' else 0.5
    return np.where(rng.random(n) < share, rng.choice(corners, n), wide)


def random_datetimes(rng, n, values):
    """Returns numbers of time steps, some of which are not-a-time. With `mixed` they have any
    magnitude."""
    few = rng.integers(-9, 12, n)
    wide = rng.integers(-(2**62), 2**62, n) >> rng.integers(0, 62, n)
    corners = np.array([-(2**63), -(2**63) + 1, 2**63 - 1, 0, -1, 365, 719468])
    share = {'small': 0.05, 'mixed': 0.05, 'special': 0.5}[values]
    corner = rng.choice(corners[: 1 if values == 'small' else 7], n)
    return np.where(rng.random(n) < share, corner, few if values == 'small' else wide)


def to_bfloat16_bits(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), ((bits >> 16) | 0x40).astype(np.uint16), rounded)


def from_bfloat16_bits(bits):
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def address_of(array):
    return array.__array_interface__['data'][0]


def numpy_letter(letter):
    """Returns NumPy's letter for a dtype. NumPy's letter for int64 is 'l', because 'q' is a
    different C type of the same size."""
    return {'q': 'l', 'Q': 'L'}.get(letter, letter)


def buffer_values(case, number):
    """Returns the initial elements of a buffer of a case."""
    spec = case['buffers'][number]
    rng = np.random.default_rng([case['seed'], number])
    if spec['dtype'] == 'E':
        values = to_bfloat16_bits(random_values(rng, 'f', spec['n'], spec['values']))
    else:
        values = random_values(rng, numpy_letter(spec['dtype']), spec['n'], spec['values'])
    if spec['swapped']:
        values = values.astype(values.dtype.newbyteorder())
    return values


class LastValues:
    """Caches the buffers of the last case, because each case is built several times: for NumPy, for
    the library, and for the comparison of their results."""

    def __init__(self):
        self.key, self.values = None, None

    def of(self, case):
        key = (case['seed'], *[tuple(spec.values()) for spec in case['buffers']])
        if key != self.key:
            self.values = [buffer_values(case, number) for number in range(len(case['buffers']))]
            self.key = key
        return self.values


LAST = LastValues()


def guarded_block(nbytes):
    """Returns zeroed pages for `nbytes` bytes between two inaccessible pages."""
    size = -(-max(nbytes, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    block = np.frombuffer(mmap.mmap(-1, size + 2 * mmap.PAGESIZE), np.uint8)
    for guard in (0, mmap.PAGESIZE + size):
        address = ctypes.c_void_p(address_of(block) + guard)
        if LIBC.mprotect(address, ctypes.c_size_t(mmap.PAGESIZE), 0) != 0:
            raise OSError(ctypes.get_errno(), 'mprotect')
    return block[mmap.PAGESIZE : mmap.PAGESIZE + size]


class Memory:
    """The buffers of a case. All Memory objects of a case contain equal bytes. The library's
    buffers are guarded: each begins or ends at an inaccessible page."""

    def __init__(self, case, guarded=False):
        self.raw = []
        for number, (spec, values) in enumerate(zip(case['buffers'], LAST.of(case))):
            shift = int(spec['misaligned'] and values.itemsize > 1)
            if guarded:
                block = guarded_block(values.nbytes + shift)
                at_end = (case['seed'] + number) % 2
                start = block.size - values.nbytes - shift if at_end else shift
            else:
                block = np.zeros(values.nbytes + 32, np.uint8)
                start = -address_of(block) % 16 + shift
            block[start : start + values.nbytes] = values.view(np.uint8).ravel()
            self.raw.append((block, start, values))

    def view(self, spec):
        block, start, values = self.raw[spec['buffer']]
        dtype = values.dtype
        strides = [s * dtype.itemsize for s in spec['strides']]
        return np.ndarray(
            spec['shape'], dtype, block, start + spec['offset'] * dtype.itemsize, strides
        )

    def bytes(self):
        """Returns the bytes of the buffers and the bytes around them, which are zero unless a call
        overwrote them."""
        found = []
        for block, start, values in self.raw:
            end = start + values.nbytes
            around = [bytes(part).strip(b'\0') for part in (block[:start], block[end:])]
            found.append((bytes(block[start:end]), *around))
        return found


def scalar(spec):
    rng = np.random.default_rng(spec['seed'])
    return random_values(rng, numpy_letter(spec['scalar']), 1, spec.get('values', 'mixed'))[0]


def value(memory, spec):
    """Returns the operand of a spec: a view, a NumPy scalar, or a Python number."""
    if 'weak_int' in spec:
        return int(spec['weak_int'])
    if 'weak_float' in spec:
        return float(spec['weak_float'])
    if 'weak_complex' in spec:
        return complex(*spec['weak_complex'])
    if 'scalar' in spec:
        return scalar(spec)
    return memory.view(spec)


def is_bfloat16(case):
    return any(buffer['dtype'] == 'E' for buffer in case['buffers'])


def library_value(memory, spec, case):
    operand = value(memory, spec)
    if 'buffer' in spec and case['buffers'][spec['buffer']]['dtype'] == 'E':
        return abi.BFloat16(operand)
    return operand


def apart(case, x, out):
    """Returns an input or a mask that shares no memory with the output. NumPy documents that
    overlapping operands have the same result as separate operands, but NumPy's result is sometimes
    wrong: NumPy 2.4.6 computes `negative` of every fourth int32 into a strided output incorrectly
    for any overlap."""
    if out is None or not isinstance(x, np.ndarray):
        return x
    return x.copy() if case['op'] == 'negative' or np.may_share_memory(x, out) else x


def mask_option(case, memory, out):
    """Returns where= for NumPy if the case has a mask."""
    return {'where': apart(case, memory.view(case['where']), out)} if case.get('where') else {}


def index_array(spec):
    """Returns the indices of a case, with the stride of the case, so that strides of indices are
    tested."""
    dtype = np.dtype(numpy_letter(spec['dtype']))
    values = np.array(spec['values'], dtype.newbyteorder() if spec.get('swapped') else dtype)
    values = values.reshape(spec['shape'])
    if values.ndim and spec['step'] != 1:
        wide = np.zeros((*values.shape[:-1], values.shape[-1] * abs(spec['step'])), values.dtype)
        view = wide[..., :: spec['step']]
        view[...] = values
        return view
    return values


def initial_of(case, absent):
    if 'initial' not in case:
        return absent
    if case['initial'] == 'none':
        return None
    initial = value(None, case['initial'])
    # NumPy casts the scalar in the same way as a 0-d array.
    return np.array(initial) if isinstance(initial, np.generic) else initial


def axis_of(case):
    axis = case.get('axis', 0)
    return None if axis == 'all' else tuple(axis) if isinstance(axis, list) else axis


def numpy_dtype(case):
    return np.dtype(numpy_letter(case['dtype'])) if case.get('dtype') else None


def spread(operand, indices, out):
    """Broadcasts the operand of `at` to the shape of the indexed elements, because NumPy 2.4 reads
    beyond the end of a smaller operand if an index array has several dimensions."""
    if not any(index.ndim > 1 for index in indices):
        return operand
    try:
        picked = np.broadcast_shapes(*[index.shape for index in indices])
        return np.array(np.broadcast_to(operand, (*picked, *out.shape[len(indices) :])))
    except ValueError:
        return operand


def numpy_method(case, function, inputs, out, memory):
    """Calls NumPy's method on the given operands."""
    method = case['method']
    if method == 'at':
        indices = tuple(index_array(spec) for spec in case['indices'])
        function.at(out, indices, *[spread(x, indices, out) for x in inputs])
        return out
    options = {'dtype': numpy_dtype(case), 'out': out}
    if method != 'outer':
        options['axis'] = axis_of(case)
    if method == 'reduce':
        options['keepdims'] = bool(case.get('keepdims'))
        initial = initial_of(case, abi.ABSENT)
        if initial is not abi.ABSENT:
            options['initial'] = initial
    options |= mask_option(case, memory, out)
    if method == 'outer':
        options['order'] = case['order']
    if method == 'reduceat':
        inputs = [*inputs, index_array(case['indices'][0])]
    return getattr(function, method)(*inputs, **options)
