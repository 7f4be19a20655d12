# SPDX-License-Identifier: Apache-2.0
"""Maps an error of NumPy to a status by its class and text, and decides whether the library
reports the same text."""

import re

import numpy as np

import error_texts

# Rows of class, pattern for the beginning of the text, and status. The first row that matches is
# used.
ROWS = [
    (Exception, r'matmul does not support keepdims|.*axis can only be', 'GUF_E_ARG'),
    (Exception, r'axes should be a list|.*axes item', 'GUF_E_ARG'),
    (np.exceptions.AxisError, r'', 'GUF_E_AXIS'),
    (ValueError, r"duplicate value in 'axis'|axes tuple.*repeated|.*repeated", 'GUF_E_AXIS'),
    (OverflowError, r"integer won't fit into a C int", 'GUF_E_AXIS'),
    (OverflowError, r'', 'GUF_E_OVERFLOW'),
    (FloatingPointError, r'', 'GUF_E_FLOATING_POINT'),
    (TypeError, r'Cannot cast|Cannot safely cast|.*could not be cast', 'GUF_E_CASTING'),
    (TypeError, r'.*did not contain a loop|No loop matching', 'GUF_E_NO_LOOP'),
    (TypeError, r'.*cannot use operands', 'GUF_E_NO_LOOP'),
    (TypeError, r'.*not supported for the input types|.*has no common dtype', 'GUF_E_NO_LOOP'),
    (TypeError, r'.*The DType .* could not be promoted', 'GUF_E_NO_LOOP'),
    (TypeError, r'The `dtype` and `signature` arguments', 'GUF_E_DTYPE'),
    (TypeError, r'cannot (reduce|accumulate|reduceat)', 'GUF_E_DTYPE'),
    (IndexError, r'shape mismatch: value', 'GUF_E_SHAPE'),
    (IndexError, r'', 'GUF_E_INDEX'),
    (ValueError, r'output array is read-only|assignment destination is read', 'GUF_E_READ_ONLY'),
    (ValueError, r'Integers to negative integer powers', 'GUF_E_VALUE'),
    (ValueError, r'zero-size array|reduction operation .* does not have', 'GUF_E_VALUE'),
    (ValueError, r'reduction operation .* is not reorderable', 'GUF_E_VALUE'),
    (ValueError, r'cannot convert float|.*only supported for binary', 'GUF_E_VALUE'),
    (
        ValueError,
        r'.*broadcast|Input operand|.*mismatch in its core|.*wrong size|.*reduction is not enabled'
        r'|Output operand|array split|.*does not have enough dimensions|object too deep',
        'GUF_E_SHAPE',
    ),
]
# Whether NumPy reports these texts can depend on earlier calls (keyword_cases.remembers).
REMEMBERED = r'.*did not contain a loop|No loop matching'


def status_of(error):
    """Returns the status for an error, or None if no row matches it."""
    for kind, pattern, status in ROWS:
        if isinstance(error, kind) and re.match(pattern, str(error)):
            return status
    return None


def text_of(error):
    """Returns the text with which the library's message must begin, or None if the message may
    differ."""
    text = str(error)
    if re.match(REMEMBERED, text) or len(text) > error_texts.MOST or not text.isascii():
        return None
    if any(re.fullmatch(row.theirs, text) for row in error_texts.DEVIATIONS):
        return None
    return text.strip()
