# SPDX-License-Identifier: Apache-2.0
"""Generates manual pages, and the shell completions of gufunc, from the output of --help.

make_pages.py PROGRAM            writes tools/PROGRAM/pages; PROGRAM is gufunc or gufcc
make_pages.py PROGRAM --check    reports differences from the existing pages"""

import pathlib
import re
import subprocess
import sys

TOOLS = pathlib.Path(__file__).parent.parent
NOTICE = 'SPDX-License-Identifier: Apache-2.0'
MADE = 'Written by tools/gufunc/make_pages.py from the output of gufunc --help.'
RIGHT = 30  # column where --help describes an option

DTYPES = re.findall(r'^GUF_DTYPE\(\w+, "(\w+)"',
                    (TOOLS.parent / 'abi/include/gufunc/dtypes.def').read_text(), re.MULTILINE)

# Options with a fixed set of values. Other options with a value expect a file name.
WORDS = {
    '--casting': 'no equiv safe same_kind unsafe',
    '--device': 'cpu cuda:0 roc:0 auto',
    '--dtype': ' '.join(DTYPES),
    '--fp-flags': 'ignore report fail',
    '--layout': 'contiguous strided broadcast transposed',
    '--method': 'call reduce accumulate',
    '--order': 'K A C F',
    '--peers': 'numpy numba torch cupy none',
    '--plot': 'throughput time',
}
# Commands whose first operand is a ufunc.
OF_UFUNCS = 'describe run explain reduce accumulate reduceat outer at bench'.split()


class Command:
    """A command, or the program itself, parsed from its --help text."""

    def __init__(self, gufunc, words):
        text = subprocess.run([gufunc, *words, '--help'], capture_output=True, text=True,
                              check=True).stdout
        self.summary = text.split('\n', 1)[0]
        self.usage = re.search(r'^Usage: (.*)$', text, re.M).group(1)
        self.footer = text.split('\n\n')[-1].strip()
        self.rows = {}  # section: [(left, right)]
        section = ''
        for line in text.split('\n'):
            if line.endswith(':') and not line.startswith(' '):
                section = line[:-1]
            elif line.startswith(' ' * RIGHT) and section:  # continues the previous option
                left, right = self.rows[section][-1]
                self.rows[section][-1] = (left, f'{right} {line.strip()}'.strip())
            elif line.startswith('  ') and section:
                right = RIGHT if line[RIGHT - 1:RIGHT] == ' ' else len(line)
                self.rows.setdefault(section, []).append((line[:right].strip(), line[right:]))

    def options(self):
        """Yields (names, whether it takes a value, text) for each option."""
        for left, right in self.rows.get('Options', []):
            names, _, value = left.partition(' ')
            yield names.split(','), bool(value), right


def commands_of(gufunc):
    top = Command(gufunc, [])
    names = [name for name, _ in top.rows['Subcommands']]
    return top, {name: Command(gufunc, [name]) for name in names}


def roff(text):
    start = '\\&' if text.startswith('.') else ''
    return start + text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq')


def man_page(top, commands):
    lines = [f'.\\" {NOTICE}', f'.\\" {MADE}', '.TH GUFUNC 1 "" libgufunc "User Commands"',
             '.SH NAME', 'gufunc \\- NumPy\\(aqs universal functions on arrays in files',
             '.SH SYNOPSIS']
    for command in commands.values():
        lines += ['.B ' + roff(command.usage), '.br']
    lines += ['.SH DESCRIPTION', roff(top.summary),
              'Results go to new files, which appear when the call has succeeded, or to standard '
              'output.', '.SH COMMANDS']
    for name, command in commands.items():
        lines += [f'.SS {name}', roff(command.summary) + '.']
        for left, right in command.rows.get('Positionals', []):
            lines += ['.TP', '.I ' + roff(left.split(' ')[0]), roff(right)]
        for names, value, text in command.options():
            if names[-1] == '--help':
                continue
            spelled = ', '.join(f'\\fB{roff(option)}\\fR' for option in names)
            lines += ['.TP', spelled + (' \\fIvalue\\fR' if value else ''), roff(text)]
    lines += ['.SH EXIT STATUS', roff(' '.join(top.footer.removeprefix('Exit codes: ').split())),
              '.SH SEE ALSO', '.BR gufcc (1)', '']
    return '\n'.join(lines)


def gufcc_page(command):
    """Returns the manual page of a program without commands."""
    made = MADE.replace('gufunc --help', 'gufcc --help')
    lines = [f'.\\" {NOTICE}', f'.\\" {made}', '.TH GUFCC 1 "" libgufunc "User Commands"',
             '.SH NAME', 'gufcc \\- compiles kernel sources into a module of libgufunc',
             '.SH SYNOPSIS', '.B ' + roff(command.usage), '.SH DESCRIPTION',
             roff(command.summary),
             roff('The module file is created after everything has been compiled. A program loads '
                  'it with guf_module_load, and gufunc loads it with --module. A target whose '
                  'tools are missing on this machine is skipped with a warning. If no target '
                  'remains, gufcc fails.')]
    for left, right in command.rows['Positionals']:
        lines += ['.TP', '.I ' + roff(left.split(' ')[0]), roff(right)]
    lines += ['.SH OPTIONS']
    environment = []
    for left, right in command.rows['Options']:
        names, _, value = left.partition(' ')
        spelled = ', '.join(f'\\fB{roff(option)}\\fR' for option in names.split(','))
        words = re.search(r'{(.*)}', value)
        what = words.group(1).replace(',', '|') if words else 'value' if value else ''
        lines += ['.TP', spelled + (f' \\fI{roff(what)}\\fR' if what else ''), roff(right)]
        variable = re.search(r'\(Env:(\w+)\)', value)
        if variable:
            environment.append((variable.group(1), names.split(',')[-1]))
    status = ' '.join(command.footer.removeprefix('Exit codes: ').split())
    lines += ['.SH EXIT STATUS', roff(status), '.SH ENVIRONMENT']
    for variable, option in environment:
        lines += ['.TP', f'.B {variable}', f'Used if \\fB{roff(option)}\\fR is not given.']
    lines += ['.SH SEE ALSO', '.BR gufunc (1)', '']
    return '\n'.join(lines)


def flags_of(command):
    return ' '.join(name for names, _, _ in command.options() for name in names)


def bash(top, commands):
    cases = '\n'.join(f"    {name}) options='{flags_of(command)}' ;;"
                      for name, command in commands.items())
    offer = "COMPREPLY=($(compgen -W '{}' -- \"$current\")); return ;;"
    words = '\n'.join(f'    {option}) {offer.format(values)}' for option, values in WORDS.items())
    return f'''# {NOTICE}
# {MADE}
_gufunc() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command=${{COMP_WORDS[1]}} options
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{' '.join(commands)} {flags_of(top)}' -- "$current"))
    return
  fi
  case $previous in
{words}
  esac
  case $command in
{cases}
    *) return ;;
  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")); return ;;
  esac
  case $command in
    {'|'.join(OF_UFUNCS)})
      if [ "$COMP_CWORD" -eq 2 ]; then
        COMPREPLY=($(compgen -W "$(gufunc list 2>/dev/null | cut -d ' ' -f 1)" -- "$current"))
        return
      fi ;;
    help) COMPREPLY=($(compgen -W '{' '.join(commands)}' -- "$current")); return ;;
  esac
  COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _gufunc gufunc
'''


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(top, commands):
    described = '\n'.join('    ' + quoted(f'{name}:{command.summary}')
                          for name, command in commands.items())
    cases = []
    for name, command in commands.items():
        rows = []
        for names, value, text in command.options():
            text = re.sub(r'([\[\]:])', r'\\\1', text)
            for option in names:
                action = f'({WORDS[names[-1]]})' if names[-1] in WORDS else '_files'
                rows.append(quoted(f'*{option}[{text}]' + (f':value:{action}' if value else '')))
        first = "'1:ufunc:{compadd -- $(gufunc list 2>/dev/null | cut -d \" \" -f 1)}' " \
            if name in OF_UFUNCS else ''
        body = ' \\\n        '.join(rows)
        call = f"_arguments -s {first}'*:file:_files'"
        cases.append(f'    {name})\n      {call} \\\n        {body} ;;')
    return f'''#compdef gufunc
# {NOTICE}
# {MADE}
_gufunc() {{
  local -a commands=(
{described}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT -= 1 ))
  case $command in
''' + '\n'.join(cases) + '''
  esac
}
_gufunc "$@"
'''


def fish(top, commands):
    lines = [f'# {NOTICE}', f'# {MADE}']
    for name, command in commands.items():
        lines.append(f'complete -c gufunc -n __fish_use_subcommand -f -a {name} '
                     f'-d {quoted(command.summary)}')
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        if name in OF_UFUNCS:
            lines.append(f'complete -c gufunc {seen} '
                         "-a '(gufunc list 2>/dev/null | cut -d \" \" -f 1)'")
        for names, value, text in command.options():
            spelled = ' '.join(f'-l {option[2:]}' if option.startswith('--') else f'-s {option[1:]}'
                               for option in names)
            words = f" -x -a '{WORDS[names[-1]]}'" if names[-1] in WORDS else ' -r' if value else ''
            lines.append(f'complete -c gufunc {seen} {spelled}{words} -d {quoted(text)}')
    return '\n'.join(lines) + '\n'


def pages_of(program):
    if pathlib.Path(program).name == 'gufcc':
        return {'gufcc.1': gufcc_page(Command(program, []))}
    top, commands = commands_of(program)
    return {'gufunc.1': man_page(top, commands), 'gufunc.bash': bash(top, commands),
            '_gufunc': zsh(top, commands), 'gufunc.fish': fish(top, commands)}


def main():
    program = sys.argv[1]
    folder = TOOLS / pathlib.Path(program).name / 'pages'
    different = []
    for name, text in pages_of(program).items():
        if '--check' not in sys.argv:
            (folder / name).write_text(text)
        elif not (folder / name).is_file() or (folder / name).read_text() != text:
            different.append(name)
    for name in different:
        print(f'{folder / name} is not what make_pages.py writes')
    return bool(different)


if __name__ == '__main__':
    sys.exit(main())
