# SPDX-License-Identifier: Apache-2.0
"""Compares reductions that have user-defined accumulators with NumPy. They are the reductions of
the standard library, such as argmax, mean and var, and those of the module that is built from
examples/kernels/reductions.guf.cpp: largest, smallest, minmax and mean_variance. Shapes, layouts,
axes, masks and parameters are random. Sums and moments must be within a bound of the exact result.
Also tests ldexp, a host loop (f, i) -> f. A device must match NumPy's results and the cpu's bits.

    state_reductions.py --library LIBGUFUNC --module REDUCTIONS.so [--cases N] [--seed N]
    [--device cuda:0]
"""

import argparse
import ctypes as ct
import os
import random
import sys
import warnings

import numpy as np

import abi
import judge

EXTREMES = ('argmax', 'argmin', 'ptp')
SPREADS = ('var', 'std', 'nanvar', 'nanstd')  # with the parameter ddof
MOMENTS = ('mean', 'nanmean') + SPREADS
SUMS = MOMENTS + ('nansum', 'count_nonzero')
STANDARD = EXTREMES + SUMS
INDEX_FUNCTIONS = {'largest': 'argmax', 'smallest': 'argmin'}
OF_THE_MODULE = ('largest', 'smallest', 'minmax', 'mean_variance')

LOOP = ct.CFUNCTYPE(
    None, ct.POINTER(ct.c_void_p), ct.POINTER(ct.c_int64), ct.POINTER(ct.c_int64), ct.c_void_p
)

HOST_LOOP = {abi.GUF_E_NO_IMAGE: ['is a host function, which device']}


class UfuncDesc(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('nin', ct.c_int32),
        ('nout', ct.c_int32),
        ('identity', ct.c_int32),
        ('flags', ct.c_uint32),
        ('nroles', ct.c_int32),
        ('name', ct.c_char_p),
        ('signature', ct.c_char_p),
        ('rules', ct.c_char_p),
        ('roles', ct.c_void_p),
        ('doc', ct.c_char_p),
        ('core_dims', ct.c_void_p),
        ('user', ct.c_void_p),
        ('destroy', ct.c_void_p),
    ]


class LoopDesc(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('kind', ct.c_int32),
        ('flags', ct.c_uint32),
        ('ntypes', ct.c_int32),
        ('types', ct.POINTER(ct.c_uint32)),
        ('numpy', LOOP),
        ('status', ct.c_void_p),
        ('error', ct.c_void_p),
        ('user', ct.c_void_p),
        ('destroy', ct.c_void_p),
    ]


@LOOP
def ldexp_loop(args, dims, steps, _):
    for k in range(dims[0]):
        places = [args[i] + k * steps[i] for i in range(3)]
        value = ct.c_double.from_address(places[0]).value
        power = ct.c_int64.from_address(places[1]).value
        scaled = np.ldexp(np.float64(value), np.int64(power))
        ct.c_double.from_address(places[2]).value = float(scaled)


class Library(abi.Library):
    def __init__(self, path, module):
        super().__init__(path)
        self.load_module(module)
        self.make_ldexp()

    def make_ldexp(self):
        desc = UfuncDesc(ct.sizeof(UfuncDesc), 2, 1, name=b'ldexp_of_the_test')
        handle = ct.c_void_p()
        self.check(
            self.lib.guf_ufunc_create(None, ct.byref(desc), ct.byref(handle), ct.byref(self.error))
        )
        types = (ct.c_uint32 * 3)(*[abi.DTYPES[letter] for letter in 'dqd'])
        loop = LoopDesc(ct.sizeof(LoopDesc), 1, 0, 3, types, ldexp_loop)
        self.check(self.lib.guf_ufunc_add_loop(handle, ct.byref(loop), ct.byref(self.error)))

    def reduce_states(self, device, name, source, axis, keepdims, where, ddof, threads):
        keep, args = [], abi.ReduceArgs(struct_size=ct.sizeof(abi.ReduceArgs))
        outs = (abi.Operand * (1 if name in STANDARD else 2))()
        args.input, args.outputs = ct.pointer(self.operand(source, keep)), outs
        args.noutputs, args.flags, args.options.threads = len(outs), int(keepdims), threads
        args.options.device = device
        args.naxis = -1 if axis is None else len(axis)
        args.axis = None if axis is None else (ct.c_int64 * max(len(axis), 1))(*axis)
        if where is not None:
            args.where = ct.pointer(self.operand(where, keep))
        if ddof is not None:
            args.parameters, args.nparameters = ct.pointer(self.operand(ddof, keep)), 1
        self.check(self.lib.guf_reduce(self.find(name), ct.byref(args), ct.byref(self.error)))
        return [self.result(out)[1:] for out in outs]


def random_array(rng, nprng, letters):
    """Draws an array of any shape, layout and order of axes, with frequent equal elements and
    NaNs."""
    ndim = rng.choice([0, 1, 1, 2, 2, 3, 4])
    shape = [rng.choice([0, 1, 2, 3, 5, 8] if ndim > 1 else [1, 2, 127, 128, 129, 700, 3000])
             for _ in range(ndim)]
    if ndim == 2 and rng.random() < 0.3:
        shape[rng.randrange(2)] = rng.randint(100, 600)
    letter = rng.choice(letters)
    if letter in 'edfFD':
        array = nprng.integers(-9, 9, shape).astype(letter) / np.float16(4)
        if letter in 'FD':
            array = array + nprng.integers(-2, 2, shape).astype(letter) * 1j
        array = np.asarray(array).astype(letter)
        if rng.random() < 0.2 and array.size:
            array[nprng.random(shape) < 0.02] = rng.choice([np.nan, -np.nan])
    elif letter in 'mM':
        array = nprng.integers(-9, 9, shape).astype(f'{letter}8[s]')
        if rng.random() < 0.2 and array.size:
            array[nprng.random(shape) < 0.02] = 'NaT'
    elif letter == 'Q':  # neighbouring values that become equal as doubles
        array = np.uint64(2**64 - 1) - nprng.integers(0, 50, shape).astype(letter)
    else:
        array = nprng.integers(-100, 100, shape).astype(letter)
        if rng.random() < 0.2 and array.size and letter != '?':
            limits = np.iinfo(letter)
            array.flat[rng.randrange(array.size)] = rng.choice([limits.min, limits.max])
    array = np.asarray(array)
    order = rng.sample(range(ndim), ndim)
    array = np.array(array.transpose(order), order='C').transpose(np.argsort(order).astype(int))
    step = rng.choice([1, 1, -1, 2])
    if ndim and step != 1:
        array = array[(slice(None),) * (ndim - 1) + (slice(None, None, step),)]
    return array.byteswap().view(array.dtype.newbyteorder()) if rng.random() < 0.1 else array


def moved(array, axes):
    """Merges the reduced axes into one axis, which is last and in C order."""
    kept = [k for k in range(array.ndim) if k not in axes]
    size = int(np.prod([array.shape[k] for k in axes], dtype=np.int64))
    return array.transpose(kept + axes).reshape([array.shape[k] for k in kept] + [size])


def parts_of(array):
    """The real and imaginary parts of an array, or the array itself."""
    return (array.real, array.imag) if array.dtype.kind == 'c' else (array,)


def moment(name, flat, mask, ddof):
    """Returns a mean, variance or standard deviation in long double, and the size of its terms, to
    which the bound of the error is relative."""
    kind = flat.dtype.kind
    taken = mask & ~np.isnan(flat) if name.startswith('nan') and kind in 'fc' else mask
    wide = [part.astype('d' if kind in 'biu' else part.dtype).astype(np.longdouble)
            for part in parts_of(flat)]
    n = taken.sum(-1)
    zero = np.longdouble(0)
    means = [np.where(taken, part, zero).sum(-1) / n for part in wide]
    sizes = [np.where(taken, np.abs(part), zero).sum(-1) / n for part in wide]
    if name.endswith('mean'):
        return means, sizes
    squares = sum(np.where(taken, part - mean[..., None], zero) ** 2
                  for part, mean in zip(wide, means)).sum(-1)
    freedom = n - np.longdouble(ddof or 0)
    var = squares / np.maximum(freedom, 0)
    if name.startswith('nan'):
        var = np.where(freedom > 0, var, np.nan)
    eps = np.finfo('d' if kind in 'biu' else flat.dtype).eps
    size = np.abs(var) + eps * sum(mean**2 for mean in means) / np.maximum(freedom / n, 1e-30)
    if name.endswith('var'):
        return [var], [size]
    # An error e of var is an error of std of at most e / std and of at most sqrt(e).
    spread = np.sqrt(var)
    least = np.maximum(spread, np.sqrt(eps * size))
    return [spread], [np.divide(size, least, out=np.zeros_like(size), where=size > 0)]


def sum_difference(name, flat, where, ddof, own):
    """Compares a sum, count or moment. Returns None or a text."""
    mask = np.ones(flat.shape, bool) if where is None else where
    numpy_own = {'ddof': ddof} if ddof is not None else {}
    if name != 'count_nonzero':
        numpy_own['where'] = mask
    right = np.asarray(getattr(np, name)(flat, axis=-1, **numpy_own))
    if own.dtype != right.dtype:
        return f'expected {right.dtype}, got {own.dtype}'
    if right.dtype.kind in 'iumM':
        same = np.array_equal(own, right.reshape(own.shape), equal_nan=right.dtype.kind == 'm')
        return None if same else f'expected {right.ravel()[:4]}, got {own.ravel()[:4]}'
    if name == 'nansum':
        clean = np.where(mask & ~np.isnan(flat), flat, 0).astype(
            np.clongdouble if flat.dtype.kind == 'c' else np.longdouble)
        exact = [part.sum(-1) for part in parts_of(clean)]
        sizes = [np.abs(part).sum(-1) for part in parts_of(clean)]
    else:
        exact, sizes = moment(name, flat, mask, ddof)
    limits = np.finfo(right.dtype)
    for found, one, size in zip(parts_of(own), exact, sizes):
        one, size = one.reshape(own.shape), size.reshape(own.shape)
        same = (found == one) | (np.isnan(found) & np.isnan(one))
        close = np.isfinite(one) & (np.abs(found - one) <= 24 * (limits.eps * size + limits.tiny))
        beyond = (np.abs(one) > limits.max) & np.isinf(found)
        if not (same | close | beyond).all():
            return f'expected {one.ravel()[:4]}, got {found.ravel()[:4]}'
    return None


def expected(name, array, axes, where):
    """Returns NumPy's result without the reduced axes, or None if NumPy rejects the call."""
    flat = moved(array, axes)
    if name == 'mean_variance':
        mask = np.ones(flat.shape, bool) if where is None else moved(where, axes)
        wide = flat.astype(np.float64)
        with np.errstate(all='ignore'):
            return [np.mean(wide, -1, where=mask), np.var(wide, -1, where=mask)]
    if flat.shape[-1] == 0:
        return None
    if name == 'minmax':
        return [flat.min(-1), flat.max(-1)]
    if name in STANDARD:
        return [getattr(np, name)(flat, -1)]
    index = getattr(flat, INDEX_FUNCTIONS[name])(-1)
    return [np.take_along_axis(flat, index[..., None], -1)[..., 0], index]


def refusal(name):
    """Returns NumPy's message for an empty input."""
    numpy_name = INDEX_FUNCTIONS.get(name, name)
    try:
        getattr(np, numpy_name if numpy_name.startswith('arg') else 'max')(np.array([]))
    except ValueError as error:
        return str(error).replace('maximum', name).replace(numpy_name, name)
    raise AssertionError(f'{name} accepts no elements')


def difference(library, rng, nprng):
    name = rng.choice(STANDARD + OF_THE_MODULE)
    letters = 'dfqhibQ'
    if name in STANDARD:
        letters = 'bBhHiIqQefdFD' + ('' if name == 'ptp' else '?')
        if name in EXTREMES + ('count_nonzero',):
            letters += 'mM'
        if name in ('mean', 'nanmean', 'nansum'):
            letters += 'm'
    array = random_array(rng, nprng, letters)
    axis = None if rng.random() < 0.3 else rng.sample(range(array.ndim), rng.randint(0, array.ndim))
    axes = sorted(range(array.ndim) if axis is None else axis)
    keepdims, where = rng.random() < 0.3, None
    if name == 'mean_variance':
        if array.dtype.char in 'qQ':
            return None
    ddof = rng.choice([None, 0, 1, 2, 0.5]) if name in SPREADS else None
    if name in ('mean_variance', 'nansum') + MOMENTS and rng.random() < 0.5:
        where = nprng.random(array.shape) < rng.choice([0.6, 0.995])
    right = None if name in SUMS else expected(name, array, list(axes), where)
    what = f'{name} of {array.dtype} {array.shape} {array.strides}, axis {axis}, ddof {ddof}'
    requested = name, array, axis, keepdims, where, ddof, rng.choice([0, 1, 3])
    try:
        found = library.reduce_states(library.device, *requested)
        if library.device:
            for (own, _), (cpus, _) in zip(found, library.reduce_states(None, *requested)):
                if not judge.same_bits(np.atleast_1d(own), np.atleast_1d(cpus)).all():
                    return f'{what}: got {own.ravel()[:4]}, on the cpu {cpus.ravel()[:4]}'
    except abi.GufuncError as error:
        fits = right is None and name not in SUMS and refusal(name) in str(error)
        return None if fits else f'{what}: {error}'
    if right is None and name not in SUMS:
        return f'{what}: NumPy refuses'
    shape = [1 if k in axes else n for k, n in enumerate(array.shape)
             if keepdims or k not in axes]
    for (own, strides), theirs in zip(found, right or [None]):
        if list(own.shape) != shape:
            return f'{what}: expected {shape}, got shape {own.shape}'
        text = layout_difference(array, axis, keepdims, where, own, strides)
        if text:
            return f'{what}: {text}'
        if name in SUMS:
            mask = None if where is None else moved(where, axes)
            text = sum_difference(name, moved(array, axes), mask, ddof, own)
            if text:
                return f'{what}: {text}'
            continue
        theirs = theirs.reshape(shape)
        exact = name != 'mean_variance'
        close = (np.array_equal if exact else np.allclose)(own, theirs, equal_nan=True)
        if not close:
            return f'{what}: expected {theirs.ravel()[:4]}, got {own.ravel()[:4]}'
    return None


def layout_difference(array, axis, keepdims, where, own, strides):
    """Checks that a result that the library allocated has the layout of the results of NumPy's
    reductions. The reference is a reduction to bool, which NumPy has for every dtype."""
    axis = axis if axis is None else tuple(axis)
    mask = {} if where is None else {'where': where}
    right = np.logical_or.reduce(array, axis=axis, keepdims=keepdims, **mask)
    expected = [n * own.itemsize for n in np.shape(right) and right.strides]
    fits = own.size == 0 or all(
        found == step for found, step, n in zip(strides, expected, own.shape) if n > 1
    )
    return None if fits else f'expected {expected}, got strides {strides}'


def ldexp_difference(library, rng, nprng):
    """Compares ldexp, but only with int64, because NumPy's int32 loops skip elements on some
    machines."""
    shape = [rng.randint(1, 9) for _ in range(rng.randint(1, 3))]
    letter = rng.choice('qqI')
    source = nprng.integers(0 if letter == 'I' else -3, 4, shape).astype(letter)
    axis = rng.randrange(len(shape))
    options = {'axis': axis, 'keepdims': rng.random() < 0.5}
    if rng.random() < 0.5:
        options['initial'] = rng.choice([1.5, -0.0, 3])
        if rng.random() < 0.5:
            options['where'] = nprng.random(shape) < 0.6
    right = np.ldexp.reduce(source, dtype='d', **options)
    try:
        found = library.reduce('ldexp_of_the_test', source, **options)[1]
    except abi.GufuncError as error:
        if library.skips(error, 'ldexp, a host loop', HOST_LOOP):
            return None
        raise
    same = np.array_equal(found, right) and np.array_equal(np.signbit(found), np.signbit(right))
    return None if same else f'ldexp {shape} {options}: expected {right}, got {found}'


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--module', required=True)
    parser.add_argument('--device', help='device of all calls (default cpu)')
    parser.add_argument('--cases', type=int, default=4000)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    library = Library(os.path.abspath(options.library), os.path.abspath(options.module))
    if options.device:
        library.use_device(options.device)
    rng, nprng = random.Random(options.seed), np.random.default_rng(options.seed)
    failures = 0
    for count in range(options.cases):
        judge = ldexp_difference if count % 8 == 0 else difference
        text = judge(library, rng, nprng)
        if text:
            failures += 1
            print('DIFFERS', text) if failures <= 20 else None
    library.report_skipped()
    print(f'{options.cases} reductions with a state, seed {options.seed}: {failures} differ')
    return 1 if failures else 0


if __name__ == '__main__':
    warnings.simplefilter('ignore')  # NumPy warns about means of empty inputs
    sys.exit(main())
