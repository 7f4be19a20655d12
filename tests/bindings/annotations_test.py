#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the annotations of bindings/gufunc.i: tools/abigen must report stale, misspelt and missing
annotations, and each annotation must appear in its output. tools/abigen must also report public
functions whose comments are incomplete.

    annotations_test.py"""

import pathlib
import re
import runpy
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools/abigen'))
ABIGEN = runpy.run_path(str(ROOT / 'tools/abigen/__main__.py'), run_name='abigen')
import comments  # noqa: E402
import model  # noqa: E402
import roles  # noqa: E402

TEXT = ABIGEN['INTERFACE'].read_text()
# Each fault is the text to change, its replacement, and the expected message.
FAULTS = [
    ('"abi:counted", "1") guf_array;', '"abi:couted", "1") guf_array;',
     'abi:couted of guf_array: there is no such annotation'),
    ('GUF_BLOCKING(guf_call)\n', '', 'guf_call: abi:blocking is not there, its comment has no'),
    ('GUF_BLOCKING(guf_call)\n', 'GUF_BLOCKING(guf_cal)\n',
     'abi:blocking of guf_cal: there is no such function'),
    ('GUF_BLOCKING(guf_call)\n', 'GUF_BLOCKING_LONG(guf_call)\n', 'guf_call: abi:blocking is long'),
    ('GUF_BLOCKING(guf_call)\n', 'GUF_BLOCKING(guf_call)\nGUF_BLOCKING(guf_resolve)\n',
     'guf_resolve: abi:blocking is 1, its comment has [no-block]'),
    ('GUF_BLOCKING(guf_call)\n', 'GUF_BLOCKING guf_call;\n', 'cannot be read: GUF_BLOCKING'),
    ('%feature("abi:counted", "1") guf_graph;\n', '',
     'guf_graph: abi:counted differs from context.h'),
    ('guf_graph;\n', 'guf_graph;\n%feature("abi:counted", "1") guf_device;\n',
     'guf_device: abi:counted differs from context.h'),
    ('"abi:counted", "1") guf_graph;', '"abi:counted", "1") guf_graphs;',
     'abi:counted of guf_graphs: there is no such handle'),
    ('"abi:type", "uint32_t") guf_call_flag', '"abi:type", "uint32_t") guf_call_flags',
     'abi:type of guf_call_flags: there is no such enum'),
    ('"text,capacity") guf_log_read', '"text,size") guf_log_read', 'guf_log_read: abi:text is not'),
    ('%feature("abi:text", "text,inout_length") guf_explain;\n', '',
     'guf_explain: abi:text is not'),
    ('"text,inout_length") guf_explain;', '"text,inout_length") guf_resolve;',
     'guf_resolve: abi:text is not'),
    ('%feature("abi:array", "axes[naxes]") guf_array_squeeze;\n', '',
     'guf_array_squeeze: abi:array lacks axes'),
    ('%feature("abi:array", "out_types[ntypes]") guf_ufunc_loop_types;\n', '',
     'guf_ufunc_loop_types: abi:array lacks ntypes'),
    ('block[3] args[nargs]', 'block[3]', 'guf_kernel_launch: abi:array lacks nargs'),
    ('block[3] args[nargs]', 'block[3], args[nargs]', 'abi:array cannot be read'),
    ('block[3] args[nargs]', 'block[3] args[narg]', 'abi:array: narg is not a count of its'),
    ('block[3] args[nargs]', 'block[3] arg[nargs]', 'abi:array: arg is not a pointer of its'),
    ('"abi:raw_only", "the version', '"abi:raw_only_pearl", "the version',
     'abi:raw_only_pearl of guf_version: there is no such annotation'),
]
# Each fault is the lines of the comment of guf_stream_get_device, and the expected message.
GOOD = ['Returns the device of a stream.', '[mt] [no-block]', 'Errors  GUF_E_ARG <= it is NULL']
COMMENT_FAULTS = [
    (None, 'expected a comment /** ... */ before its declaration, got none'),
    (GOOD[1:], 'expected a description'),
    ([GOOD[0], GOOD[2]], 'expected the mark [mt] or [mt-object]'),
    ([GOOD[0], '[no-block]', GOOD[2]], 'expected the mark [mt] or [mt-object]'),
    ([GOOD[0], f'{GOOD[1]} [no-aloc]', GOOD[2]], 'no-alloc, no-block, got no-aloc'),
    (GOOD[:2], 'expected the section Errors'),
]


def read(text):
    """Returns the errors in an interface file with this text, and its declarations."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'gufunc.i')
        path.write_text(text)
        declared = ABIGEN['read_interface']('swig', path)
        return ABIGEN['misread'](path, declared), declared


class Annotations(unittest.TestCase):
    def test_faults_are_found(self):
        for old, new, message in FAULTS:
            with self.subTest(fault=new or f'no {old}'):
                self.assertEqual(TEXT.count(old), 1)
                found, _ = read(TEXT.replace(old, new))
                self.assertTrue([line for line in found if message in line], found)

    def test_incomplete_comments_are_found(self):
        _, declared = read(TEXT)
        folder = ABIGEN['INCLUDES'] / 'gufunc'
        texts = model.read_comments(folder)
        name = 'guf_stream_get_device'
        for lines, message in COMMENT_FAULTS:
            with self.subTest(fault=message):
                changed = {key: text for key, text in texts.items() if key != name}
                changed |= {name: lines} if lines is not None else {}
                found = list(comments.findings(declared.functions, changed, folder))
                self.assertEqual(len(found), 1, found)
                self.assertIn(message, found[0])
        self.assertEqual(list(comments.findings(declared.functions, texts | {name: GOOD}, folder)),
                         [])

    def test_each_is_written(self):
        """If all annotations of one kind are removed, the roles of the parameters of at least 7
        functions change, and so does the generated code."""
        found, declared = read(TEXT)
        self.assertEqual(found, [])
        report = {one.name: roles.of(one, declared) for one in declared.functions}
        for kind in ('counted', 'blocking', 'text', 'array'):
            lines = re.compile(rf'^%feature\("abi:{kind}",.*\n', re.MULTILINE)
            _, without = read(lines.sub('', TEXT) if kind != 'blocking' else
                              re.sub(r'^GUF_BLOCKING.*\n', '', TEXT, flags=re.MULTILINE))
            same = {one.name: roles.of(one, without) for one in without.functions}
            changed = [name for name in report if report[name] != same[name]]
            self.assertGreaterEqual(len(changed), 7, kind)
        for path in ('rust/gufunc-sys/src/ffi.rs', 'julia/src/ffi.jl', 'go/zcalls.go'):
            text = (ROOT / 'bindings' / path).read_text()
            self.assertEqual([name for name in report if report[name] not in text], [], path)


if __name__ == '__main__':
    unittest.main()
