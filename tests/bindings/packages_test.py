# SPDX-License-Identifier: Apache-2.0
"""Checks the contents and names of the bindings' packages: licences, metadata, import paths.

packages_test.py PROJECT
"""

import pathlib
import re
import subprocess
import sys
import unittest

PROJECT = pathlib.Path(sys.argv.pop())
BINDINGS = PROJECT / 'bindings'


def go_module():
    first = re.search(r'^module (\S+)$', (BINDINGS / 'go/go.mod').read_text(), re.MULTILINE)
    return first.group(1)


class Packages(unittest.TestCase):
    def test_every_package_carries_the_licence(self):
        text = (PROJECT / 'LICENSE').read_bytes()
        for package in ('go', 'rust/gufunc', 'rust/gufunc-sys'):
            with self.subTest(package):
                self.assertEqual((BINDINGS / package / 'LICENSE').read_bytes(), text)

    def test_the_go_module_has_a_path_that_can_be_fetched(self):
        # Go downloads a package only if the first element of its import path contains a dot. All
        # other paths belong to Go's standard library.
        self.assertRegex(go_module(), r'^[a-z0-9-]+(\.[a-z0-9-]+)+/')
        self.assertTrue(go_module().endswith('/gufunc'))

    def test_go_files_import_the_module_by_its_path(self):
        for file in BINDINGS.glob('go/**/*.go'):
            for path in re.findall(r'^\s*(?:import )?(?:\w+ )?"([\w./-]*gufunc[\w./-]*)"$',
                                   file.read_text(), re.MULTILINE):
                with self.subTest(file=file.name, path=path):
                    self.assertEqual((path + '/').split('/gufunc/')[0] + '/gufunc', go_module())

    def test_pages_name_the_go_module_by_its_path(self):
        page = (BINDINGS / 'go/README.md').read_text()
        self.assertIn(f'-require={go_module()}@', page)
        self.assertIn(f'-replace={go_module()}=', page)
        self.assertIn(f'import "{go_module()}"', page)

    def test_crates_meet_the_requirements_of_a_registry(self):
        workspace = (BINDINGS / 'rust/Cargo.toml').read_text()
        repository = re.search(r'^repository = "(.+)"$', workspace, re.MULTILINE).group(1)
        self.assertEqual(repository, f'https://{go_module()}')
        for crate in ('gufunc', 'gufunc-sys'):
            text = (BINDINGS / 'rust' / crate / 'Cargo.toml').read_text()
            for key in ('description', 'license', 'repository', 'keywords', 'categories', 'readme'):
                with self.subTest(crate=crate, key=key):
                    self.assertRegex(text, rf'(?m)^{key}(\.workspace)? = ')

    def test_each_version_of_ndarray_comes_alone(self):
        try:
            cargo = subprocess.run(['cargo', '--version'], capture_output=True, check=False)
        except FileNotFoundError:
            self.skipTest('no cargo')
        self.assertEqual(cargo.returncode, 0)
        for feature, expected in (('ndarray', '0.17.'), ('ndarray_0_16', '0.16.')):
            tree = subprocess.run(
                ['cargo', 'tree', '--locked', '--offline', '--package', 'gufunc', '--edges',
                 'normal', '--prefix', 'none', '--features', feature],
                cwd=BINDINGS / 'rust', capture_output=True, text=True, check=False)
            if 'offline' in tree.stderr:
                self.skipTest(tree.stderr)
            self.assertEqual(tree.returncode, 0, tree.stderr)
            found = set(re.findall(r'^ndarray v(\S+)', tree.stdout, re.MULTILINE))
            self.assertEqual(len(found), 1, tree.stdout)
            self.assertTrue(found.pop().startswith(expected), tree.stdout)


if __name__ == '__main__':
    unittest.main()
