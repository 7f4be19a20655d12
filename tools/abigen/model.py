# SPDX-License-Identifier: Apache-2.0
"""The declarations of the public headers, read from SWIG's XML output for bindings/gufunc.i, and
their comments."""

import dataclasses
import re
import xml.etree.ElementTree as ElementTree


@dataclasses.dataclass(frozen=True)
class Type:
    """A C type. `kind` is 'name', 'pointer' (to the type `of`), 'array' (of `count` elements of
    type `of`), or 'function' (with the parameter types `parameters` and the result type `of`).

    `const` qualifies the type itself: for `const char *`, the pointer type is not const, but the
    type `of` that it points to is."""

    kind: str
    name: str = ''
    of: 'Type | None' = None
    count: str = ''
    parameters: tuple = ()
    const: bool = False


@dataclasses.dataclass
class Constant:
    name: str
    type: Type


@dataclasses.dataclass
class Enum:
    name: str  # '' for an unnamed enum
    items: list
    features: dict

    @property
    def type(self):
        return Type('name', self.features.get('type', 'int32_t'))


@dataclasses.dataclass
class Parameter:
    name: str
    type: Type


@dataclasses.dataclass
class Struct:
    name: str
    fields: list


@dataclasses.dataclass
class Function:
    name: str
    result: Type
    parameters: list
    features: dict

    @property
    def fallible(self):
        """Whether the last parameter is a guf_error and the result is a status."""
        last = self.parameters[-1].type if self.parameters else None
        return last == POINTER_TO_ERROR and self.result.name == 'guf_status'


@dataclasses.dataclass
class Typedef:
    name: str
    type: Type
    features: dict

    @property
    def opaque(self):
        """The name of the opaque structure that a handle type points to; '' for other types."""
        target = self.type.of.name if self.type.kind == 'pointer' else ''
        return target if target.endswith('_s') else ''


POINTER_TO_ERROR = Type('pointer', of=Type('name', 'guf_error'))


def split_parameters(text):
    """Splits at the commas outside parentheses."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter == '(') - (letter == ')')
        if letter == ',' and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    return [*parts, text[begin:]] if text else []


def parse_type(code):
    """Parses SWIG's notation for types: p.q(const).int64_t, a(4).char, p.f(p.void,int32_t).void.
    """
    if code.startswith('p.'):
        return Type('pointer', of=parse_type(code[2:]))
    if code.startswith('q(const).'):
        return dataclasses.replace(parse_type(code[9:]), const=True)
    found = re.match(r'a\((\w+)\)\.', code)
    if found:
        return Type('array', of=parse_type(code[found.end():]), count=found[1])
    if code.startswith('f('):
        depth, end = 1, 2
        while depth:
            depth += (code[end] == '(') - (code[end] == ')')
            end += 1
        inner = [parse_type(p) for p in split_parameters(code[2:end - 1]) if p != 'void']
        return Type('function', of=parse_type(code[end + 1:]), parameters=tuple(inner))
    return Type('name', re.sub(r'^(struct|union|enum) ', '', code))


def attributes(node):
    found = node.find('attributelist')
    return {} if found is None else {a.get('name'): a.get('value')
                                     for a in found.findall('attribute')}


def parameters_of(node):
    found = node.find('attributelist/parmlist')
    parsed = [] if found is None else [attributes(p) for p in found.findall('parm')]
    return [Parameter(p.get('name', f'argument{i}'), parse_type(p['type']))
            for i, p in enumerate(parsed) if p['type'] != 'void']


def features_of(own):
    return {name.removeprefix('feature_abi_'): value for name, value in own.items()
            if name.startswith('feature_abi_')}


class Model:
    """constants, enums, structs, typedefs, functions: lists in the order of the headers."""

    def __init__(self, path):
        self.constants, self.enums, self.structs = [], [], []
        self.typedefs, self.functions = [], []
        for included in ElementTree.parse(path).getroot().iter('include'):
            name = attributes(included).get('name', '')
            if 'gufunc/' in name or name.endswith('gufunc.i'):
                for node in included:
                    self.add(node)

    def add(self, node):
        own = attributes(node)
        if node.tag == 'constant':
            self.constants.append(Constant(own['name'], parse_type(own['type'])))
        elif node.tag == 'enum':
            items = [attributes(item)['name'] for item in node.findall('enumitem')]
            self.enums.append(Enum(own.get('name', ''), items, features_of(own)))
        elif node.tag == 'class':
            fields = [Parameter(f['name'], parse_type(f['decl'] + f['type']))
                      for f in map(attributes, node.findall('cdecl'))]
            self.structs.append(Struct(own['name'], fields))
        elif node.tag == 'cdecl' and own['kind'] == 'typedef':
            self.add_typedef(node, own)
        elif node.tag == 'cdecl' and own['kind'] == 'function' and own.get('storage') != 'static':
            # The types in the declaration have no parameter names, so they are read from the
            # parameter list.
            result = parse_type(own['decl'] + own['type']).of
            self.functions.append(
                Function(own['name'], result, parameters_of(node), features_of(own)))

    def add_typedef(self, node, own):
        declared = parse_type(own['decl'] + own['type'])
        if declared == Type('name', own['name']):
            return  # typedef of a struct by its own name
        if declared.kind == 'pointer' and declared.of.kind == 'function':
            named = tuple(parameters_of(node))
            function = dataclasses.replace(declared.of, parameters=named)
            declared = dataclasses.replace(declared, of=function)
        self.typedefs.append(Typedef(own['name'], declared, features_of(own)))

    @property
    def handles(self):
        return [t for t in self.typedefs if t.opaque]

    @property
    def counted(self):
        """The names of the handles that have retain and release functions."""
        return {handle.name for handle in self.handles if 'counted' in handle.features}


COMMENT = re.compile(r'/\*\*((?:(?!\*/).)*)\*/\s*((?:(?!/\*\*)[^\n]+\n)+)', re.DOTALL)
FUNCTION = re.compile(r'GUF_API[^(]*?\b(guf_\w+)\(')
OTHER = re.compile(r'\A(?:typedef struct (?:\w+ \*)?(guf_\w+)|typedef [^(]*\(\*(guf_\w+)\)|'
                   r'typedef \w+ (guf_\w+);|enum (guf_\w+))')


def read_comments(folder):
    """Returns {name: comment lines without comment marks}; SWIG does not keep comments. A
    declaration that directly follows a commented declaration, without a blank line, has the same
    comment."""
    found = {}
    for path in sorted(folder.glob('*.h')):
        for comment, declared in COMMENT.findall(path.read_text()):
            lines = [re.sub(r'^ ?\* ?', '', line.strip()) for line in comment.split('\n')]
            other = OTHER.match(declared)
            names = [next(filter(None, other.groups()))] if other else FUNCTION.findall(declared)
            for name in names:
                found.setdefault(name, [line.rstrip() for line in lines if line])
    return found
