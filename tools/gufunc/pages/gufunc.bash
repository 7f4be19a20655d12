# SPDX-License-Identifier: Apache-2.0
# Written by tools/gufunc/make_pages.py from the output of gufunc --help.
_gufunc() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]} options
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W 'devices list describe run explain reduce accumulate reduceat outer at bench info help -h --help --version' -- "$current"))
    return
  fi
  case $previous in
    --casting) COMPREPLY=($(compgen -W 'no equiv safe same_kind unsafe' -- "$current")); return ;;
    --device) COMPREPLY=($(compgen -W 'cpu cuda:0 roc:0 auto' -- "$current")); return ;;
    --dtype) COMPREPLY=($(compgen -W 'bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128' -- "$current")); return ;;
    --fp-flags) COMPREPLY=($(compgen -W 'ignore report fail' -- "$current")); return ;;
    --layout) COMPREPLY=($(compgen -W 'contiguous strided broadcast transposed' -- "$current")); return ;;
    --method) COMPREPLY=($(compgen -W 'call reduce accumulate' -- "$current")); return ;;
    --order) COMPREPLY=($(compgen -W 'K A C F' -- "$current")); return ;;
    --peers) COMPREPLY=($(compgen -W 'numpy numba torch cupy none' -- "$current")); return ;;
    --plot) COMPREPLY=($(compgen -W 'throughput time' -- "$current")); return ;;
  esac
  case $command in
    devices) options='-h --help --json --module' ;;
    list) options='-h --help --json --module' ;;
    describe) options='-h --help --json --module' ;;
    run) options='-h --help --json --module --into --dim --device --dtype --casting --where --order --axis --axes --signature --fp-flags --threads --keepdims --inplace --raw -o --output --out --chunk --time' ;;
    explain) options='-h --help --json --module --into --dim --device --dtype --casting --where --order --axis --axes --signature --fp-flags --threads --keepdims --inplace --raw' ;;
    reduce) options='-h --help -o --output --out --device --threads --fp-flags --raw --explain --time --axis --keepdims --initial --where --parameter --into --dtype --order --json --module' ;;
    accumulate) options='-h --help -o --output --out --device --threads --fp-flags --raw --explain --time --axis --into --dtype --order --json --module' ;;
    reduceat) options='-h --help -o --output --out --device --threads --fp-flags --raw --explain --time --axis --indices --into --dtype --order --json --module' ;;
    outer) options='-h --help -o --output --out --device --threads --fp-flags --raw --explain --time --casting --signature --where --into --dtype --order --json --module' ;;
    at) options='-h --help -o --output --out --device --threads --fp-flags --raw --explain --time --indices --inplace --json --module' ;;
    bench) options='-h --help --method --dtype --size --layout --device --threads --axis --dim --peers --python --seconds --values --memory --json --svg --plot --module' ;;
    info) options='-h --help --raw --json' ;;
    help) options='-h --help' ;;
    *) return ;;
  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")); return ;;
  esac
  case $command in
    describe|run|explain|reduce|accumulate|reduceat|outer|at|bench)
      if [ "$COMP_CWORD" -eq 2 ]; then
        COMPREPLY=($(compgen -W "$(gufunc list 2>/dev/null | cut -d ' ' -f 1)" -- "$current"))
        return
      fi ;;
    help) COMPREPLY=($(compgen -W 'devices list describe run explain reduce accumulate reduceat outer at bench info help' -- "$current")); return ;;
  esac
  COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _gufunc gufunc
