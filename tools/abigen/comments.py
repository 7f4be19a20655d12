# SPDX-License-Identifier: Apache-2.0
"""Checks the comments of the public functions, which are their manual in all languages: each has a
description, thread marks, and the errors of a function that returns a status."""

import re

# The sections that may follow the description. A line of marks begins with a bracket.
SECTION = re.compile(r'\[|(?:Ownership|In/out|Errors)  ')
MARK = re.compile(r'\[([\w-]+)\]')
KNOWN_MARK = re.compile(r'^ \*   \[([\w-]+)\]', re.MULTILINE)  # in the list of context.h
THREADS = {'mt', 'mt-object'}
CANNOT_FAIL = {'guf_poll'}  # returns a status like other functions, but always GUF_OK


def missing(function, lines, known):
    """Yields what the comment of a function lacks. `known` contains the known marks."""
    first = lines[0] if lines else ''
    if not first or SECTION.match(first):
        yield 'expected a description'
    given = [mark for line in lines if line.startswith('[') for mark in MARK.findall(line)]
    if not THREADS.intersection(given):
        yield 'expected the mark [mt] or [mt-object] at the start of a line'
    yield from (f'expected one of the marks {", ".join(sorted(known))}, got {mark}'
                for mark in given if mark not in known)
    fallible = function.result.name == 'guf_status' and function.name not in CANNOT_FAIL
    if fallible and not any(line.startswith('Errors  ') for line in lines):
        yield 'expected the section Errors'


def findings(functions, comments, folder):
    """Reports the functions whose comments in the headers of `folder` are missing or incomplete."""
    known = KNOWN_MARK.findall((folder / 'context.h').read_text())
    for function in functions:
        if function.name not in comments:
            yield f'{function.name}: expected a comment /** ... */ before its declaration, got none'
            continue
        yield from (f'{function.name}: its comment: {what}'
                    for what in missing(function, comments[function.name], known))
