#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_locale.py DIR: compiles the locale `comma`, whose decimal point is a comma, into DIR."""

import pathlib
import subprocess
import sys
import tempfile

# Only LC_NUMERIC differs from the C locale. With its grouping a number prints as 1.234.567,5.
LOCALE = '''comment_char %
escape_char /
LC_NUMERIC
decimal_point "<U002C>"
thousands_sep "<U002E>"
grouping 3;3
END LC_NUMERIC
'''

ASCII = '''<code_set_name> ANSI_X3.4-1968
<comment_char> %
<escape_char> /
CHARMAP
{}
END CHARMAP
'''


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as sources:
        locale, charmap = pathlib.Path(sources, 'locale'), pathlib.Path(sources, 'charmap')
        locale.write_text(LOCALE)
        rows = (f'<U{code:04X}> /x{code:02x} <U{code:04X}>' for code in range(128))
        charmap.write_text(ASCII.format('\n'.join(rows)))
        # --force makes localedef write the locale although categories are missing. localedef then
        # exits with status 1.
        command = ['localedef', '--force', '--quiet', '--no-archive', '-i', str(locale), '-f',
                   str(charmap), str(folder / 'comma')]
        status = subprocess.run(command, check=False).returncode
    if status > 1 or not (folder / 'comma' / 'LC_NUMERIC').is_file():
        sys.exit(f'{" ".join(command)}: status {status}')


if __name__ == '__main__':
    main()
