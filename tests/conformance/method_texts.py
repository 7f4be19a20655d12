# SPDX-License-Identifier: Apache-2.0
"""Error texts: the library's begins with NumPy's, but for the ones listed here with the reason."""

import re

# NumPy's text is about its iterator or about Python types, which the library does not have.
OWN_WORDS = [
    r'remapped',
    r'^output operand requires a reduction along dimension',
    r'^operand was set up as a reduction along axis',
    r'^Iterator input op_axes',
    r'^non-broadcastable operand with shape',
    r'^provided out is the wrong size for the accumulation',
    r"^Cannot cast array data from dtype",
    r'^object (too deep|of too small depth)',
    r'^No loop matching the specified signature and casting',
    r'signature',
    r"dtype\('[<>]",
    r'too large to convert to C|fit into a C int',
    r"^int\(\) argument must be|^float\(\) argument must be",
]


# Where several indices are wrong NumPy names the first in memory.
EITHER_INDEX = re.compile('is out of bounds for axis|out-of-bounds in')


def text_difference(theirs, ours):
    if EITHER_INDEX.search(theirs) and EITHER_INDEX.search(ours):
        return None
    if ours.startswith(theirs.strip()) or any(re.search(p, theirs) for p in OWN_WORDS):
        return None
    return f'text: NumPy "{theirs}", ours "{ours}"'
