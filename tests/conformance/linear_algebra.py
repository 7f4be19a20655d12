# SPDX-License-Identifier: Apache-2.0
"""Compares the functions of matrices with numpy.linalg. Calls are random: types, shapes,
broadcasting, layouts, alignment, byte order, axes, provided outputs, overlap, and singular,
indefinite and non-finite matrices. Every call is repeated item by item, and calls on a device are
repeated on the cpu, with the same bits. No call may change an input. The elements that cholesky and
eigh do not read are random too. A few fixed calls follow.

    linear_algebra.py --library LIBGUFUNC [--cases N] [--seed N] [--device cuda:0] [--only NAME...]
"""

import argparse
import os
import random
import sys
import warnings

import numpy as np

import abi
import cases
import judge
from array_functions import Placed

# The number of core dimensions of each input and output.
CORES = {
    'det': ([2], [0]),
    'slogdet': ([2], [0, 0]),
    'inv': ([2], [2]),
    'solve': ([2, 2], [2]),
    'solve1': ([2, 1], [1]),
    'cholesky': ([2], [2]),
    'cholesky_upper': ([2], [2]),
    'qr': ([2], [2, 2]),
    'eigh': ([2], [1, 2]),
    'eigvalsh': ([2], [1]),
}
SIZES = [0, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 16, 33]
KINDS = ['random', 'random', 'random', 'singular', 'zero', 'special']


def is_cholesky(name):
    return name.startswith('cholesky')


def is_hermitian(name):
    return name.startswith('eig')


def random_matrices(nprng, shape, letter, kind, definite):
    """Returns matrices with elements that the type can represent. With `definite`, the matrices are
    Hermitian and positive definite, except for the kinds other than random."""
    n = min(shape[-2:])
    x = nprng.standard_normal(shape)
    if letter in 'FD':
        x = x + 1j * nprng.standard_normal(shape)
    if letter in 'bhiqBHIQ':
        x = np.rint(4 * x)
        x = np.abs(x) if letter in 'BHIQ' else x
    if definite:
        x = x @ x.conj().swapaxes(-1, -2) + np.eye(n)
        if letter in 'bhiqBHIQ':
            x = np.rint(np.clip(x.real, 0 if letter in 'BHIQ' else -100, 100)) + n * 50 * np.eye(n)
    if kind == 'zero':
        x = 0 * x
    some = nprng.random(shape[:-2]) < 0.5
    if kind == 'singular' and n > 1:
        if definite:
            x[some] = -x[some]
        elif letter in 'FD':
            x[some, :, n // 2] = 0
        else:  # two equal rows remain equal in the elimination, so that a pivot is exactly 0
            x[some, 0] = x[some, n - 1]
    x = x.astype(numpy_letter(letter))
    if kind == 'special' and n and letter in 'fdFD':
        at = nprng.integers(n, size=(2,) + shape[:-2])
        values = nprng.choice([np.nan, np.inf, -np.inf], size=shape[:-2])
        for index in np.ndindex(shape[:-2]):
            if np.asarray(some)[index]:
                row, column = at[(slice(None), *index)]
                x[(*index, row, column)] = np.asarray(values)[index]
    return x


def with_unread(x, upper):
    """Changes the elements that cholesky and eigh do not read: the other triangle and the imaginary
    parts of the diagonal."""
    n = x.shape[-1]
    unread = np.tril(np.full((n, n), 7), -1) if upper else np.triu(np.full((n, n), 7), 1)
    if x.dtype.kind == 'c':
        unread = unread + 7j * np.eye(n)
    return (x + unread).astype(x.dtype)


def numpy_letter(letter):
    return {'q': 'l', 'Q': 'L'}.get(letter, letter)


class Call:
    """A random call. `inputs` have their core dimensions last; the operands of the call may have
    them elsewhere."""

    def __init__(self, rng, nprng, name):
        self.name = name
        self.cores, self.out_cores = CORES[name]
        letter = rng.choice('fffdddFFDDbiqI')
        self.letters = [letter] * len(self.cores)
        self.result = {'f': 'f', 'F': 'F', 'D': 'D'}.get(letter, 'd')
        draw = rng.random()
        self.n = 100 if draw < 0.01 else rng.choice(SIZES)
        k = rng.choice([0, 1, 1, 2, 3, 8, 17])
        loop = cases.random_shape(rng)[:2]
        loop = [min(extent, 3 if self.n > 40 else 9 if self.n > 9 else 40) for extent in loop]
        self.kind = rng.choice(KINDS)
        rows = rng.choice(SIZES) if name == 'qr' else self.n
        sizes = [[rows, self.n], [self.n, k] if name == 'solve' else [self.n]]
        self.options = {'threads': rng.choice([0, 1, 3])}
        self.inputs, self.placed, self.axes = [], [], []
        moves = rng.random() < 0.3
        for number, core in enumerate(sizes[: len(self.cores)]):
            shape = tuple(self.repeated(rng, loop) + core)
            if number == 0:
                values = random_matrices(nprng, shape, letter, self.kind, is_cholesky(name))
                if is_cholesky(name) or is_hermitian(name):
                    values = with_unread(values, name == 'cholesky_upper')
            else:
                values = (4 * nprng.standard_normal(shape)).astype(numpy_letter(letter))
            self.add_input(rng, values, len(core), moves)
        self.loop = np.broadcast_shapes(*[x.shape[: x.ndim - core]
                                          for x, core in zip(self.inputs, self.cores)])
        self.shapes = [self.loop + tuple(sizes[-1][:core]) for core in self.out_cores]
        if name in ('inv', 'cholesky', 'cholesky_upper'):
            self.shapes = [self.loop + (self.n, self.n)]
        if name == 'eigh':
            self.shapes[1] += (self.n,)
        if name == 'qr':
            least = min(rows, self.n)
            self.shapes = [self.loop + (rows, least), self.loop + (least, self.n)]
        self.out = [self.draw_output(rng, shape, letter)
                    for shape, letter in zip(self.shapes, self.out_letters())]
        if moves:
            self.options['axes'] = self.axes + [list(range(-core, 0)) for core in self.out_cores]

    @staticmethod
    def repeated(rng, loop):
        """Returns a shape that broadcasts to `loop`."""
        kept = loop[rng.randint(0, len(loop)):] if rng.random() < 0.3 else loop
        return [1 if rng.random() < 0.2 else extent for extent in kept]

    def out_letters(self):
        real = {'F': 'f', 'D': 'd'}.get(self.result, self.result)
        letters = {'slogdet': [self.result, real], 'qr': [self.result] * 2,
                   'eigh': [real, self.result], 'eigvalsh': [real]}
        return letters.get(self.name, [self.result])

    def add_input(self, rng, values, core, moves):
        loop = values.ndim - core
        order = list(range(loop))  # axis k of the operand is axis order[k] of the values
        for axis in range(loop, values.ndim):
            order.insert(rng.randint(0, len(order)) if moves else axis, axis)
        placed = Placed(rng, self.letters[0], tuple(values.shape[axis] for axis in order))
        placed.fill(values.transpose(order))
        self.placed.append(placed)
        self.axes.append([order.index(axis) for axis in range(loop, values.ndim)])
        self.inputs.append(values)

    def draw_output(self, rng, shape, letter):
        if rng.random() < 0.5:
            return None
        for placed in self.placed:
            if placed.letter == letter and placed.view.shape == shape and rng.random() < 0.3:
                return placed
        return Placed(rng, letter, shape)

    def run(self, library):
        """Makes the call, and returns its results."""
        results = library.call(self.name, [placed.view for placed in self.placed],
                               [out and out.view for out in self.out], **self.options)
        found = []
        for out, result, shape in zip(self.out, results, self.shapes):
            values = out.values() if out else result[1]
            assert values.shape == shape, f'expected shape {shape}, got {values.shape}'
            found.append(np.array(values.astype(values.dtype.newbyteorder('='))))
        return found

    def __str__(self):
        shapes = ' '.join(f'{p.letter}{list(p.view.shape)}' for p in self.placed)
        return f'{self.name} {self.kind} {shapes} {self.options}'


def reference(name, inputs):
    """NumPy's results for one item, or None if NumPy refuses the item."""
    try:
        if name == 'solve1':
            return [np.linalg.solve(inputs[0], inputs[1][:, None])[:, 0]]
        if name == 'cholesky_upper':
            return [np.linalg.cholesky(inputs[0].conj().T).conj().T]
        result = getattr(np.linalg, name)(*inputs)
        return list(result) if name == 'slogdet' else [result]
    except np.linalg.LinAlgError:
        return None


def lower_triangle(x):
    """Returns the Hermitian matrix that has the lower triangle of x."""
    below = np.tril(x, -1)
    return below + below.conj().T + np.diag(np.diag(x).real)


def qr_difference(x, q, r, eps):
    unit = 8 * (sum(x.shape) + 2) * eps
    size = np.abs(x).max()
    if np.tril(r, -1).any() or np.diag(r).imag.any():
        return f'expected an upper triangular matrix with a real diagonal, got {r}'
    if not np.abs(q @ r - x).max() <= unit * size:
        return f'the product of the factors is {q @ r}, not {x}'
    if not np.abs(q.conj().T @ q - np.eye(q.shape[1])).max() <= unit:
        return f'the columns are not orthonormal: {q}'
    expected = np.diag(np.linalg.qr(x)[1]).real
    differ = np.sign(expected) != np.sign(np.diag(r).real)
    return 'other signs than NumPy' if (differ & (np.abs(expected) > unit * size)).any() else None


def eigen_difference(x, found, eps):
    unit = 8 * (len(x) + 2) * eps
    expected = np.linalg.eigvalsh(x)
    size = np.abs(expected).max()
    values = found[0].astype('d')
    if (np.diff(values) < 0).any() or not np.abs(values - expected).max() <= unit * size:
        return f'expected the eigenvalues {expected}, got {values}'
    if len(found) == 1:
        return None
    vectors = found[1]
    if not np.abs(x @ vectors - vectors * values).max() <= unit * size:
        return f'not the eigenvectors of {x}: {vectors}'
    if not np.abs(vectors.conj().T @ vectors - np.eye(len(x))).max() <= unit:
        return f'the eigenvectors are not orthonormal: {vectors}'
    return None


def decomposition_difference(call, x, found):
    """Compares an item of qr, eigh or eigvalsh with the properties of the decomposition."""
    if is_hermitian(call.name):
        x = lower_triangle(x)
        if not np.isfinite(x).all():
            return None if all(np.isnan(y).all() for y in found) else f'expected NaN, got {found}'
    if not x.size or not np.isfinite(x).all():
        return None
    eps, wide = judge.EPS[call.result], [y.astype('D' if y.dtype.kind == 'c' else 'd')
                                         for y in found]
    if call.name == 'qr':
        return qr_difference(x, *wide, eps)
    return eigen_difference(x, wide, eps)


def item_difference(call, inputs, found):
    """Compares one item with NumPy, and returns None or a sentence."""
    if call.name == 'qr' or is_hermitian(call.name):
        return decomposition_difference(
            call, inputs[0].astype('D' if call.result in 'FD' else 'd'), found)
    wide = [x.astype('D' if call.result in 'FD' else 'd') for x in inputs]
    if not all(np.isfinite(x).all() for x in wide):
        return None  # any result, but no other item may change
    expected = reference(call.name, wide)
    eps = judge.EPS[call.result]
    singular = not is_cholesky(call.name) and has_zero_pivot(wide[0])
    if expected is None:
        if not singular and not is_cholesky(call.name):
            return None
        return None if all(np.isnan(x).all() for x in found) else 'expected NaN'
    if call.n == 0 or wide[0].size == 0:
        same = all(np.array_equal(x, y) for x, y in zip(found, expected))
        return None if same else f'expected {expected}, got {found}'
    condition = np.linalg.cond(wide[0])
    if not condition * eps < 0.01 and not is_cholesky(call.name):
        return singular_difference(call.name, found) if singular else None
    unit = 8 * (call.n + 2) * eps * (1 if is_cholesky(call.name) else condition)
    for number, (x, y) in enumerate(zip(found, expected)):
        size = np.abs(y).max() if y.size else 0
        if call.name == 'slogdet' and number == 1:
            size = max(size, call.n)
        bound = unit * size + judge.TINY[call.result]
        if size > np.finfo(call.result).max:
            continue
        if not (np.abs(x - y) <= bound).all():
            return f'expected {y}, got {x}, condition {condition:.2g}'
    return None


def has_zero_pivot(x):
    """Whether x is one of the matrices of random_matrices() with a pivot that is exactly 0. For
    other singular matrices, this depends on the order of the operations."""
    n = len(x)
    return n > 0 and (not x.any(0).all() or (n > 1 and (x[0] == x[n - 1]).all()))


def singular_difference(name, found):
    if name == 'det':
        good = found[0] == 0
    elif name == 'slogdet':
        good = found[0] == 0 and found[1] == -np.inf
    else:
        good = all(np.isnan(x).all() for x in found)
    return None if good else f'expected the results of a singular matrix, got {found}'


def difference(call, library):
    """Makes a call, and returns None or a sentence that describes the difference."""
    before = [placed.raw.copy() for placed in call.placed]
    found = call.run(library)
    for placed, raw in zip(call.placed, before):
        if placed not in call.out and not np.array_equal(placed.raw, raw):
            return 'an input changed'
    for out in call.out:
        if out and out.written_around():
            return 'bytes outside the output changed'
    if library.device and not any(out in call.placed for out in call.out):
        device, library.device = library.device, None
        try:
            host = call.run(library)
        finally:
            library.device = device
        if not all(judge.same_bits(x, y).all() for x, y in zip(found, host)):
            return 'the bits differ from those of the cpu'
    wide = [np.broadcast_to(x, call.loop + x.shape[x.ndim - core:])
            for x, core in zip(call.inputs, call.cores)]
    for index in np.ndindex(call.loop):
        inputs, item = [x[index] for x in wide], [x[index] for x in found]
        alone = library.call(call.name, [np.array(x, order='C') for x in inputs],
                             [None] * len(item), threads=1)
        for own, single in zip(item, alone):
            if not judge.same_bits(np.asarray(own), np.asarray(single[1])).all():
                return f'item {index} has other bits than alone: {own}, {single[1]}'
        text = item_difference(call, inputs, item)
        if text:
            return f'item {index}: {text}'
    return None


def fixed_differences(library):
    """Yields a sentence for each fixed call with another result."""
    for dtype, large, small, expected in (('D', 1e308, 1e-300, 2e16j), ('F', 2e38, 1e-30, 8e16j)):
        diagonal = np.array([large * (1 + 1j), large * (1 + 1j), small, small], dtype)
        found = library.call('det', [np.diag(diagonal)], [None])[0][1]
        if not np.abs(found - expected) <= 1e-6 * np.abs(expected):
            yield f'det of {diagonal}: expected {expected}, got {found}'
    for scale in (1e-300, 1e300):  # whose squares are not finite numbers or 0
        matrix = scale * np.array([[2.0, 1, 0], [1, 2, 1], [0, 1, 2]])
        values, vectors = [x[1] for x in library.call('eigh', [matrix], [None, None])]
        if not np.allclose(vectors * values @ vectors.T / scale, matrix / scale, 1e-13, 1e-13):
            yield f'eigh of {matrix}: got {values}, {vectors}'
        q, r = [x[1] for x in library.call('qr', [matrix], [None, None])]
        if not np.allclose(q @ r / scale, matrix / scale, 1e-13, 1e-13):
            yield f'qr of {matrix}: got {q}, {r}'
    matrices = np.random.default_rng(1).standard_normal((20, 4, 4))
    expected = library.call('inv', [matrices[1:].copy()], [None])[0][1]
    library.call('inv', [matrices[1:]], [matrices[:-1]])
    if not np.array_equal(matrices[:-1], expected):
        yield 'inv, whose output overlaps the next items of the input, has other results'


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--device', help='device of all calls (default cpu)')
    parser.add_argument('--cases', type=int, default=3000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', nargs='+', metavar='NAME', choices=list(CORES))
    options = parser.parse_args()
    library = abi.Library(os.path.abspath(options.library))
    if options.device:
        library.use_device(options.device)
    rng, nprng = random.Random(options.seed), np.random.default_rng(options.seed)
    failures, names = 0, options.only or list(CORES)
    for number in range(options.cases):
        call = Call(rng, nprng, names[number % len(names)])
        try:
            text = difference(call, library)
        except abi.GufuncError as error:
            text = f'fails: {error}'
        if text:
            failures += 1
            print(f'DIFFERS {call}: {text}') if failures <= 20 else None
    for text in [] if options.only else fixed_differences(library):
        failures += 1
        print(f'DIFFERS {text}')
    print(f'{options.cases} calls of {len(names)} functions, seed {options.seed}: '
          f'{failures} differ')
    return 1 if failures else 0


if __name__ == '__main__':
    warnings.simplefilter('ignore')  # the calls contain values about which NumPy warns
    np.seterr(all='ignore')
    sys.exit(main())
