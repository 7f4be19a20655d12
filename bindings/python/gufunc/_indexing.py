# SPDX-License-Identifier: Apache-2.0
"""Basic indexing: integers, slices, Ellipsis and None. Views always."""

import math
import operator

from . import lowlevel
from ._errors import make_error, make_refusal

_OMITTED = -2**63


def _expand(key, ndim):
    """The key with one entry per axis of the array, and None where an axis is new."""
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
    """An integer, or several, as a tuple; that they are integers the extension looks at."""
    if hasattr(value, "__index__"):
        return (value,)
    try:
        return tuple(value)
    except TypeError:
        raise make_refusal(
            f"{what}: found {value!r}, wanted an integer, or several of them") from None


def place_of(shape, index):
    """The places in all axes of an element that is counted in C's order."""
    size = math.prod(shape)
    if not -size <= index < size:
        raise make_error(lowlevel.GUF_E_INDEX, f"index {index} is out of bounds for size {size}")
    index, places = index % size, []
    for extent in reversed(shape):
        index, place = divmod(index, extent)
        places.append(place)
    return tuple(reversed(places))


def _clipped(bound):
    """An integer of a slice, as far from 0 as means anything."""
    return max(1 - 2**62, min(operator.index(bound), 2**62))


def _integer(entry):
    try:
        if not isinstance(entry, bool):
            return operator.index(entry)
    except TypeError:
        pass  # arrays have an __index__, too, and are integers where they have one
    raise make_error(lowlevel.GUF_E_INDEX, "only integers, slices (`:`), ellipsis (`...`) and None "
                     "are valid indices")


def view(array, key):
    """array[key], a view."""
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
    """Integers, or an array of them: what the C interface takes."""
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
    """An index on the host; of a list without elements integers, which NumPy's would be, too."""
    first = index
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if not isinstance(first, (list, tuple)):
        return _on_host(index)
    made = as_array(index)
    return made if made.size else made.astype("int64")


def of_reduceat(indices):
    """Indices of reduceat on the host. Lists become int64, as NumPy makes them; arrays keep their
    type, which the library checks. A hook of the extension."""
    from . import _conversion

    if hasattr(indices, "on_host"):
        return _on_host(indices)
    listed = isinstance(indices, (list, tuple, range))
    made = _conversion.convert(indices, "int64" if listed else None)
    if made.ndim == 0:
        raise make_error(lowlevel.GUF_E_SHAPE, "object of too small depth for desired array")
    return _on_host(made)


def as_integers(array, key, as_array):
    """(array, index): an index as integers and arrays of them: slices and masks become those. What
    only an array without axes takes is one of a view with an axis."""
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
