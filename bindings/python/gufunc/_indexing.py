# SPDX-License-Identifier: Apache-2.0
"""Basic indexing with integers, slices, Ellipsis and None, which returns views; and the index
arguments of `at` and `reduceat`."""

import math
import operator

from . import lowlevel
from ._errors import make_error, make_refusal

_OMITTED = -2**63


def _expand(key, ndim):
    """The key as a list with one entry per axis of the array, and an additional None for each new
    axis."""
    key = key if isinstance(key, tuple) else (key,)
    used = sum(item is not None and item is not Ellipsis for item in key)
    if used > ndim:
        raise make_error(
            lowlevel.GUF_E_INDEX, f"too many indices for array: array is {ndim}-dimensional, but "
            f"{used} were indexed")
    ellipses = sum(item is Ellipsis for item in key)
    if ellipses > 1:
        raise make_error(lowlevel.GUF_E_INDEX,
                         "an index can only have a single ellipsis ('...')")
    rest = [slice(None)] * (ndim - used)
    if not ellipses:
        return list(key) + rest
    place = next(i for i, item in enumerate(key) if item is Ellipsis)
    return list(key[:place]) + rest + list(key[place + 1:])


def several(value, what):
    """One or several integers as a tuple. The extension checks that the items are integers."""
    if hasattr(value, "__index__"):
        return (value,)
    try:
        return tuple(value)
    except TypeError:
        raise make_refusal(
            f"{what}: expected an integer or several integers, got {value!r}") from None


def place_of(shape, index):
    """The index along each axis of the element whose flat index in C order is `index`."""
    size = math.prod(shape)
    if not -size <= index < size:
        raise make_error(lowlevel.GUF_E_INDEX, f"index {index} is out of bounds for size {size}")
    index, places = index % size, []
    for extent in reversed(shape):
        index, place = divmod(index, extent)
        places.append(place)
    return tuple(reversed(places))


def _clipped(bound):
    """A bound of a slice, clipped to the range that the library accepts."""
    return max(1 - 2**62, min(operator.index(bound), 2**62))


def _integer(entry):
    try:
        if not isinstance(entry, bool):
            return operator.index(entry)
    except TypeError:
        pass  # not an integer, nor an array that converts to an integer
    raise make_error(lowlevel.GUF_E_INDEX, "only integers, slices (`:`), ellipsis (`...`) and None "
                     "are valid indices")


def view(array, key):
    """The view array[key]."""
    shape = array.shape
    entries = _expand(key, array.ndim)
    starts, stops, steps, dropped, added = [], [], [], [], []
    place = 0
    for entry in entries:
        if entry is None:
            added.append(place)
            place += 1
            continue
        axis = len(starts)
        if isinstance(entry, slice):
            starts.append(_OMITTED if entry.start is None else _clipped(entry.start))
            stops.append(_OMITTED if entry.stop is None else _clipped(entry.stop))
            steps.append(1 if entry.step is None else _clipped(entry.step))
            place += 1
            continue
        index = _integer(entry)
        if not -shape[axis] <= index < shape[axis]:
            raise make_error(
                lowlevel.GUF_E_INDEX, f"index {index} is out of bounds for axis {axis} with size "
                f"{shape[axis]}", axis=axis)
        index += shape[axis] if index < 0 else 0
        starts.append(index)
        stops.append(index + 1)
        steps.append(1)
        dropped.append(axis)
    result = lowlevel.guf_array_slice(array, len(starts), starts, stops, steps)
    if dropped:
        result = lowlevel.guf_array_squeeze(result, len(dropped), dropped)
    if added:
        result = lowlevel.guf_array_expand_dims(result, len(added), added)
    return result


def _is_plain(index):
    """Whether an index consists of integers or of arrays of integers, as the C interface
    expects."""
    if index is None or index is Ellipsis or isinstance(index, (slice, bool)):
        return False
    if isinstance(index, (str, bytes, float, complex)):
        raise make_error(lowlevel.GUF_E_INDEX, "only integers, slices (`:`), ellipsis (`...`), "
                         "None and integer or boolean arrays are valid indices")
    dtype = getattr(index, "dtype", None)
    if dtype is not None:
        return dtype.kind != "b"
    if isinstance(index, (list, tuple)):
        return all(map(_is_plain, index))
    return True


def _on_host(index):
    return index if getattr(index, "on_host", True) else index.to_device("cpu")


def _as_numbers(index, as_array):
    """An index in host memory. An empty list becomes an array of integers, as in NumPy."""
    first = index
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if not isinstance(first, (list, tuple)):
        return _on_host(index)
    made = as_array(index)
    return made if made.size else made.astype("int64")


def of_reduceat(indices):
    """The indices of reduceat in host memory. Lists become int64, as in NumPy. Arrays keep their
    dtype, which the library checks. The extension calls this function."""
    from . import _conversion

    if hasattr(indices, "on_host"):
        return _on_host(indices)
    listed = isinstance(indices, (list, tuple, range))
    made = _conversion.convert(indices, "int64" if listed else None)
    if made.ndim == 0:
        raise make_error(lowlevel.GUF_E_SHAPE, "object of too small depth for desired array")
    return _on_host(made)


def as_integers(array, key, as_array):
    """(array, index) with an index that consists of integers and arrays of integers. Slices and
    masks are converted. If the index of a 0-d array is converted, the returned array is a 1-d
    view."""
    items = key if isinstance(key, tuple) else (key,)
    if all(map(_is_plain, items)):
        items = tuple(_as_numbers(item, as_array) for item in items)
        return array, items if isinstance(key, tuple) else items[0]
    import numpy

    shape = array.shape
    places = numpy.arange(math.prod(shape)).reshape(shape)
    items = tuple(numpy.asarray(_on_host(item)) if hasattr(item, "dtype") else item
                  for item in items)
    try:
        found = places[items]
    except IndexError as error:
        raise make_error(lowlevel.GUF_E_INDEX, str(error)) from None
    if not shape:
        return array.reshape(1), found
    return array, numpy.unravel_index(found, shape)
