# SPDX-License-Identifier: Apache-2.0
"""Stores the parts of a group of the corpus: the binary data, in which equal runs of bytes are
stored once, and the operands, which refer to buffers of a case."""

import struct

import numpy as np

EXACT_JSON = 2**53
NAMES = {'E': 'bfloat16', 'F': 'complex64', 'D': 'complex128', 'l': 'int64', 'L': 'uint64'}


def dtype_name(dtype):
    """Returns the name of a NumPy dtype, or of a letter of the oracle, for guf_dtype_parse."""
    if isinstance(dtype, str) and dtype in NAMES:
        return NAMES[dtype]
    return np.dtype(dtype).newbyteorder('=').name


def integer(value):
    """Returns an integer in a form that every JSON parser reads exactly."""
    return int(value) if abs(int(value)) < EXACT_JSON else str(int(value))


def double_bits(value):
    return f'{struct.unpack("<Q", struct.pack("<d", value))[0]:016x}'


def native(array):
    """Returns the elements in C order and in the byte order of this machine."""
    return np.asarray(array, np.asarray(array).dtype.newbyteorder('='), order='C')


class Blob:
    """The binary data of a group."""

    def __init__(self):
        self.parts, self.size, self.known = [], 0, {}

    def add(self, data):
        data = bytes(data)
        if data not in self.known:
            self.known[data] = self.size
            filled = data + bytes(-len(data) % 16)
            self.parts.append(filled)
            self.size += len(filled)
        return self.known[data]

    def array(self):
        return np.frombuffer(b''.join(self.parts), np.uint8)


def address(array):
    return array.__array_interface__['data'][0]


class Buffers:
    """The buffers of one case. Arrays with the same base share a buffer."""

    def __init__(self, blob):
        self.blob, self.list, self.roots = blob, [], {}

    def add(self, first, data, shift=0):
        """Adds a buffer with the contents `data`, whose memory begins at the address `first`."""
        self.list.append({'at': self.blob.add(data), 'nbytes': len(data), 'shift': shift})
        return len(self.list) - 1, first

    def holder(self, array):
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        if id(root) not in self.roots:
            made = self.add(address(root), root.tobytes(order='A'))
            self.roots[id(root)] = *made, root  # keeps `root` alive, so that its id stays unique
        return self.roots[id(root)][:2]

    def view(self, array, dtype=None, holder=None):
        number, first = holder or self.holder(array)
        made = {
            'kind': 'array',
            'buffer': number,
            'offset': address(array) - first if array.size else 0,
            'dtype': dtype or dtype_name(array.dtype),
            'shape': list(array.shape),
            'strides': list(array.strides),
        }
        if array.dtype.byteorder == '>':
            made['swapped'] = True
        if not array.flags.writeable:
            made['read_only'] = True
        return made

    def operand(self, value):
        """Describes an operand of a NumPy call: an array, a NumPy scalar or a Python number."""
        if value is None:
            return None
        if isinstance(value, np.ndarray):
            return self.view(value)
        if isinstance(value, (bool, np.generic)):
            value = np.asarray(value)[()]
            data = native(value).tobytes().hex()
            return {'kind': 'scalar', 'dtype': dtype_name(value.dtype), 'bytes': data}
        if isinstance(value, int):
            return {'kind': 'weak_int', 'value': str(value)}
        if isinstance(value, float):
            return {'kind': 'weak_float', 'bits': double_bits(value)}
        return {'kind': 'weak_complex', 'bits': [double_bits(value.real), double_bits(value.imag)]}


def result(blob, array, ulp, dtype=None, fresh_strides=None, defined=None):
    """Describes an expected result. For a result that the library allocates, `fresh_strides` are
    the expected strides."""
    data = native(array).tobytes()
    made = {'dtype': dtype or dtype_name(array.dtype), 'shape': list(array.shape)}
    made |= {'at': blob.add(data), 'nbytes': len(data), 'ulp': int(ulp)}
    if fresh_strides is not None:
        made['strides'] = list(fresh_strides)
    if defined is not None:
        made['defined'] = blob.add(native(np.broadcast_to(defined, array.shape)).tobytes())
    return made
