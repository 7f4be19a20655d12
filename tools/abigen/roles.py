# SPDX-License-Identifier: Apache-2.0
"""The annotations in bindings/gufunc.i: compares them with the headers, and describes each
function."""

import re

LANGUAGES = ('cpp', 'python', 'rust', 'go', 'julia')
# The kind of declaration that each annotation applies to.
PLACES = {'type': 'enum', 'counted': 'handle', 'blocking': 'function', 'text': 'function',
          'array': 'function', 'raw_only': 'function',
          **{f'raw_only_{language}': 'function' for language in LANGUAGES}}
WRITTEN = re.compile(r'%feature\("abi:(\w+)",\s*"([^"]+)"\)\s*(\w+);')
BLOCKING = re.compile(r'^GUF_BLOCKING(_LONG)?\((\w+)\)$', re.MULTILINE)
NO_CODE = re.compile(r'/\*.*?\*/|%define.*?%enddef', re.DOTALL)
UNCOUNTED = re.compile(r'Every kind but (guf_\w+) is counted')
ELEMENT = re.compile(r'(\w+)\[(\w+)\]')
NUMBER = re.compile(r'u?int\d+_t|double|float|size_t|guf_dtype')


def of(function, model):
    """Describes what a binding must know about a function besides its types."""
    roles = []
    if 'blocking' in function.features:
        roles.append('blocking')
    for kind in ('retain', 'release'):
        handle = function.name.removesuffix(f'_{kind}')
        if handle != function.name and handle in model.counted:
            roles.append(f'{kind}s {handle}')
    roles += [f'returns a reference: {p.name}' for p in function.parameters
             if p.type.kind == 'pointer' and p.type.of.name in model.counted]
    roles += [f'text: {function.features["text"]}'] if 'text' in function.features else []
    roles += [f'arrays: {function.features["array"]}'] if 'array' in function.features else []
    return '; '.join(roles)


def written(text):
    """Returns {(feature, name): value} from the interface file, and the annotation lines that
    cannot be parsed."""
    code = NO_CODE.sub('', text)
    found = {(feature, name): value for feature, value, name in WRITTEN.findall(code)}
    found |= {('blocking', name): 'long' if long else '1' for long, name in BLOCKING.findall(code)}
    rest = BLOCKING.sub('', WRITTEN.sub('', code))
    return found, [line for line in rest.split('\n') if 'abi:' in line or 'GUF_BLOCKING' in line]


def misplaced(text, model):
    """Reports annotations without effect: annotations of an unknown kind, or of unknown names."""
    found, unread = written(text)
    yield from (f'cannot be read: {line}' for line in unread)
    attached = {(feature, one.name): (place, value)
                for place, many in (('enum', model.enums), ('handle', model.handles),
                                    ('function', model.functions))
                for one in many for feature, value in one.features.items()}
    for feature, name in sorted(found.keys() | attached.keys()):
        place, value = attached.get((feature, name), ('', None))
        if feature not in PLACES:
            yield f'abi:{feature} of {name}: there is no such annotation'
        elif place != PLACES[feature]:
            yield f'abi:{feature} of {name}: there is no such {PLACES[feature]}'
        elif value != found.get((feature, name)):
            yield f'abi:{feature} of {name}: SWIG reads {value}'


def counting(model, comment):
    """Checks that every handle has retain and release functions, except the handles that a comment
    of context.h exempts."""
    names = {function.name for function in model.functions}
    excepted = set(UNCOUNTED.findall(comment))
    for handle in model.handles:
        if not {f'{handle.name}_retain', f'{handle.name}_release'} <= names:
            yield f'{handle.name} has no functions that retain and release it'
        if (handle.name in model.counted) == (handle.name in excepted):
            yield f'{handle.name}: abi:counted differs from context.h'
    handles = {handle.name for handle in model.handles}
    yield from (f'{name}: of no handle' for name in sorted(names)
                if re.search('_(retain|release)$', name) and name.rsplit('_', 1)[0] not in handles)


def waiting(function, model, comment):
    """Checks the annotation `blocking`. A function whose comment lacks [no-block] must have the
    annotation. Any other function may only have `blocking` with the value `long`."""
    counts = re.search('_(retain|release)$', function.name)  # never blocks, see context.h
    expected = '1' if '[no-block]' not in comment and not counts else None
    given = function.features.get('blocking')
    if given != expected and not (given == 'long' and expected is None):
        verb = 'has' if '[no-block]' in comment else 'has no'
        yield (f'{function.name}: abi:blocking is {given or "not there"}, '
               f'its comment {verb} [no-block]')


def is_list(parameter):
    """Whether a parameter is an input list of numbers. The C API passes single input numbers by
    value."""
    of_what = parameter.type.of if parameter.type.kind == 'pointer' else None
    return (of_what is not None and NUMBER.fullmatch(of_what.name) is not None
            and not re.match('(in)?out_', parameter.name))


def pointing(function):
    """Checks that the annotations `text` and `array` name parameters of the function, and that they
    name all of its text buffers and lists."""
    kinds = {p.name: p.type for p in function.parameters}
    pairs = ELEMENT.findall(function.features.get('array', ''))
    if ' '.join(f'{name}[{count}]' for name, count in pairs) != function.features.get('array', ''):
        yield f'{function.name}: abi:array cannot be read'
    for name, count in pairs:
        if name not in kinds or kinds[name].kind != 'pointer':
            yield f'{function.name}: abi:array: {name} is not a pointer of its'
        if not count.isdigit() and (count not in kinds or kinds[count].name != 'int32_t'):
            yield f'{function.name}: abi:array: {count} is not a count of its'
    covered = {word for pair in pairs for word in pair}
    yield from (f'{function.name}: abi:array lacks {p.name}' for p in function.parameters
                if p.name not in covered and p.name != 'inout_length'
                and (is_list(p) or re.match('n[a-z]+$', p.name) and p.type.name == 'int32_t'))
    texts = [p.name for p in function.parameters
             if p.type.kind == 'pointer' and p.type.of.name == 'char' and not p.type.of.const]
    capacities = [p.name for p in function.parameters if p.name in ('capacity', 'inout_length')]
    if ','.join(texts + capacities) != function.features.get('text', ''):
        yield f'{function.name}: abi:text is not {",".join(texts + capacities)}'


def findings(text, model, comments, folder):
    """Reports all errors and omissions in the annotations of an interface file `text`."""
    yield from misplaced(text, model)
    yield from counting(model, ' '.join((folder / 'context.h').read_text().split()))
    for function in model.functions:
        yield from waiting(function, model, ' '.join(comments.get(function.name, [])))
        yield from pointing(function)
