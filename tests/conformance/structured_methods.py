# SPDX-License-Identifier: Apache-2.0
"""Tests reduce, accumulate, reduceat and at on structured dtypes. The results are compared with
NumPy's add_triplet. If the result depends on the order of the reduction, the elements are structs
of 1 to 4095 bytes and the results are compared with an independent implementation of the order in
docs/reductions.md. All loops are host loops, so a device must reject every call that has elements.

    structured_methods.py --library LIBGUFUNC [--cases N] [--seed N] [--device cuda:0]
"""

import argparse
import ctypes as ct
import os
import random
import sys

import numpy as np
from numpy._core._struct_ufunc_tests import add_triplet

import abi
import fold_order
from cases import layout
from state_reductions import LOOP, LoopDesc, UfuncDesc

TRIPLET = add_triplet.resolve_dtypes((np.dtype('u8,u8,u8'),) * 2 + (None,))[0]
SIZES = {1: 1, 5: 1, 12: 4, 16: 16, 24: 8, 192: 64, 260: 4, 600: 8, 4095: 1}
TREE, NONE, REORDERABLE = 6, 0, 1  # flags of an associative and commutative function; identities
REFUSALS = {
    'methods of structured dtypes': {
        abi.GUF_E_UNSUPPORTED: ['do not accept elements of structured dtype']
    },
    'host loops': {abi.GUF_E_NO_IMAGE: ['is a host function, which device']},
}
faults = []


class Skipped(Exception):
    pass


def mixed(a, b):
    """Combines two bytes. The function is neither associative nor commutative, so each order of a
    reduction results in different bytes."""
    return a * np.uint8(31) + b


def added(a, b):
    return (a.T.copy().view(np.uint64) + b.T.copy().view(np.uint64)).view(np.uint8).T


def loop_of(function, size, alignment):
    """Returns a host loop that calls `function` on arrays whose first axis is the byte within an
    element and whose second axis is the element. The loop detects misaligned operands."""

    @LOOP
    def loop(args, dims, steps, _):
        count, views = dims[0], []
        for i in range(3):
            base, step = args[i], steps[i]
            low = min(0, step * (count - 1))
            span = abs(step) * (count - 1) + size
            if base % alignment or step % alignment:
                faults.append(f'an operand of alignment {alignment} at {base}, step {step}')
            raw = (ct.c_uint8 * span).from_address(base + low)
            views.append(np.ndarray((size, count), np.uint8, raw, -low, (1, step)))
        views[2][...] = function(np.array(views[0]), np.array(views[1]))

    return loop


class Library(abi.Library):
    def __init__(self, path):
        super().__init__(path)
        self.codes, self.loops = {}, []
        for size, alignment in SIZES.items():
            self.add_structured(size, alignment)
            for order, flags in (('tree', TREE), ('left', 0)):
                self.add_ufunc(f'{order}_{size}', size, mixed, flags, REORDERABLE)
        for order, flags in (('tree', TREE), ('left', 0)):
            self.add_ufunc(f'add_triplet_{order}', 24, added, flags, NONE)

    def check(self, status):
        try:
            super().check(status)
        except abi.GufuncError as error:
            if any(self.skips(error, name, texts) for name, texts in REFUSALS.items()):
                raise Skipped from error
            raise

    def add_structured(self, size, alignment):
        code = ct.c_uint32()
        name = b'bytes_of_the_test_%d' % size
        self.check(self.lib.guf_dtype_register(name, size, alignment, ct.byref(code), None))
        self.codes[size] = abi.DTYPES[f'V{size}'] = code.value
        abi.LETTERS[code.value] = f'V{size}'

    def add_ufunc(self, name, size, function, flags, identity):
        desc = UfuncDesc(ct.sizeof(UfuncDesc), 2, 1, identity, flags, name=name.encode())
        handle, error = ct.c_void_p(), ct.byref(self.error)
        self.check(self.lib.guf_ufunc_create(None, ct.byref(desc), ct.byref(handle), error))
        types = (ct.c_uint32 * 3)(*[self.codes[size]] * 3)
        self.loops.append(loop_of(function, size, SIZES[size]))
        any_thread = 1 if size % 2 else 0
        loop = LoopDesc(ct.sizeof(LoopDesc), 1, any_thread, 3, types, self.loops[-1])
        self.check(self.lib.guf_ufunc_add_loop(handle, ct.byref(loop), error))

    def operand(self, value, keep):
        if isinstance(value, np.ndarray) and value.dtype.kind == 'V':
            abi.DTYPES['V'] = self.codes[value.dtype.itemsize]
        return super().operand(value, keep)


def structured_array(rng, shape, dtype):
    """Returns an array of random bytes with random strides, sometimes at an odd address."""
    strides, offset, span = layout(rng, shape)
    odd = rng.choice([0, 0, 1])
    size = dtype.itemsize
    raw = np.random.default_rng(rng.randrange(1 << 30)).integers(0, 256, (span + 4) * size + 1)
    raw = raw.astype(np.uint8)
    return np.ndarray(shape, dtype, raw, odd + offset * size, [s * size for s in strides])


def random_shape(rng, size):
    most = 3000 if size < 300 else 300
    if rng.random() < 0.4:
        return [rng.choice([rng.randint(1, 20), rng.randint(100, most)])]
    if rng.random() < 0.5:
        tall = [rng.randint(1, most // 4), rng.randint(1, 5)]
        return rng.choice([tall, [3, rng.randint(1, 300)]])
    return [rng.randint(1, 5) for _ in range(3)]


# An independent implementation of the order of reductions. An element is a column of bytes,
# followed by a byte that is 1 if the element is present.


def joined(a, b):
    both, only = mixed(a, b), np.where(a[-1] != 0, a, b)
    out = np.where((a[-1] & b[-1]) != 0, both, only)
    out[-1] = a[-1] | b[-1]
    return out


def left(x):
    total = x[..., 0]
    for i in range(1, x.shape[-1]):
        total = joined(total, x[..., i])
    return total


def left_scan(x):
    out = np.array(x)
    for i in range(1, x.shape[-1]):
        out[..., i] = joined(out[..., i - 1], out[..., i])
    return out


def columns(array, mask=None):
    """Returns an array whose first axis contains the bytes and the presence byte. The axes of the
    original array follow."""
    size = array.dtype.itemsize
    flat = np.frombuffer(array.tobytes(), np.uint8).reshape(array.shape + (size,))
    there = np.broadcast_to(True if mask is None else mask, array.shape).astype(np.uint8)
    return np.concatenate([np.moveaxis(flat, -1, 0), there[None]])


def bytes_of(array):
    return columns(array)[:-1]


def reduced(x, axes, by_tree, start):
    for number, axis in enumerate(sorted(axes, reverse=True)):
        line = np.moveaxis(x, axis + 1, -1)
        if start is not None and not by_tree and number + 1 == len(axes):
            first = np.broadcast_to(start.reshape((-1,) + (1,) * (line.ndim - 1)),
                                    line.shape[:-1] + (1,))
            line = np.concatenate([first, line], -1)
        x = fold_order.tree(joined, line) if by_tree else left(line)
    if start is not None and (by_tree or not axes):
        x = joined(np.broadcast_to(start.reshape((-1,) + (1,) * (x.ndim - 1)), x.shape), x)
    return x[:-1]


def same(found, expected):
    return bytes_of(found).shape == expected.shape and np.array_equal(bytes_of(found), expected)


def reduce_difference(rng, library):
    size = rng.choice(list(SIZES))
    order, dtype = rng.choice(['tree', 'left']), np.dtype(f'V{size}')
    x = structured_array(rng, random_shape(rng, size), dtype)
    axes = rng.sample(range(x.ndim), rng.choice([0, 1, 1, x.ndim]))
    options, start, mask = {'axis': axes}, None, None
    if rng.random() < 0.5:
        options['initial'] = structured_array(rng, [], dtype)
        start = columns(options['initial'])
        if rng.random() < 0.7:
            density = rng.choice([0.0, 0.1, 0.7])
            mask = np.random.default_rng(rng.randrange(1 << 30)).random(x.shape) < density
            options['where'] = mask
    expected = reduced(columns(x, mask), axes, order == 'tree', start)
    if rng.random() < 0.3:
        kept = [n for k, n in enumerate(x.shape) if k not in axes]
        options['out'] = structured_array(rng, kept, dtype)
    found = library.reduce(f'{order}_{size}', x, threads=rng.choice([1, 3]), **options)
    found = options['out'] if 'out' in options else found[1]
    fine = same(found, expected)
    return None if fine else f'{order}_{size}.reduce {x.shape} {x.strides} {options.keys()} {axes}'


def accumulate_difference(rng, library):
    size = rng.choice(list(SIZES))
    order = rng.choice(['tree', 'left'])
    x = structured_array(rng, random_shape(rng, size), np.dtype(f'V{size}'))
    axis, scan = rng.randrange(x.ndim), left_scan
    if order == 'tree':
        def scan(line):
            return fold_order.scan(joined, line)
    expected = np.moveaxis(scan(np.moveaxis(columns(x), axis + 1, -1)), -1, axis + 1)[:-1]
    out = structured_array(rng, list(x.shape), x.dtype) if rng.random() < 0.3 else None
    found = library.accumulate(f'{order}_{size}', x, out, axis=axis, threads=rng.choice([1, 3]))
    fine = same(found[1] if out is None else out, expected)
    return None if fine else f'{order}_{size}.accumulate {x.shape} {x.strides} axis {axis}'


def reduceat_difference(rng, library):
    size = rng.choice(list(SIZES))
    order = rng.choice(['tree', 'left'])
    x = structured_array(rng, random_shape(rng, size), np.dtype(f'V{size}'))
    axis = rng.randrange(x.ndim)
    n = x.shape[axis]
    indices = np.array([rng.randrange(n) for _ in range(rng.randint(1, 6))])
    line, parts = np.moveaxis(columns(x), axis + 1, -1), []
    for k, first in enumerate(indices):
        end = indices[k + 1] if k + 1 < len(indices) else n
        stretch = line[..., first : max(end, first + 1)]
        parts.append(fold_order.tree(joined, stretch) if order == 'tree' else left(stretch))
    expected = np.moveaxis(np.stack(parts, -1), -1, axis + 1)[:-1]
    found = library.reduceat(f'{order}_{size}', x, indices, axis=axis)[1]
    fine = same(found, expected)
    return None if fine else f'{order}_{size}.reduceat {x.shape} axis {axis}, {indices}'


def at_difference(rng, library):
    size = rng.choice(list(SIZES))
    dtype = np.dtype(f'V{size}')
    array = structured_array(rng, random_shape(rng, size)[:2], dtype)
    count = rng.choice([1, 3, 40, 600])
    indices = np.array([rng.randrange(-len(array), len(array)) for _ in range(count)])
    operand = structured_array(rng, rng.choice([[], [count] + [1] * (array.ndim - 1)]), dtype)
    state = columns(array)
    several = np.broadcast_to(operand, (count,) + array.shape[1:])
    theirs = columns(several)
    for k, index in enumerate(indices):
        state[:, index] = joined(state[:, index], theirs[:, k])
    library.at(f'left_{size}', array, [indices], operand)
    return None if same(array, state[:-1]) else f'left_{size}.at {array.shape}, {count} indices'


# ---- Comparison with NumPy


def answer(call):
    try:
        return call(), ''
    except (ValueError, TypeError, IndexError, abi.GufuncError) as error:
        return None, str(error).replace('add_triplet_tree', 'add_triplet').replace(
            'add_triplet_left', 'add_triplet')


def numpy_case(rng):
    """Draws a method, its options by name, and the array that it reads."""
    shape = [rng.choice([0, 1, 2, 3, 7, 300]) for _ in range(rng.choice([1, 1, 2]))]
    x = structured_array(rng, shape, TRIPLET)
    method = rng.choice(['reduce', 'reduce', 'accumulate', 'reduceat'])
    options = {'axis': rng.choice([0, -1, 0, len(shape)])}
    if method == 'reduceat':
        options['indices'] = np.array([rng.randint(0, 3) for _ in range(rng.randint(1, 4))])
    if method == 'reduce':
        options['axis'] = rng.choice([0, -1, None, (), tuple(range(x.ndim)), len(shape)])
        options['keepdims'] = rng.random() < 0.3
        if rng.random() < 0.5:
            options['initial'] = rng.choice([None, structured_array(rng, [], TRIPLET)])
        if rng.random() < 0.3:
            options['where'] = np.random.default_rng(rng.randrange(99)).random(shape) < 0.5
    return method, options, x


def numpy_difference(rng, library):
    method, options, x = numpy_case(rng)
    right, refused = answer(lambda: getattr(add_triplet, method)(x, **options))
    if 'out of bounds' in refused:
        refused = 'axis '
    own = dict(options)
    if isinstance(own.get('axis'), tuple):
        own['axis'] = list(own['axis'])
    name = 'add_triplet_' + rng.choice(['tree', 'left'])
    found, text = answer(lambda: getattr(library, method)(name, x, **own))
    what = f'{name}.{method} of {x.shape}, {options}'
    if right is None or found is None:
        fine = right is None and found is None and text.find(refused.split(' <')[0]) >= 0
        return None if fine else f'{what}: expected {refused!r}, got {text!r}'
    fine = same(found[1], bytes_of(np.asarray(right)))
    return None if fine else f'{what}: expected {np.shape(right)}, got {found[1].shape}'


def numpy_at_difference(rng, library):
    array = structured_array(rng, [rng.randint(1, 9)], TRIPLET)
    theirs = array.copy()
    indices = np.array([rng.randrange(-len(array), len(array)) for _ in range(rng.randint(0, 30))],
                       np.int64)
    operand = structured_array(rng, rng.choice([[], [len(indices)]]), TRIPLET)
    add_triplet.at(theirs, indices, operand)
    library.at('add_triplet_left', array, [indices], operand)
    return None if same(array, bytes_of(theirs)) else f'add_triplet.at {indices}'


CHECKS = [reduce_difference, reduce_difference, accumulate_difference, reduceat_difference,
          at_difference, numpy_difference, numpy_difference, numpy_at_difference]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--device', help='device of all calls (default cpu)')
    parser.add_argument('--cases', type=int, default=1200)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    library = Library(os.path.abspath(options.library))
    if options.device:
        library.use_device(options.device)
    rng, differences = random.Random(options.seed), []
    for number in range(options.cases):
        try:
            text = CHECKS[number % len(CHECKS)](rng, library)
        except Skipped:
            continue
        if text is not None:
            differences.append(f'case {number}: {text}')
    for text in (differences + sorted(set(faults)))[:10]:
        print(text)
    print(f'{options.cases} cases, seed {options.seed}: {len(differences)} differences, '
          f'{len(faults)} faults of loops')
    library.report_skipped()
    few = options.device and library.skipped.total() < 0.8 * options.cases
    return 1 if differences or faults or few else 0


if __name__ == '__main__':
    sys.exit(main())
