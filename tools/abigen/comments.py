# SPDX-License-Identifier: Apache-2.0
"""The comments of the public headers, by declared name. SWIG does not keep comments."""

import re

COMMENT = re.compile(r'/\*\*((?:(?!\*/).)*)\*/\s*((?:(?!/\*\*)[^\n]+\n)+)', re.DOTALL)
FUNCTION = re.compile(r'GUF_API[^(]*?\b(guf_\w+)\(')
OTHER = re.compile(r'\A(?:typedef struct (?:\w+ \*)?(guf_\w+)|typedef [^(]*\(\*(guf_\w+)\)|'
                   r'typedef \w+ (guf_\w+);|enum (guf_\w+))')


def read(folder):
    """Returns {name: comment lines without comment marks}. A declaration that directly follows a
    commented declaration, without a blank line, has the same comment."""
    found = {}
    for path in sorted(folder.glob('*.h')):
        for comment, declared in COMMENT.findall(path.read_text()):
            lines = [re.sub(r'^ ?\* ?', '', line.strip()) for line in comment.split('\n')]
            other = OTHER.match(declared)
            names = [next(filter(None, other.groups()))] if other else FUNCTION.findall(declared)
            for name in names:
                found.setdefault(name, [line.rstrip() for line in lines if line])
    return found
