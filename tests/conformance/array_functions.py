# SPDX-License-Identifier: Apache-2.0
"""Compares the standard functions that are functions rather than ufuncs in NumPy or SciPy, such as
clip, softmax and sort, with these functions. Calls are random: types, shapes, broadcasting,
layouts, alignment, byte order, axes, provided outputs, overlap and special values. A device must
match the cpu's bits too, except in functions that call exp or log.

    array_functions.py --library LIBGUFUNC [--cases N] [--seed N] [--device cuda:0] [--only NAME...]
"""

import argparse
import functools
import os
import random
import sys
import warnings

import numpy as np

import abi
import build
import cases
import judge
from array_references import FUNCTIONS, Refused


def numpy_dtype(letter):
    return np.dtype({'E': 'H'}.get(letter, build.numpy_letter(letter)))


class Placed:
    """An array in memory of its own, with random strides, alignment and byte order."""

    def __init__(self, rng, letter, shape):
        self.letter = letter
        dtype = numpy_dtype(letter)
        strides, offset, span = cases.layout(rng, list(shape))
        if letter != 'E' and rng.random() < 0.1:
            dtype = dtype.newbyteorder()
        self.raw = np.full(max(span, 1) * dtype.itemsize + 32, 0x5A, np.uint8)
        start = -build.address_of(self.raw) % 16 + (rng.random() < 0.1 and dtype.itemsize > 1)
        self.view = np.ndarray(shape, dtype, self.raw, start + offset * dtype.itemsize,
                               [step * dtype.itemsize for step in strides])
        self.before = self.raw.copy()

    def operand(self):
        return abi.BFloat16(self.view) if self.letter == 'E' else self.view

    def fill(self, values):
        self.view[...] = build.to_bfloat16_bits(values) if self.letter == 'E' else values
        self.before = self.raw.copy()

    def values(self):
        return of_letter(self.view, self.letter)

    def written_around(self):
        """Whether a byte outside the elements changed after fill()."""
        after = self.raw.copy()
        start = build.address_of(self.view) - build.address_of(self.raw)
        for bytes_ in (after, self.before):
            np.ndarray(self.view.shape, self.view.dtype, bytes_, start, self.view.strides)[...] = 0
        return not np.array_equal(after, self.before)


def of_letter(array, letter):
    return build.from_bfloat16_bits(array) if letter == 'E' else array


class Call:
    """A random call of a function. `inputs` have their core dimension last; the operands of the
    call may have it elsewhere."""

    def __init__(self, rng, nprng, name):
        self.name, self.function = name, FUNCTIONS[name]
        function = self.function
        self.letters = function.draw_letters(rng)
        cores = function.draw_cores(rng)
        loop = cases.random_shape(rng)[: 4 if function.elementwise else 2]
        if any(n > 1000 for core in cores for n in core):
            loop = []
        shapes = [cases.narrowed(rng, loop) for _ in self.letters]
        kind = rng.choice(['small', 'small', 'mixed', 'special'])
        self.inputs, self.placed, self.options = [], [], {'threads': rng.choice([0, 1, 3])}
        drawn = function.draw_values(nprng, self.letters, [
            list(shape) + core for shape, core in zip(shapes, cores)], kind)
        moves = rng.random() < 0.3 and not function.elementwise
        self.axes = []
        for letter, core, values in zip(self.letters, cores, drawn):
            at = rng.randrange(values.ndim) if moves and core else values.ndim - 1
            self.axes.append([at - rng.choice([0, values.ndim])] if core else [])
            moved = np.moveaxis(values, -1, at) if core else values
            placed = Placed(rng, letter, moved.shape)
            placed.fill(moved)
            self.placed.append(placed)
            values = placed.values()
            self.inputs.append(np.moveaxis(values, at, -1) if core else values)
        self.inputs = [x.astype(x.dtype.newbyteorder('=')) for x in self.inputs]
        self.keeps, self.out = False, None
        self.moves = moves
        self.expect(cores)
        if not isinstance(self.expected, Refused):
            self.add_axes(rng)
            self.add_output(rng)
        elif moves:
            self.options['axes'] = self.axes + [[-1] if self.function.core_of_output else []]

    def expect(self, cores):
        """Computes the expected result, and the sizes of the terms that were added for it."""
        self.sizes = None
        reference = self.function.reference
        if self.function.free:
            n = cores[-1][0]
            self.options['dims'] = {self.function.free: n}
            reference = functools.partial(self.function.reference, n=n)
        try:
            self.expected = self.per_item(reference, self.inputs, cores)
            if self.function.size:
                absolute = [np.abs(x).astype(np.longdouble) for x in self.inputs]
                self.sizes = self.per_item(self.function.size, absolute, cores)
        except (ValueError, Refused) as error:
            self.expected = Refused(str(error))

    def per_item(self, reference, inputs, cores):
        """Computes a result item by item."""
        if self.function.elementwise:
            self.items = 1
            return reference(*inputs)
        shapes = [x.shape[: x.ndim - len(core)] for x, core in zip(inputs, cores)]
        loop = np.broadcast_shapes(*shapes)
        self.items = int(np.prod(loop, dtype=np.int64))
        ones = [np.ones(core, x.dtype) for x, core in zip(inputs, cores)]
        sample = np.asarray(reference(*ones))
        wide = [np.broadcast_to(x, loop + tuple(core)) for x, core in zip(inputs, cores)]
        result = np.empty(loop + sample.shape, sample.dtype)
        for index in np.ndindex(loop):
            result[index] = reference(*[x[index] for x in wide])
        return result

    def add_axes(self, rng):
        """Chooses the axis of the output's core dimension, and the option axes= or axis=."""
        result = self.function.core_of_output
        if not self.moves:
            return
        self.out_axis = None
        if self.function.one_core and rng.random() < 0.5:
            axis = rng.randrange(-min(x.ndim for x in self.inputs), 0)
            for k, x in enumerate(self.inputs):
                self.place_again(rng, k, np.moveaxis(x, -1, axis))
            self.options['axis'], self.out_axis = axis, axis
            if not result:
                self.keeps = rng.random() < 0.5
                self.options['keepdims'] = self.keeps
        else:
            if result:
                self.out_axis = rng.randrange(-self.expected.ndim, 0)
            own = [self.out_axis] if result else []
            self.options['axes'] = self.axes + [own]
        self.expected = self.moved(self.expected)
        if self.sizes is not None:
            self.sizes = self.moved(self.sizes)

    def moved(self, array):
        """Returns an array of results with the axes of the output."""
        if self.keeps:
            array = np.expand_dims(array, -1)
        if self.function.core_of_output or self.keeps:
            array = np.moveaxis(array, -1, self.out_axis)
        return array

    def place_again(self, rng, k, values):
        self.placed[k] = Placed(rng, self.letters[k], values.shape)
        self.placed[k].fill(values)

    def add_output(self, rng):
        """Sometimes adds an output, which may be an input."""
        self.letter = self.function.result_letter(self.letters, self.expected)
        if rng.random() < 0.5:
            return
        letter = {'e': 'f', 'f': 'd', 'E': 'f', 'b': 'h', 'H': 'I'}.get(self.letter, self.letter)
        letter = rng.choice([self.letter, self.letter, letter])
        alike = [p for p in self.placed
                 if p.letter == letter and p.view.shape == self.expected.shape]
        if alike and rng.random() < 0.3:
            self.out = rng.choice(alike)
        else:
            self.out = Placed(rng, letter, self.expected.shape)
        if rng.random() < 0.5:
            self.options.pop('dims', None)  # the output has the size, too

    def run(self, library):
        """Makes the call, and returns its result."""
        outs = [self.out.operand() if self.out else None]
        inputs = [placed.operand() for placed in self.placed]
        return library.call(self.name, inputs, outs, **self.options)[0]

    def __str__(self):
        shapes = ' '.join(f'{letter}{list(placed.view.shape)}'
                          for letter, placed in zip(self.letters, self.placed))
        return f'{self.name} {shapes} {self.options}'


def result_of(call, result):
    if call.out is not None:
        return call.out.letter, call.out.values()
    return result[0], of_letter(result[1], result[0])


def difference(call, library):
    """Makes a call, and returns None or a sentence that describes the difference."""
    try:
        result = call.run(library)
    except abi.GufuncError as error:
        fits = isinstance(call.expected, Refused)
        return None if fits else f'fails: {error}'
    if isinstance(call.expected, Refused):  # a failure of an item needs an item
        return f'succeeds, but NumPy refuses: {call.expected}' if call.items else None
    letter, found = result_of(call, result)
    if call.out is None and letter != call.letter:
        return f'dtype: expected {call.letter}, got {letter}'
    if found.shape != call.expected.shape:
        return f'shape: expected {call.expected.shape}, got {found.shape}'
    if call.out is not None and call.out.written_around():
        return 'bytes outside the output changed'
    good = call.function.agrees(call, np.asarray(found.astype(found.dtype.newbyteorder('='))))
    if good.all():
        return None
    at = tuple(np.argwhere(~good)[0])
    return f'element {at}: expected {call.expected[at]!r}, got {found[at]!r}'


def device_difference(call, library):
    """Repeats a call on the device and on the cpu, and compares the bits of the results."""
    device, library.device = library.device, None
    try:
        _, host = result_of(call, call.run(library))
        host = host.copy()
    finally:
        library.device = device
    _, own = result_of(call, call.run(library))
    return None if judge.same_bits(own, host).all() else 'the bits differ from those of the cpu'


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--device', help='device of all calls (default cpu)')
    parser.add_argument('--cases', type=int, default=20000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', nargs='+', metavar='NAME', choices=list(FUNCTIONS))
    options = parser.parse_args()
    library = abi.Library(os.path.abspath(options.library))
    if options.device:
        library.use_device(options.device)
    rng, nprng = random.Random(options.seed), np.random.default_rng(options.seed)
    failures, refused, names = 0, 0, options.only or list(FUNCTIONS)
    for number in range(options.cases):
        call = Call(rng, nprng, names[number % len(names)])
        text = difference(call, library)
        refused += isinstance(call.expected, Refused)
        repeatable = not isinstance(call.expected, Refused) and call.out not in call.placed
        repeatable = repeatable and not call.function.mathematical
        if not text and options.device and repeatable:
            text = device_difference(call, library)
        if text:
            failures += 1
            print(f'DIFFERS {call}: {text}') if failures <= 20 else None
    print(f'{options.cases} calls of {len(names)} functions, seed {options.seed}: '
          f'{refused} refused, {failures} differ')
    if refused > options.cases / 4:
        print('expected at most one call of four to be refused')
    return 1 if failures or refused > options.cases / 4 else 0


if __name__ == '__main__':
    warnings.simplefilter('ignore')  # the calls contain values about which NumPy warns
    np.seterr(all='ignore')
    sys.exit(main())
